-- The views of perfkit's store, and its table meta; all other tables are declared in schema.c.
-- docs/store.md describes every column. Times (*_ns) are nanoseconds on the recording's
-- clock; ids are local to this file.

CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;

-- Findings, and the facts of their titles in one text.
CREATE VIEW v_findings AS
SELECT f.recording_id, f.question, f.finding, f.harm, (
	SELECT group_concat(a.name || ' = ' || CASE a.unit
		WHEN 'share' THEN round(100.0 * a.number / a.whole, 3) || ' %'
		WHEN 'count' THEN a.number
		WHEN 'thread' THEN coalesce(a.text, '') || '/' || a.number
		ELSE coalesce(a.text, a.number || ' ' || a.unit) END, ', ')
	FROM finding_facts a WHERE a.finding_id = f.id AND a.part = 'title') AS facts, f.command
FROM findings f;

-- Off-CPU intervals, whole.
CREATE VIEW offcpu AS
SELECT o.id, o.thread_id, o.start_ns, o.start_ns + o.off_ns AS end_ns, o.blocked_ns,
	CASE WHEN k.unknown_reason IS NULL THEN o.off_ns - o.blocked_ns ELSE 0 END AS runnable_ns,
	CASE WHEN k.running AND k.unknown_reason IS NULL THEN o.off_ns - o.blocked_ns ELSE 0 END
		AS preempted_ns,
	k.prev_state, k.cause, o.site_id, o.call_path_id, o.waker_thread_id, k.waker_context,
	o.waker_call_path_id, o.cpu_out, o.cpu_in, k.open, k.suspect, k.unknown_reason, o.comm_id,
	o.cpu_wake, o.prio_in, k.running, k.no_stack, k.syscall, o.cpu_queue, k.arg0, k.arg0_kind,
	o.slack_ns, k.rest
FROM offcpu_rows o LEFT JOIN offcpu_kinds k ON k.id = o.kind_id;

-- Samples, whole.
CREATE VIEW samples AS
SELECT t.event_id, t.thread_id, t.comm_id, a.time_ns, a.cpu,
	coalesce(a.period, t.period) AS period, s.call_path_id
FROM sample_rows a LEFT JOIN sample_sums s ON s.id = a.sum_id
LEFT JOIN sample_tasks t ON t.id = s.task_id;

CREATE VIEW event_samples AS
SELECT t.event_id, t.pid, t.tid, t.comm_id, a.time_ns,
	a.cpu, coalesce(a.period, t.period) AS period, s.call_path_id
FROM event_sample_rows a LEFT JOIN sample_sums s ON s.id = a.sum_id
LEFT JOIN sample_tasks t ON t.id = s.task_id;

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
		CASE WHEN offcpu_count > 0 THEN offcpu_first + offcpu_count - 1 END AS off_id
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
SELECT o.id, t.recording_id, t.pid, t.tid, c.comm, o.start_ns, o.start_ns + o.off_ns AS end_ns,
	o.off_ns, o.blocked_ns,
	CASE WHEN y.unknown_reason IS NULL THEN o.off_ns - o.blocked_ns ELSE 0 END AS runnable_ns,
	CASE WHEN y.running AND y.unknown_reason IS NULL THEN o.off_ns - o.blocked_ns ELSE 0 END
		AS preempted_ns,
	CASE WHEN y.unknown_reason IS NULL THEN 0 ELSE o.off_ns END AS unknown_ns,
	CASE WHEN k.verdict IS NOT 'idle' THEN o.off_ns
		WHEN y.unknown_reason IS NULL THEN o.off_ns - o.blocked_ns ELSE 0 END AS wait_ns,
	CASE WHEN coalesce(k.verdict, 'work') = 'work' THEN o.off_ns
		WHEN y.unknown_reason IS NULL THEN o.off_ns - o.blocked_ns ELSE 0 END AS work_ns,
	y.prev_state, y.syscall, y.arg0, y.arg0_kind, y.cause, o.site_id, k.verdict, k.reason,
	k.verdict IS 'idle' AS idle, t.kernel OR t.recorder AS system,
	s.name AS function, o.call_path_id,
	w.pid AS waker_pid, w.tid AS waker_tid, wc.comm AS waker_comm, y.waker_context,
	o.cpu_out, o.cpu_queue, o.cpu_in, y.open, y.suspect, y.unknown_reason, y.running
FROM offcpu_rows o
LEFT JOIN offcpu_kinds y ON y.id = o.kind_id
LEFT JOIN threads t ON t.id = o.thread_id
LEFT JOIN sites k ON k.id = o.site_id
LEFT JOIN comms c ON c.id = o.comm_id
LEFT JOIN threads w ON w.id = o.waker_thread_id
LEFT JOIN comms wc ON wc.id = w.comm_id
LEFT JOIN call_paths p ON p.id = o.call_path_id
LEFT JOIN wait_frames z ON z.call_path_id = o.call_path_id
LEFT JOIN frames f ON f.id = coalesce(z.frame_id, p.frame_id)
LEFT JOIN symbols s ON s.id = f.symbol_id;

-- Where a sample was is looked up only if it is asked for: SQLite skips a subquery that nobody reads,
-- but not a join.
CREATE VIEW v_samples AS
SELECT e.recording_id, e.name AS event, k.pid, k.tid, c.comm, a.time_ns, a.cpu,
	coalesce(a.period, k.period) AS period,
	(SELECT y.name FROM call_paths p JOIN frames f ON f.id = p.frame_id
		JOIN symbols y ON y.id = f.symbol_id WHERE p.id = s.call_path_id) AS function,
	(SELECT d.name FROM call_paths p JOIN frames f ON f.id = p.frame_id
		JOIN dsos d ON d.id = f.dso_id WHERE p.id = s.call_path_id) AS dso, s.call_path_id
FROM sample_rows a
LEFT JOIN sample_sums s ON s.id = a.sum_id
LEFT JOIN sample_tasks k ON k.id = s.task_id
LEFT JOIN selected_events e ON e.id = k.event_id
LEFT JOIN comms c ON c.id = k.comm_id;

-- The same added up by thread, event and stack.
CREATE VIEW v_sample_sums AS
SELECT e.recording_id, e.name AS event, k.pid, k.tid, c.comm, s.samples, s.weight,
	(SELECT y.name FROM call_paths p JOIN frames f ON f.id = p.frame_id
		JOIN symbols y ON y.id = f.symbol_id WHERE p.id = s.call_path_id) AS function,
	(SELECT d.name FROM call_paths p JOIN frames f ON f.id = p.frame_id
		JOIN dsos d ON d.id = f.dso_id WHERE p.id = s.call_path_id) AS dso, s.call_path_id
FROM sample_sums s
LEFT JOIN sample_tasks k ON k.id = s.task_id
LEFT JOIN selected_events e ON e.id = k.event_id
LEFT JOIN comms c ON c.id = k.comm_id
WHERE NOT k.tracepoint;

-- Frames as text; addresses in hex, unsigned.
CREATE VIEW v_frames AS
SELECT f.id, s.name AS function, d.name AS dso, printf('0x%x', f.address) AS address_hex,
	x.name AS file, f.line, f.inlined, coalesce(f.kind, 'user') AS kind
FROM frames f LEFT JOIN files x ON x.id = f.file_id LEFT JOIN symbols s ON s.id = f.symbol_id LEFT JOIN dsos d ON d.id = f.dso_id;

-- Each call path as "root;...;leaf". ORDER BY takes children before siblings, so that few texts wait.
CREATE VIEW v_stacks AS
WITH RECURSIVE walk(id, stack) AS (
	SELECT p.id, coalesce(s.name, printf('0x%x', f.address))
	FROM call_paths p JOIN frames f ON f.id = p.frame_id
	LEFT JOIN symbols s ON s.id = f.symbol_id WHERE p.parent_id IS NULL
	UNION ALL SELECT p.id, w.stack || ';' || coalesce(s.name, printf('0x%x', f.address))
	FROM walk w JOIN call_paths p ON p.parent_id = w.id JOIN frames f ON f.id = p.frame_id
	LEFT JOIN symbols s ON s.id = f.symbol_id ORDER BY 1 DESC)
SELECT id AS call_path_id, stack FROM walk;

-- Stacks are merged by number, before their texts are made: all of one text have the same first_id.
CREATE VIEW v_folded_oncpu AS
WITH RECURSIVE g AS (
	SELECT coalesce(p.first_id, p.id, 0) AS path, a.event_id, a.comm_id, sum(a.weight) AS weight,
		sum(a.samples) AS samples
	FROM folded_sums a LEFT JOIN folded_paths p ON p.id = a.folded_path_id
	WHERE a.event_id IN (SELECT event_id FROM sample_tasks WHERE NOT tracepoint) GROUP BY 1, 2, 3),
walk(path, text) AS (
	SELECT p.id, ';' || coalesce(s.name, '[' || replace(d.name, rtrim(d.name,
		replace(d.name, '/', '')), '') || ']', '[unknown]')
	FROM folded_paths p JOIN frames f ON f.id = p.frame_id LEFT JOIN symbols s ON s.id = f.symbol_id
	LEFT JOIN dsos d ON d.id = f.dso_id WHERE p.parent_id IS NULL
	UNION ALL SELECT p.id, w.text || ';' || coalesce(s.name, '[' || replace(d.name, rtrim(d.name,
		replace(d.name, '/', '')), '') || ']', '[unknown]')
	FROM walk w JOIN folded_paths p ON p.parent_id = w.path JOIN frames f ON f.id = p.frame_id
	LEFT JOIN symbols s ON s.id = f.symbol_id LEFT JOIN dsos d ON d.id = f.dso_id
	ORDER BY 1 DESC)
SELECT e.recording_id, e.name AS event, replace(coalesce(c.comm, ''), ' ', '_') || k.text AS stack,
	g.weight, g.samples
FROM (SELECT 0 AS path, '' AS text UNION ALL SELECT path, text FROM walk) k
CROSS JOIN g ON g.path = k.path JOIN selected_events e ON e.id = g.event_id
LEFT JOIN comms c ON c.id = g.comm_id;

-- Waiting by stack, in ns: idle parts and system threads left out.
CREATE VIEW v_folded_offcpu AS
WITH g AS (
	SELECT coalesce(o.call_path_id, 0) AS path, o.comm_id,
		sum(CASE WHEN s.verdict IS NOT 'idle' THEN o.off_ns
			WHEN y.unknown_reason IS NULL THEN o.off_ns - o.blocked_ns ELSE 0 END) AS ns,
		count(*) AS n
	FROM offcpu_rows o JOIN threads t ON t.id = o.thread_id
	LEFT JOIN offcpu_kinds y ON y.id = o.kind_id
	LEFT JOIN sites s ON s.id = o.site_id
	WHERE NOT t.kernel AND NOT t.recorder GROUP BY 1, 2)
SELECT replace(coalesce(c.comm, ''), ' ', '_') || k.text AS stack, sum(g.ns) AS ns,
	sum(g.n) AS intervals
FROM (SELECT 0 AS path, '' AS text UNION ALL SELECT call_path_id, ';' || stack FROM v_stacks) k
CROSS JOIN g ON g.path = k.path LEFT JOIN comms c ON c.id = g.comm_id
GROUP BY 1;

-- Percentiles of the waits of each thread name: nearest rank. Waits without
-- time at work, open, suspect ones and system threads are not in the population.
CREATE VIEW v_percentiles AS
WITH waits AS (
	SELECT t.recording_id, o.comm_id,
		CASE WHEN coalesce(k.verdict, 'work') = 'work' THEN o.off_ns
			WHEN y.unknown_reason IS NULL THEN o.off_ns - o.blocked_ns ELSE 0 END AS ns
	FROM offcpu_rows o
	LEFT JOIN offcpu_kinds y ON y.id = o.kind_id
	LEFT JOIN threads t ON t.id = o.thread_id
	LEFT JOIN sites k ON k.id = o.site_id
	WHERE NOT y.open AND NOT y.suspect AND NOT t.kernel AND NOT t.recorder),
counted AS ( -- by ns first: rows that differ in the first number are the fastest to sort
	SELECT recording_id, comm_id, ns, count(*) AS waits FROM waits WHERE ns > 0 GROUP BY 3, 2, 1),
ranked AS (
	SELECT recording_id, comm_id, ns, sum(waits) OVER (PARTITION BY recording_id, comm_id ORDER BY ns)
		AS rank, sum(waits) OVER (PARTITION BY recording_id, comm_id) AS n
	FROM counted)
SELECT r.recording_id, c.comm, n AS count,
	min(CASE WHEN rank >= (50000 * n + 99999) / 100000 THEN ns END) AS p50_ns,
	min(CASE WHEN rank >= (90000 * n + 99999) / 100000 THEN ns END) AS p90_ns,
	min(CASE WHEN rank >= (99000 * n + 99999) / 100000 THEN ns END) AS p99_ns,
	min(CASE WHEN rank >= (99900 * n + 99999) / 100000 THEN ns END) AS p999_ns,
	max(ns) AS max_ns
FROM ranked r LEFT JOIN comms c ON c.id = r.comm_id GROUP BY r.recording_id, c.comm, n;

-- Each thread's life and its parts: run + blocked + runnable + unknown = life.
CREATE VIEW v_thread_time AS
SELECT t.id AS thread_id, t.recording_id, t.pid, t.tid, c.comm, t.kernel OR t.recorder AS system,
	t.last_ns - t.first_ns AS life_ns,
	t.last_ns - t.first_ns - coalesce(sum(o.off_ns), 0) AS run_ns,
	coalesce(sum(o.blocked_ns), 0) AS blocked_ns,
	coalesce(sum(CASE WHEN y.unknown_reason IS NULL THEN o.off_ns - o.blocked_ns END), 0)
		AS runnable_ns,
	coalesce(sum(CASE WHEN y.unknown_reason IS NULL AND y.running
		THEN o.off_ns - o.blocked_ns END), 0) AS preempted_ns,
	coalesce(sum(CASE WHEN y.unknown_reason IS NOT NULL THEN o.off_ns END), 0) AS unknown_ns,
	coalesce(sum(CASE WHEN s.verdict IS NOT 'idle' THEN 0
		WHEN y.unknown_reason IS NULL THEN o.blocked_ns ELSE o.off_ns END), 0) AS idle_ns,
	coalesce(sum(CASE WHEN s.verdict IS 'unclear' THEN o.blocked_ns END), 0) AS unclear_ns,
	coalesce(sum(CASE WHEN s.verdict IS 'idle' THEN 0 ELSE o.blocked_ns END
		+ CASE WHEN y.unknown_reason IS NULL THEN o.off_ns - o.blocked_ns ELSE 0 END), 0)
		AS wait_ns,
	count(o.id) AS intervals, max(o.off_ns) AS max_ns
FROM threads t
LEFT JOIN offcpu_rows o ON o.id >= t.offcpu_first AND o.id < t.offcpu_first + t.offcpu_count
LEFT JOIN offcpu_kinds y ON y.id = o.kind_id
LEFT JOIN sites s ON s.id = o.site_id
LEFT JOIN comms c ON c.id = t.comm_id GROUP BY t.id;
