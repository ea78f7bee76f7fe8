-- The fleet's CPU time as folded stacks: perfkit fleet cpu DIR | perfkit svg - -o fleet.svg
-- Samples of clocks and cycles; those of one kind should be recorded everywhere.
WITH summed AS (
	SELECT recording, comm, call_path_id, sum(period) AS periods
	FROM samples WHERE event LIKE '%clock%' OR event LIKE '%cycles%' GROUP BY recording, comm, call_path_id)
SELECT concat(replace(summed.comm, ';', ':'), ';', coalesce(call_paths.stack, '[no stack]')) AS folded, sum(summed.periods) AS weight
FROM call_paths RIGHT JOIN summed -- the smaller side last: ClickHouse holds it in memory
	ON call_paths.recording = summed.recording AND call_paths.id = summed.call_path_id
GROUP BY concat(replace(summed.comm, ';', ':'), ';', coalesce(call_paths.stack, '[no stack]'))
ORDER BY weight DESC, folded;
