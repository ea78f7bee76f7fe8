-- What is new on the last day, 20 of each kind: wait sites that are not idle, what caused the worst waits
-- (from p99.9 of each recording on), and functions that ran (samples of clocks). New is what was not there
-- before, or takes more than twice as much time per recorded second as on all days before.
WITH last_day AS (
	SELECT max(date) AS day FROM recordings),
recorded AS (
	SELECT sum(CASE WHEN recordings.date = last_day.day THEN recordings.end_ns - recordings.origin_ns ELSE 0 END)
			AS day_ns,
		sum(CASE WHEN recordings.date < last_day.day THEN recordings.end_ns - recordings.origin_ns ELSE 0 END)
			AS before_ns
	FROM recordings CROSS JOIN last_day),
ran AS (
	SELECT recording, date, host, comm, call_path_id, sum(period) AS ns
	FROM samples WHERE event LIKE '%clock%' GROUP BY recording, date, host, comm, call_path_id),
leaves AS (
	SELECT ran.recording AS recording, ran.date AS date, ran.host AS host, ran.comm AS comm,
		call_paths.frame_id AS frame_id, sum(ran.ns) AS ns
	FROM call_paths RIGHT JOIN ran -- the smaller side last: ClickHouse holds it in memory
		ON call_paths.recording = ran.recording AND call_paths.id = ran.call_path_id
	GROUP BY ran.recording, ran.date, ran.host, ran.comm, call_paths.frame_id),
seen AS (
	SELECT 'wait site' AS what, sites.program AS program, sites.role AS role, sites.function AS function,
		sites.cause AS cause, sites.date AS date, sites.host AS host, sites.wait_ns AS ns
	FROM sites WHERE sites.verdict <> 'idle'
	UNION ALL
	SELECT 'root' AS what, episodes.root_process AS program, episodes.root_comm AS role,
		episodes.root_function AS function, episodes.root_cause AS cause, episodes.date AS date,
		episodes.host AS host, episodes.root_ns AS ns
	FROM episodes WHERE episodes.kind = 'wait'
	UNION ALL
	SELECT 'function' AS what, leaves.comm AS program, leaves.comm AS role, coalesce(frames.symbol, frames.dso) AS function,
		'running' AS cause, leaves.date AS date, leaves.host AS host, CAST(leaves.ns AS BIGINT) AS ns
	FROM frames RIGHT JOIN leaves ON frames.recording = leaves.recording AND frames.id = leaves.frame_id
	WHERE leaves.frame_id IS NOT NULL),
summed AS (
	SELECT seen.what AS what, seen.program AS program, seen.role AS role, seen.function AS function, seen.cause AS cause,
		count(DISTINCT CASE WHEN seen.date = last_day.day THEN seen.host END) AS hosts,
		sum(CASE WHEN seen.date = last_day.day THEN seen.ns ELSE 0 END) AS day_ns,
		sum(CASE WHEN seen.date < last_day.day THEN seen.ns ELSE 0 END) AS before_ns
	FROM seen CROSS JOIN last_day
	GROUP BY seen.what, seen.program, seen.role, seen.function, seen.cause),
grown AS (
	SELECT summed.what AS what, summed.program AS program, summed.role AS role, summed.function AS function,
		summed.cause AS cause, summed.hosts AS hosts, summed.day_ns AS day_ns, summed.before_ns AS before_ns,
		CASE WHEN summed.before_ns = 0 OR recorded.before_ns = 0 THEN NULL
			ELSE round((1e0 * summed.day_ns / recorded.day_ns) / (1e0 * summed.before_ns / recorded.before_ns), 2)
			END AS times,
		row_number() OVER (PARTITION BY summed.what ORDER BY summed.day_ns DESC, summed.program, summed.role,
			summed.function, summed.cause) AS nth
	FROM summed CROSS JOIN recorded
	WHERE summed.day_ns > 0 AND (summed.before_ns = 0 OR recorded.before_ns = 0
		OR 1e0 * summed.day_ns * recorded.before_ns > 2e0 * summed.before_ns * recorded.day_ns))
SELECT what, program, role, function, cause, hosts, day_ns, before_ns, times
FROM grown WHERE nth <= 20 ORDER BY what DESC, nth;
