-- What is new on the last day, 20 of each kind: programs; and, in programs seen before, wait sites at work, unclear
-- ones, what caused the worst waits (from p99.9 of each recording on), and functions that ran, with all that they
-- called (samples of clocks). New is what was not there before, or takes more than twice as much time per recorded
-- second as on all days before; what has added most time is first. Kernel threads and the recorder do not count.
WITH last_day AS ( -- DuckDB 1.5 cannot take the max() of a folder's name
	SELECT date AS day FROM recordings GROUP BY date ORDER BY date DESC LIMIT 1),
recorded AS (
	SELECT sum(CASE WHEN recordings.date = last_day.day THEN recordings.end_ns - recordings.origin_ns ELSE 0 END)
			AS day_ns,
		sum(CASE WHEN recordings.date < last_day.day THEN recordings.end_ns - recordings.origin_ns ELSE 0 END)
			AS before_ns
	FROM recordings CROSS JOIN last_day),
waited AS (
	SELECT recording, site_id, sum(CASE WHEN unknown_reason IS NULL THEN blocked_ns ELSE wait_ns END) AS ns
	FROM offcpu WHERE NOT system AND verdict <> 'idle' GROUP BY recording, site_id),
sampled AS (
	SELECT recording, thread_id, call_path_id, sum(period) AS ns
	FROM samples WHERE event LIKE '%clock%' GROUP BY recording, thread_id, call_path_id),
processes AS (
	SELECT recording, pid, max(comm) AS program FROM threads WHERE tid = pid GROUP BY recording, pid),
ran AS (
	SELECT sampled.recording AS recording, threads.date AS date, threads.host AS host, sampled.call_path_id AS call_path_id,
		coalesce(processes.program, threads.comm) AS program, threads.comm AS role, sum(sampled.ns) AS ns
	FROM sampled JOIN threads ON sampled.recording = threads.recording AND sampled.thread_id = threads.id
		LEFT JOIN processes ON threads.recording = processes.recording AND threads.pid = processes.pid
	WHERE NOT threads.kernel AND NOT threads.recorder
	GROUP BY sampled.recording, threads.date, threads.host, sampled.call_path_id,
		coalesce(processes.program, threads.comm), threads.comm),
stacks AS ( -- as far as the innermost function of the program
	SELECT ran.program AS program, ran.role AS role, ran.date AS date, ran.host AS host, sum(ran.ns) AS ns,
		CASE WHEN call_paths.function IS NULL THEN call_paths.stack ELSE -- of an export by an older version
		concat(substring(call_paths.stack, 1, position(concat(';', call_paths.function, ';') IN
			concat(';', call_paths.stack, ';')) - 1), call_paths.function) END AS functions
	FROM call_paths RIGHT JOIN ran -- the smaller side last: ClickHouse holds it in memory
		ON call_paths.recording = ran.recording AND call_paths.id = ran.call_path_id
	GROUP BY ran.program, ran.role, ran.date, ran.host,
		CASE WHEN call_paths.function IS NULL THEN call_paths.stack ELSE
		concat(substring(call_paths.stack, 1, position(concat(';', call_paths.function, ';') IN
			concat(';', call_paths.stack, ';')) - 1), call_paths.function) END),
functions AS ( -- and one without a name, for all that a thread ran
	SELECT program, role, date, host, ns,
		explode(array_distinct(split(concat(coalesce(functions, ''), ';'), ';'))) AS function
	FROM stacks),
seen AS (
	SELECT CASE WHEN sites.verdict = 'work' THEN 'wait site' ELSE 'unclear site' END AS what,
		sites.program AS program, sites.role AS role, sites.function AS function, sites.cause AS cause,
		sites.date AS date, sites.host AS host, CAST(waited.ns AS BIGINT) AS ns
	FROM sites JOIN waited ON sites.recording = waited.recording AND sites.id = waited.site_id
	UNION ALL
	SELECT 'root' AS what, episodes.root_process AS program, episodes.root_comm AS role,
		episodes.root_function AS function, episodes.root_cause AS cause, episodes.date AS date,
		episodes.host AS host, episodes.root_ns AS ns
	FROM episodes WHERE episodes.kind = 'wait'
	UNION ALL
	SELECT CASE WHEN functions.function = '' THEN 'running' ELSE 'function' END AS what,
		functions.program AS program, functions.role AS role, functions.function AS function,
		'running' AS cause, functions.date AS date, functions.host AS host, CAST(functions.ns AS BIGINT) AS ns
	FROM functions WHERE functions.function NOT IN ('[unknown]', '[truncated]')),
known AS (
	SELECT seen.program AS program, max(CASE WHEN seen.date < last_day.day THEN 1 ELSE 0 END) AS before
	FROM seen CROSS JOIN last_day GROUP BY seen.program),
news AS (
	SELECT CASE WHEN known.before = 1 THEN seen.what ELSE 'program' END AS what, seen.program AS program,
		CASE WHEN known.before = 1 THEN seen.role END AS role,
		CASE WHEN known.before = 1 THEN seen.function END AS function,
		CASE WHEN known.before = 1 THEN seen.cause ELSE 'waiting or running' END AS cause,
		seen.date AS date, seen.host AS host, seen.ns AS ns
	FROM seen JOIN known ON known.program = seen.program
	WHERE CASE WHEN known.before = 1 THEN seen.what <> 'running' ELSE seen.what IN ('wait site', 'running') END),
summed AS (
	SELECT news.what AS what, news.program AS program, news.role AS role, news.function AS function, news.cause AS cause,
		count(DISTINCT CASE WHEN news.date = last_day.day THEN news.host END) AS hosts,
		sum(CASE WHEN news.date = last_day.day THEN news.ns ELSE 0 END) AS day_ns,
		sum(CASE WHEN news.date < last_day.day THEN news.ns ELSE 0 END) AS before_ns
	FROM news CROSS JOIN last_day
	GROUP BY news.what, news.program, news.role, news.function, news.cause),
grown AS (
	SELECT summed.what AS what, summed.program AS program, summed.role AS role, summed.function AS function,
		summed.cause AS cause, summed.hosts AS hosts, summed.day_ns AS day_ns, summed.before_ns AS before_ns,
		CASE WHEN summed.before_ns = 0 OR recorded.before_ns = 0 THEN NULL
			ELSE round((1e0 * summed.day_ns / recorded.day_ns) / (1e0 * summed.before_ns / recorded.before_ns), 2)
			END AS times,
		row_number() OVER (PARTITION BY summed.what ORDER BY summed.day_ns - CASE WHEN summed.before_ns = 0 THEN 0e0
			ELSE 1e0 * summed.before_ns * recorded.day_ns / recorded.before_ns END DESC, summed.program, summed.role,
			summed.function, summed.cause) AS nth
	FROM summed CROSS JOIN recorded
	WHERE summed.day_ns > 0 AND (summed.before_ns = 0 OR recorded.before_ns = 0
		OR 1e0 * summed.day_ns * recorded.before_ns > 2e0 * summed.before_ns * recorded.day_ns))
SELECT what, program, role, function, cause, hosts, day_ns, before_ns, times
FROM grown WHERE nth <= 20 ORDER BY what DESC, nth;
