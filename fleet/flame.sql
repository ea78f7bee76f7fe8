-- The fleet's waiting as folded stacks: perfkit fleet flame DIR | perfkit svg - -o fleet.svg
-- All but idle waits, kernel threads and the recorder.
WITH summed AS (
	SELECT recording, comm, call_path_id, sum(wait_ns) AS sum_ns
	FROM offcpu WHERE NOT system AND wait_ns > 0 GROUP BY recording, comm, call_path_id)
SELECT concat(replace(summed.comm, ';', ':'), ';', coalesce(call_paths.stack, '[no stack]')) AS folded, sum(summed.sum_ns) AS weight
FROM call_paths RIGHT JOIN summed -- the smaller side last: ClickHouse holds it in memory
	ON call_paths.recording = summed.recording AND call_paths.id = summed.call_path_id
GROUP BY concat(replace(summed.comm, ';', ':'), ';', coalesce(call_paths.stack, '[no stack]'))
ORDER BY weight DESC, folded;
