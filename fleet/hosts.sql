-- Which hosts wait most, and why: waiting in the middle of work, as a share of the time that threads
-- lived. Idle and unclear waits, kernel threads and the recorder do not count.
WITH lived AS (
	SELECT host, sum(last_ns - first_ns) AS lived_ns
	FROM threads WHERE NOT kernel AND NOT recorder GROUP BY host),
waited AS (
	SELECT host, cause, count(*) AS waits, sum(work_ns) AS sum_ns, max(work_ns) AS longest_ns
	FROM offcpu WHERE NOT system AND work_ns > 0 GROUP BY host, cause),
whole AS (
	SELECT host, sum(sum_ns) AS host_ns FROM waited GROUP BY host)
SELECT waited.host AS host, waited.cause AS cause, waited.waits AS waits, waited.sum_ns AS waited_ns,
	round(1e2 * waited.sum_ns / lived.lived_ns, 3) AS percent_of_thread_time,
	waited.longest_ns AS longest_ns
FROM waited JOIN lived ON lived.host = waited.host JOIN whole ON whole.host = waited.host
ORDER BY 1e0 * whole.host_ns / lived.lived_ns DESC, host, waited_ns DESC, cause
LIMIT 60;
