-- The same root on how many hosts: what the worst waits (from p99.9 of each recording on) came from.
SELECT root_process, root_function, root_state, root_cause, count(DISTINCT host) AS hosts,
	count(DISTINCT recording) AS recordings, count(*) AS episodes,
	sum(duration_ns) AS total_ns, max(duration_ns) AS worst_ns
FROM episodes WHERE kind = 'wait'
GROUP BY root_process, root_function, root_state, root_cause
ORDER BY hosts DESC, total_ns DESC, root_process, root_function, root_state, root_cause
LIMIT 40;
