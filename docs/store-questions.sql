-- Questions to a store (store.md): sqlite3 -header -column run.db <store-questions.sql

-- 1. Who waited most?
SELECT comm, tid, wait_ns / 1e6 AS wait_ms, unclear_ns / 1e6 AS unclear_ms,
       idle_ns / 1e6 AS idle_ms, run_ns / 1e6 AS run_ms
FROM v_thread_time WHERE NOT system ORDER BY wait_ns DESC LIMIT 10;

-- 2. What did they wait for?
SELECT cause, count(*) AS waits, sum(wait_ns) / 1e6 AS ms, max(wait_ns) / 1e6 AS worst_ms
FROM v_offcpu WHERE NOT system GROUP BY cause ORDER BY ms DESC;

-- 3. The ten longest waits at work, and who ended them:
SELECT comm, tid, work_ns / 1e6 AS ms, cause, function, waker_comm, waker_context
FROM v_offcpu WHERE NOT system AND NOT open AND NOT suspect ORDER BY work_ns DESC LIMIT 10;

-- 4. Percentiles by thread name:
SELECT comm, count, p50_ns, p99_ns, p999_ns, max_ns FROM v_percentiles ORDER BY max_ns DESC;

-- 5. Who waited for a CPU, and how long at most (run-queue delay)?
SELECT comm, tid, sum(runnable_ns) / 1e6 AS ms, max(runnable_ns) / 1e6 AS worst_ms
FROM v_offcpu WHERE NOT system GROUP BY comm, tid ORDER BY ms DESC LIMIT 10;

-- 6. Who ran on that CPU during the longest of these delays?
WITH worst AS (SELECT start_ns + blocked_ns AS a, end_ns AS b,
                      CASE WHEN running THEN cpu_out ELSE coalesce(cpu_queue, cpu_in) END AS cpu
               FROM offcpu WHERE cpu_in IS NOT NULL ORDER BY runnable_ns DESC LIMIT 1)
SELECT c.comm, t.tid, sum(min(s.end_ns, w.b) - max(s.start_ns, w.a)) / 1e6 AS ms
FROM worst w JOIN thread_states s ON s.cpu = w.cpu AND s.state = 'running'
     AND s.start_ns < w.b AND s.end_ns > w.a
JOIN threads t ON t.id = s.thread_id LEFT JOIN comms c ON c.id = t.comm_id
GROUP BY t.id ORDER BY ms DESC;

-- 7. Who wakes whom?
SELECT waker_comm, comm, count(*) AS times, sum(blocked_ns) / 1e6 AS slept_ms
FROM v_offcpu WHERE waker_comm IS NOT NULL GROUP BY 1, 2 ORDER BY times DESC LIMIT 10;

-- 8. A flame graph of the waiting, for any tool that reads folded stacks:
SELECT stack || ' ' || ((ns + 500) / 1000) FROM v_folded_offcpu WHERE ns >= 500 ORDER BY stack;

-- 9. What was lost, and how much of the waiting is in doubt?
SELECT kind, count(*) AS times, sum(count) AS records, sum(to_ns - from_ns) / 1e6 AS ms,
       (SELECT count(*) FROM offcpu WHERE suspect) AS suspect_intervals
FROM losses GROUP BY kind;

-- 10. What did the thread do around the longest wait?
WITH w AS (SELECT o.thread_id, o.start_ns, o.end_ns FROM offcpu o JOIN v_offcpu v ON v.id = o.id
           WHERE NOT v.open AND NOT v.suspect AND NOT v.system ORDER BY v.work_ns DESC LIMIT 1)
SELECT s.state, (s.start_ns - w.start_ns) / 1e3 AS from_us, (s.end_ns - s.start_ns) / 1e3 AS us
FROM w JOIN thread_states s ON s.thread_id = w.thread_id
     AND s.end_ns > w.start_ns - 1000000 AND s.start_ns < w.end_ns + 1000000
ORDER BY s.start_ns;

-- 11. What limits the answers, and by how much?
SELECT finding, harm, facts FROM v_findings WHERE question = 'made-for';
SELECT f.finding, a.name, a.unit, a.text, 100.0 * a.number / a.whole AS percent
FROM findings f JOIN finding_facts a ON a.finding_id = f.id
WHERE f.question = 'made-for' AND a.unit IN ('share', 'option');
