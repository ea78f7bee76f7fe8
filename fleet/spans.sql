-- Percentiles of spans by name, host, version (the label of that key, if there is one) and hour of
-- the wall clock: nearest rank, as `tail` has them. Spans that are open or suspect do not count.
WITH lasted AS (
	SELECT spans.name AS name, spans.host AS host, labels.value AS version,
		CAST(floor((recordings.wall_ns + spans.start_ns - recordings.origin_ns) / 3.6e12) AS BIGINT)
			AS hour_since_1970, spans.end_ns - spans.start_ns AS ns
	FROM spans JOIN recordings ON recordings.recording = spans.recording
	LEFT JOIN (SELECT recording, span_id, max(value) AS value FROM labels WHERE key = 'version'
		GROUP BY recording, span_id) labels
		ON labels.recording = spans.recording AND labels.span_id = spans.id
	WHERE NOT spans.open AND NOT spans.suspect),
ranked AS (
	SELECT name, host, version, hour_since_1970, ns,
		row_number() OVER (PARTITION BY name, host, version, hour_since_1970 ORDER BY ns) AS nth,
		count(*) OVER (PARTITION BY name, host, version, hour_since_1970) AS n
	FROM lasted)
SELECT name, host, version, hour_since_1970, max(n) AS spans,
	max(CASE WHEN nth = floor((n * 50000 + 99999) / 100000) THEN ns END) AS p50_ns,
	max(CASE WHEN nth = floor((n * 90000 + 99999) / 100000) THEN ns END) AS p90_ns,
	max(CASE WHEN nth = floor((n * 99000 + 99999) / 100000) THEN ns END) AS p99_ns,
	max(CASE WHEN nth = floor((n * 99900 + 99999) / 100000) THEN ns END) AS p999_ns,
	max(CASE WHEN nth = floor((n * 99990 + 99999) / 100000) THEN ns END) AS p9999_ns,
	max(ns) AS max_ns
FROM ranked GROUP BY name, host, version, hour_since_1970
ORDER BY p999_ns DESC, name, host, hour_since_1970
LIMIT 100;
