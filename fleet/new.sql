-- What is new on the last day: wait sites that were not there before, or whose waiting per recorded
-- second is more than twice that of all days before. Idle sites do not count.
WITH last_day AS (
	SELECT max(date) AS day FROM recordings),
recorded AS (
	SELECT sum(CASE WHEN recordings.date = last_day.day THEN recordings.end_ns - recordings.origin_ns ELSE 0 END)
			AS day_ns,
		sum(CASE WHEN recordings.date < last_day.day THEN recordings.end_ns - recordings.origin_ns ELSE 0 END)
			AS before_ns
	FROM recordings CROSS JOIN last_day),
waits AS (
	SELECT sites.program AS program, sites.role AS role, sites.function AS waits_in, sites.cause AS cause,
		count(DISTINCT CASE WHEN sites.date = last_day.day THEN sites.host END) AS hosts,
		sum(CASE WHEN sites.date = last_day.day THEN sites.wait_ns ELSE 0 END) AS day_wait_ns,
		sum(CASE WHEN sites.date < last_day.day THEN sites.wait_ns ELSE 0 END) AS before_wait_ns
	FROM sites CROSS JOIN last_day WHERE sites.verdict <> 'idle'
	GROUP BY sites.program, sites.role, sites.function, sites.cause)
SELECT waits.program AS program, waits.role AS role, waits.waits_in AS waits_in, waits.cause AS cause,
	waits.hosts AS hosts, waits.day_wait_ns AS day_wait_ns, waits.before_wait_ns AS before_wait_ns,
	CASE WHEN waits.before_wait_ns = 0 OR recorded.before_ns = 0 THEN NULL
		ELSE round((1e0 * waits.day_wait_ns / recorded.day_ns) / (1e0 * waits.before_wait_ns / recorded.before_ns), 2)
		END AS times
FROM waits CROSS JOIN recorded
WHERE waits.day_wait_ns > 0 AND (waits.before_wait_ns = 0 OR recorded.before_ns = 0
	OR 1e0 * waits.day_wait_ns * recorded.before_ns > 2e0 * waits.before_wait_ns * recorded.day_ns)
ORDER BY day_wait_ns DESC, program, role, waits_in, cause
LIMIT 40;
