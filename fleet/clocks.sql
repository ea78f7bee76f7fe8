-- How far the times of different hosts, and of one host's recordings, can be compared. A clock that
-- was not tied to the wall clock while recording (`perf record -k CLOCK_MONOTONIC` does) is known to
-- the second at best. `spread_ns`: by how much the wall clock and the recordings' clock drifted apart
-- between recordings of one kernel and clock; a reboot, a jump of the wall clock or an inexact one.
SELECT host, clock, kernel, count(*) AS recordings,
	sum(CASE WHEN wall_ns IS NULL THEN 1 ELSE 0 END) AS without_wall_clock,
	sum(CASE WHEN wall_ns IS NOT NULL AND NOT wall_exact THEN 1 ELSE 0 END) AS approximate,
	max(wall_ns - origin_ns) - min(wall_ns - origin_ns) AS spread_ns
FROM recordings GROUP BY host, clock, kernel
ORDER BY without_wall_clock DESC, approximate DESC, spread_ns DESC, host, clock, kernel
LIMIT 300;
