-- What each host's recordings lack, the worst first: a lossy host never looks healthy. Waits that are
-- suspect (records are missing next to them) may have another length. Recordings without worst waits had none,
-- or too many suspect ones to say: `roots` and `worst` lack them.
WITH lost AS (
	SELECT host, sum(CASE WHEN kind = 'lost' THEN losses.count ELSE 0 END) AS lost_records,
		sum(CASE WHEN kind = 'hole' THEN 1 ELSE 0 END) AS missing_switches,
		sum(CASE WHEN kind = 'throttle' THEN 1 ELSE 0 END) AS throttles
	FROM losses GROUP BY host),
waited AS (
	SELECT host, count(*) AS waits, sum(CASE WHEN suspect THEN 1 ELSE 0 END) AS suspects
	FROM offcpu GROUP BY host),
recorded AS (
	SELECT host, count(*) AS files, sum(end_ns - origin_ns) AS sum_ns
	FROM recordings GROUP BY host),
told AS (
	SELECT host, count(DISTINCT recording) AS files FROM episodes WHERE kind = 'wait' GROUP BY host)
SELECT recorded.host AS host, recorded.files AS recordings, recorded.sum_ns AS recorded_ns,
	coalesce(lost.lost_records, 0) AS lost_records, coalesce(lost.missing_switches, 0) AS missing_switches,
	coalesce(lost.throttles, 0) AS throttles, coalesce(waited.waits, 0) AS waits,
	CASE WHEN waited.waits > 0 THEN round(1e2 * waited.suspects / waited.waits, 3) END AS percent_suspect,
	recorded.files - coalesce(told.files, 0) AS without_worst_waits
FROM recorded LEFT JOIN lost ON lost.host = recorded.host LEFT JOIN waited ON waited.host = recorded.host
	LEFT JOIN told ON told.host = recorded.host
ORDER BY lost_records DESC, missing_switches DESC, throttles DESC, percent_suspect DESC, host
LIMIT 300;
