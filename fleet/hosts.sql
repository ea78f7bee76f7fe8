-- Which hosts wait most, and why: waiting in the middle of work, as a share of the time that threads
-- lived. Idle and unclear waits, kernel threads and the recorder do not count. Where many of a host's waits
-- are suspect (records are missing next to them), the figures say little: ask `losses`.
WITH lived AS (
	SELECT host, sum(last_ns - first_ns) AS lived_ns
	FROM threads WHERE NOT kernel AND NOT recorder GROUP BY host),
waited AS (
	SELECT host, cause, count(*) AS waits, sum(work_ns) AS sum_ns, max(work_ns) AS longest_ns
	FROM offcpu WHERE NOT system AND work_ns > 0 GROUP BY host, cause),
whole AS (
	SELECT host, sum(CASE WHEN work_ns > 0 THEN work_ns ELSE 0 END) AS host_ns,
		round(1e2 * sum(CASE WHEN suspect THEN 1 ELSE 0 END) / count(*), 3) AS percent_suspect
	FROM offcpu WHERE NOT system GROUP BY host)
SELECT waited.host AS host, waited.cause AS cause, waited.waits AS waits, waited.sum_ns AS waited_ns,
	round(1e2 * waited.sum_ns / lived.lived_ns, 3) AS percent_of_thread_time,
	waited.longest_ns AS longest_ns, whole.percent_suspect AS percent_suspect
FROM waited JOIN lived ON lived.host = waited.host JOIN whole ON whole.host = waited.host
ORDER BY 1e0 * whole.host_ns / lived.lived_ns DESC, host, waited_ns DESC, cause
LIMIT 60;
