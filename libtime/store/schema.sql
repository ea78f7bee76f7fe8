-- The store of perfkit, PRAGMA user_version 3. docs/store.md describes every column.
-- Times (*_ns) are nanoseconds on the recording's clock; ids are local to this file.
-- Everything up to the line of dashes is made before loading, the rest after it.
PRAGMA application_id = 0x70666b74; -- "pfkt"
PRAGMA user_version = 3;

CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;

CREATE TABLE recordings(
	id INTEGER PRIMARY KEY,
	host TEXT, file TEXT, clock TEXT, kernel TEXT, arch TEXT, cmdline TEXT,
	origin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
	wall_ns INTEGER, wall_exact INTEGER NOT NULL, ncpus INTEGER,
	per_task INTEGER NOT NULL, has_switch INTEGER NOT NULL, has_records INTEGER NOT NULL,
	has_waking INTEGER NOT NULL, has_wakeup INTEGER NOT NULL, sampled INTEGER NOT NULL,
	has_totals INTEGER NOT NULL, has_direct INTEGER NOT NULL, some_cpus INTEGER NOT NULL,
	stray_samples INTEGER NOT NULL);

CREATE TABLE comms(id INTEGER PRIMARY KEY, comm TEXT NOT NULL);

CREATE TABLE threads(
	id INTEGER PRIMARY KEY,
	recording_id INTEGER NOT NULL REFERENCES recordings(id),
	pid INTEGER, tid INTEGER NOT NULL,
	comm_id INTEGER REFERENCES comms(id),
	first_ns INTEGER NOT NULL, last_ns INTEGER NOT NULL,
	first_cpu INTEGER, first_prio INTEGER,
	kernel INTEGER NOT NULL, recorder INTEGER NOT NULL,
	born INTEGER NOT NULL, exited INTEGER NOT NULL,
	lifeless INTEGER NOT NULL);

CREATE TABLE selected_events(
	id INTEGER PRIMARY KEY,
	recording_id INTEGER NOT NULL REFERENCES recordings(id),
	name TEXT NOT NULL, tracepoint INTEGER NOT NULL, sched INTEGER NOT NULL,
	stacks TEXT);

CREATE TABLE dsos(
	id INTEGER PRIMARY KEY,
	recording_id INTEGER NOT NULL REFERENCES recordings(id),
	name TEXT NOT NULL,
	build_id TEXT);

CREATE TABLE symbols(
	id INTEGER PRIMARY KEY,
	dso_id INTEGER REFERENCES dsos(id),
	name TEXT NOT NULL);

CREATE TABLE frames(
	id INTEGER PRIMARY KEY,
	symbol_id INTEGER REFERENCES symbols(id),
	dso_id INTEGER REFERENCES dsos(id),
	address INTEGER NOT NULL,
	file TEXT, line INTEGER,
	inlined INTEGER NOT NULL, guessed INTEGER NOT NULL,
	kind TEXT NOT NULL);

CREATE TABLE call_paths(
	id INTEGER PRIMARY KEY,
	parent_id INTEGER REFERENCES call_paths(id),
	frame_id INTEGER NOT NULL REFERENCES frames(id),
	wait_frame_id INTEGER REFERENCES frames(id));

CREATE TABLE samples(
	id INTEGER PRIMARY KEY,
	event_id INTEGER NOT NULL REFERENCES selected_events(id),
	thread_id INTEGER REFERENCES threads(id),
	comm_id INTEGER REFERENCES comms(id),
	time_ns INTEGER NOT NULL,
	cpu INTEGER,
	period INTEGER NOT NULL,
	call_path_id INTEGER REFERENCES call_paths(id));

CREATE TABLE event_samples(
	id INTEGER PRIMARY KEY,
	event_id INTEGER NOT NULL REFERENCES selected_events(id),
	pid INTEGER NOT NULL, tid INTEGER NOT NULL,
	comm_id INTEGER REFERENCES comms(id),
	time_ns INTEGER,
	cpu INTEGER,
	period INTEGER NOT NULL,
	call_path_id INTEGER REFERENCES call_paths(id));

CREATE TABLE sites(
	id INTEGER PRIMARY KEY,
	recording_id INTEGER NOT NULL REFERENCES recordings(id),
	program TEXT NOT NULL, role TEXT NOT NULL, cause TEXT NOT NULL,
	frame_id INTEGER REFERENCES frames(id),
	verdict TEXT NOT NULL, reason TEXT NOT NULL, loop INTEGER NOT NULL,
	waits INTEGER NOT NULL, wait_ns INTEGER NOT NULL, max_ns INTEGER NOT NULL);

CREATE TABLE offcpu(
	id INTEGER PRIMARY KEY,
	thread_id INTEGER NOT NULL REFERENCES threads(id),
	start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
	blocked_ns INTEGER NOT NULL, runnable_ns INTEGER NOT NULL, preempted_ns INTEGER NOT NULL,
	prev_state TEXT, cause TEXT NOT NULL, site_id INTEGER REFERENCES sites(id),
	call_path_id INTEGER REFERENCES call_paths(id),
	waker_thread_id INTEGER REFERENCES threads(id),
	waker_context TEXT,
	waker_call_path_id INTEGER REFERENCES call_paths(id),
	cpu_out INTEGER, cpu_in INTEGER,
	open INTEGER NOT NULL, suspect INTEGER NOT NULL, unknown_reason TEXT,
	comm_id INTEGER REFERENCES comms(id),
	cpu_wake INTEGER, prio_in INTEGER,
	running INTEGER NOT NULL, no_stack INTEGER NOT NULL,
	syscall TEXT, cpu_queue INTEGER,
	arg0 INTEGER, arg0_kind TEXT);
CREATE INDEX offcpu_thread ON offcpu(thread_id, start_ns);
CREATE INDEX offcpu_start ON offcpu(start_ns);

CREATE TABLE offcpu_totals(
	id INTEGER PRIMARY KEY,
	thread_id INTEGER NOT NULL REFERENCES threads(id),
	comm_id INTEGER REFERENCES comms(id),
	call_path_id INTEGER REFERENCES call_paths(id),
	ns INTEGER NOT NULL, count INTEGER NOT NULL);

CREATE TABLE spans(
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	thread_id INTEGER REFERENCES threads(id),
	end_thread_id INTEGER REFERENCES threads(id),
	start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
	key INTEGER, parent_id INTEGER REFERENCES spans(id),
	run_ns INTEGER NOT NULL, blocked_ns INTEGER NOT NULL, runnable_ns INTEGER NOT NULL,
	preempted_ns INTEGER NOT NULL, unknown_ns INTEGER NOT NULL,
	open INTEGER NOT NULL, suspect INTEGER NOT NULL, handed_ns INTEGER,
	recording_id INTEGER NOT NULL REFERENCES recordings(id),
	key_text TEXT, pid INTEGER, overlapped INTEGER NOT NULL);

CREATE TABLE labels(
	key TEXT NOT NULL, value TEXT NOT NULL,
	thread_id INTEGER REFERENCES threads(id),
	span_id INTEGER REFERENCES spans(id),
	from_ns INTEGER, to_ns INTEGER);

CREATE TABLE marks(
	id INTEGER PRIMARY KEY,
	recording_id INTEGER NOT NULL REFERENCES recordings(id),
	thread_id INTEGER REFERENCES threads(id),
	time_ns INTEGER NOT NULL, cpu INTEGER,
	name TEXT NOT NULL, text TEXT,
	call_path_id INTEGER REFERENCES call_paths(id));

CREATE TABLE losses(
	id INTEGER PRIMARY KEY,
	recording_id INTEGER NOT NULL REFERENCES recordings(id),
	kind TEXT NOT NULL, cpu INTEGER,
	from_ns INTEGER NOT NULL, to_ns INTEGER NOT NULL,
	count INTEGER NOT NULL, sched INTEGER NOT NULL);

CREATE TABLE findings(
	id INTEGER PRIMARY KEY,
	recording_id INTEGER NOT NULL REFERENCES recordings(id),
	question TEXT NOT NULL,
	finding TEXT NOT NULL, harm TEXT NOT NULL,
	title TEXT NOT NULL, remedy TEXT);

CREATE TABLE finding_details(
	finding_id INTEGER NOT NULL REFERENCES findings(id),
	line INTEGER NOT NULL, text TEXT NOT NULL, get TEXT);

CREATE TABLE report_lines(
	recording_id INTEGER NOT NULL REFERENCES recordings(id),
	line INTEGER NOT NULL, part TEXT NOT NULL, text TEXT NOT NULL);

--------------------------------------------------------------------------------------------
CREATE INDEX findings_of ON findings(recording_id, question);
CREATE INDEX finding_lines ON finding_details(finding_id, line);
CREATE INDEX samples_thread ON samples(thread_id, time_ns);
CREATE INDEX threads_tid ON threads(tid);
CREATE INDEX spans_name ON spans(name, start_ns);
CREATE INDEX labels_of_span ON labels(span_id);

-- What each thread did at each moment: its states follow each other without gap or overlap.
CREATE VIEW thread_states AS
WITH edges AS (
	SELECT o.thread_id, o.start_ns, o.end_ns, o.cpu_in,
		lag(o.end_ns, 1, t.first_ns) OVER w AS run_start,
		lag(o.cpu_in, 1, t.first_cpu) OVER w AS run_cpu
	FROM offcpu o JOIN threads t ON t.id = o.thread_id
	WINDOW w AS (PARTITION BY o.thread_id ORDER BY o.start_ns, o.id)),
lasts AS (
	SELECT id AS thread_id, first_ns, first_cpu, last_ns,
		(SELECT max(o.id) FROM offcpu o WHERE o.thread_id = t.id) AS off_id
	FROM threads t)
SELECT thread_id, run_start AS start_ns, start_ns AS end_ns, 'running' AS state, run_cpu AS cpu
	FROM edges WHERE start_ns > run_start
UNION ALL SELECT l.thread_id, coalesce(o.end_ns, l.first_ns), l.last_ns, 'running',
	CASE WHEN o.id IS NULL THEN l.first_cpu ELSE o.cpu_in END
	FROM lasts l LEFT JOIN offcpu o ON o.id = l.off_id
	WHERE l.last_ns > coalesce(o.end_ns, l.first_ns)
UNION ALL SELECT thread_id, start_ns, start_ns + blocked_ns, 'blocked', NULL
	FROM offcpu WHERE blocked_ns > 0
UNION ALL SELECT thread_id, start_ns + blocked_ns, end_ns,
	CASE WHEN preempted_ns > 0 THEN 'preempted' ELSE 'runnable' END,
	CASE WHEN preempted_ns > 0 THEN cpu_out ELSE coalesce(cpu_queue, cpu_in) END
	FROM offcpu WHERE runnable_ns > 0
UNION ALL SELECT thread_id, start_ns, end_ns, 'unknown', NULL
	FROM offcpu WHERE unknown_reason IS NOT NULL AND end_ns > start_ns;

-- Off-CPU intervals with names; wait_ns is what counts as waiting: all but the idle part; work_ns:
-- all but the idle and the unclear part.
CREATE VIEW v_offcpu AS
SELECT o.id, t.recording_id, t.pid, t.tid, c.comm, o.start_ns, o.end_ns,
	o.end_ns - o.start_ns AS off_ns, o.blocked_ns, o.runnable_ns, o.preempted_ns,
	CASE WHEN o.unknown_reason IS NULL THEN 0 ELSE o.end_ns - o.start_ns END AS unknown_ns,
	CASE WHEN k.verdict IS NOT 'idle' THEN o.end_ns - o.start_ns
		WHEN o.unknown_reason IS NULL THEN o.runnable_ns ELSE 0 END AS wait_ns,
	CASE WHEN coalesce(k.verdict, 'work') = 'work' THEN o.end_ns - o.start_ns
		WHEN o.unknown_reason IS NULL THEN o.runnable_ns ELSE 0 END AS work_ns,
	o.prev_state, o.syscall, o.arg0, o.arg0_kind, o.cause, o.site_id, k.verdict, k.reason,
	k.verdict IS 'idle' AS idle, t.kernel OR t.recorder AS system,
	s.name AS function, o.call_path_id,
	w.pid AS waker_pid, w.tid AS waker_tid, wc.comm AS waker_comm, o.waker_context,
	o.cpu_out, o.cpu_queue, o.cpu_in, o.open, o.suspect, o.unknown_reason, o.running
FROM offcpu o
JOIN threads t ON t.id = o.thread_id
LEFT JOIN sites k ON k.id = o.site_id
LEFT JOIN comms c ON c.id = o.comm_id
LEFT JOIN threads w ON w.id = o.waker_thread_id
LEFT JOIN comms wc ON wc.id = w.comm_id
LEFT JOIN call_paths p ON p.id = o.call_path_id
LEFT JOIN frames f ON f.id = coalesce(p.wait_frame_id, p.frame_id)
LEFT JOIN symbols s ON s.id = f.symbol_id;

CREATE VIEW v_samples AS
SELECT a.id, t.recording_id, e.name AS event, t.pid, t.tid, c.comm, a.time_ns, a.cpu, a.period,
	s.name AS function, d.name AS dso, a.call_path_id
FROM samples a
JOIN selected_events e ON e.id = a.event_id
LEFT JOIN threads t ON t.id = a.thread_id
LEFT JOIN comms c ON c.id = a.comm_id
LEFT JOIN call_paths p ON p.id = a.call_path_id
LEFT JOIN frames f ON f.id = p.frame_id
LEFT JOIN symbols s ON s.id = f.symbol_id
LEFT JOIN dsos d ON d.id = f.dso_id;

-- Frames as text; addresses in hex, unsigned.
CREATE VIEW v_frames AS
SELECT f.id, s.name AS function, d.name AS dso, printf('0x%x', f.address) AS address_hex,
	f.file, f.line, f.inlined, f.kind
FROM frames f LEFT JOIN symbols s ON s.id = f.symbol_id LEFT JOIN dsos d ON d.id = f.dso_id;

-- Each call path as "root;...;leaf".
CREATE VIEW v_stacks AS
WITH RECURSIVE named(id, parent_id, name) AS (
	SELECT p.id, p.parent_id, coalesce(s.name, printf('0x%x', f.address))
	FROM call_paths p JOIN frames f ON f.id = p.frame_id
	LEFT JOIN symbols s ON s.id = f.symbol_id),
walk(id, stack) AS (
	SELECT id, name FROM named WHERE parent_id IS NULL
	UNION ALL SELECT n.id, w.stack || ';' || n.name
	FROM walk w JOIN call_paths n0 ON n0.parent_id = w.id JOIN named n ON n.id = n0.id)
SELECT id AS call_path_id, stack FROM walk;

CREATE INDEX call_paths_parent ON call_paths(parent_id);

CREATE VIEW v_folded_oncpu AS
SELECT g.event, g.comm || coalesce(';' || k.stack, '') AS stack, sum(g.period) AS weight,
	sum(g.n) AS samples
FROM (SELECT e.name AS event, replace(coalesce(c.comm, ''), ' ', '_') AS comm,
		a.call_path_id, sum(a.period) AS period, count(*) AS n
	FROM samples a JOIN selected_events e ON e.id = a.event_id
	LEFT JOIN comms c ON c.id = a.comm_id GROUP BY 1, 2, 3) g
LEFT JOIN v_stacks k ON k.call_path_id = g.call_path_id
GROUP BY 1, 2;

-- Waiting by stack, in ns: idle parts and system threads left out.
CREATE VIEW v_folded_offcpu AS
SELECT g.comm || coalesce(';' || k.stack, '') AS stack, sum(g.ns) AS ns, sum(g.n) AS intervals
FROM (SELECT replace(coalesce(c.comm, ''), ' ', '_') AS comm, o.call_path_id,
		sum(CASE WHEN s.verdict IS NOT 'idle' THEN o.end_ns - o.start_ns
			WHEN o.unknown_reason IS NULL THEN o.runnable_ns ELSE 0 END) AS ns,
		count(*) AS n
	FROM offcpu o JOIN threads t ON t.id = o.thread_id
	LEFT JOIN sites s ON s.id = o.site_id
	LEFT JOIN comms c ON c.id = o.comm_id
	WHERE NOT t.kernel AND NOT t.recorder GROUP BY 1, 2) g
LEFT JOIN v_stacks k ON k.call_path_id = g.call_path_id
GROUP BY 1;

-- Percentiles of the waits of each thread name: nearest rank. Waits without
-- time at work, open, suspect ones and system threads are not in the population.
CREATE VIEW v_percentiles AS
WITH ranked AS (
	SELECT recording_id, comm, work_ns,
		row_number() OVER (PARTITION BY recording_id, comm ORDER BY work_ns) AS rank,
		count(*) OVER (PARTITION BY recording_id, comm) AS n
	FROM v_offcpu
	WHERE NOT open AND NOT suspect AND NOT system AND work_ns > 0)
SELECT recording_id, comm, n AS count,
	max(CASE WHEN rank = (50000 * n + 99999) / 100000 THEN work_ns END) AS p50_ns,
	max(CASE WHEN rank = (90000 * n + 99999) / 100000 THEN work_ns END) AS p90_ns,
	max(CASE WHEN rank = (99000 * n + 99999) / 100000 THEN work_ns END) AS p99_ns,
	max(CASE WHEN rank = (99900 * n + 99999) / 100000 THEN work_ns END) AS p999_ns,
	max(work_ns) AS max_ns
FROM ranked GROUP BY recording_id, comm, n;

-- Each thread's life and its parts: run + blocked + runnable + unknown = life.
CREATE VIEW v_thread_time AS
SELECT t.id AS thread_id, t.recording_id, t.pid, t.tid, c.comm, t.kernel OR t.recorder AS system,
	t.last_ns - t.first_ns AS life_ns,
	t.last_ns - t.first_ns - coalesce(sum(o.end_ns - o.start_ns), 0) AS run_ns,
	coalesce(sum(o.blocked_ns), 0) AS blocked_ns,
	coalesce(sum(o.runnable_ns), 0) AS runnable_ns,
	coalesce(sum(o.preempted_ns), 0) AS preempted_ns,
	coalesce(sum(CASE WHEN o.unknown_reason IS NOT NULL THEN o.end_ns - o.start_ns END), 0)
		AS unknown_ns,
	coalesce(sum(CASE WHEN s.verdict IS NOT 'idle' THEN 0
		WHEN o.unknown_reason IS NULL THEN o.blocked_ns
		ELSE o.end_ns - o.start_ns END), 0) AS idle_ns,
	coalesce(sum(CASE WHEN s.verdict IS 'unclear' THEN o.blocked_ns END), 0) AS unclear_ns,
	coalesce(sum(CASE WHEN s.verdict IS 'idle' THEN 0 ELSE o.blocked_ns END + o.runnable_ns), 0)
		AS wait_ns,
	count(o.id) AS intervals, max(o.end_ns - o.start_ns) AS max_ns
FROM threads t LEFT JOIN offcpu o ON o.thread_id = t.id LEFT JOIN sites s ON s.id = o.site_id
LEFT JOIN comms c ON c.id = t.comm_id GROUP BY t.id;
