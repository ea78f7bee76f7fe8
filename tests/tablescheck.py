#!/usr/bin/env python3
"""tablescheck.py DIR STORE... - do the tables that `export --to parquet` wrote below DIR hold what the
stores of the same recordings say, row by row? (Needs duckdb.)"""
import sqlite3
import sys

import duckdb

folder, stores = sys.argv[1], sys.argv[2:]
db = duckdb.connect()
db.execute("SET memory_limit = '1GB'; SET threads = 2")


def table(name):
    return f"read_parquet('{folder}/{name}/*/*/*.parquet', hive_partitioning = true, hive_types_autocast = 0)"


# What is asked of both: a name, the tables' query, the store's. {x} is a table of the export.
ASKED = [
    ("offcpu",
     """SELECT r.host, t.tid, o.start_ns, o.start_ns + o.off_ns, o.blocked_ns, o.runnable_ns, o.wait_ns, o.work_ns, o.cause,
        o.prev_state, o.verdict, o.comm, w.tid, o.waker_context, o.cpu_in, o.prio_in, o.open, o.suspect, o.unknown_reason,
        o.syscall, o.arg0, o.arg0_variable, o.system, s.function
        FROM {offcpu} o JOIN {recordings} r USING (recording)
        JOIN {threads} t ON t.recording = o.recording AND t.id = o.thread_id
        LEFT JOIN {threads} w ON w.recording = o.recording AND w.id = o.waker_thread_id
        LEFT JOIN {sites} s ON s.recording = o.recording AND s.id = o.site_id""",
     """SELECT r.host, v.tid, v.start_ns, v.end_ns, v.blocked_ns, v.runnable_ns, v.wait_ns, v.work_ns, v.cause,
        v.prev_state, v.verdict, v.comm, v.waker_tid, v.waker_context, v.cpu_in, o.prio_in, v.open, v.suspect, v.unknown_reason,
        v.syscall, v.arg0, k.arg0_variable, v.system, y.name
        FROM v_offcpu v JOIN recordings r ON r.id = v.recording_id JOIN offcpu_rows o ON o.id = v.id JOIN offcpu_kinds k ON k.id = o.kind_id
        LEFT JOIN sites s ON s.id = o.site_id LEFT JOIN frames f ON f.id = s.frame_id LEFT JOIN symbols y ON y.id = f.symbol_id"""),
    ("samples",
     """SELECT r.host, s.time_ns, t.tid, s.comm, s.event, s.cpu, s.period, f.symbol, f.dso, f.build_id
        FROM {samples} s JOIN {recordings} r USING (recording)
        LEFT JOIN {threads} t ON t.recording = s.recording AND t.id = s.thread_id
        LEFT JOIN {call_paths} p ON p.recording = s.recording AND p.id = s.call_path_id
        LEFT JOIN {frames} f ON f.recording = s.recording AND f.id = p.frame_id""",
     """SELECT r.host, s.time_ns, t.tid, c.comm, e.name, s.cpu, s.period, y.name, d.name, d.build_id
        FROM samples s JOIN selected_events e ON e.id = s.event_id JOIN recordings r ON r.id = e.recording_id
        LEFT JOIN threads t ON t.id = s.thread_id LEFT JOIN comms c ON c.id = s.comm_id
        LEFT JOIN call_paths p ON p.id = s.call_path_id LEFT JOIN frames f ON f.id = p.frame_id
        LEFT JOIN symbols y ON y.id = f.symbol_id LEFT JOIN dsos d ON d.id = f.dso_id"""),
    ("event_samples",
     "SELECT r.host, s.time_ns, s.pid, s.tid, s.comm, s.event, s.cpu, s.period FROM {event_samples} s JOIN {recordings} r USING (recording)",
     """SELECT r.host, s.time_ns, s.pid, s.tid, c.comm, e.name, s.cpu, s.period FROM event_samples s
        JOIN selected_events e ON e.id = s.event_id JOIN recordings r ON r.id = e.recording_id
        LEFT JOIN comms c ON c.id = s.comm_id"""),
    ("threads",
     "SELECT r.host, pid, tid, comm, first_ns, last_ns, first_cpu, t.kernel, recorder, born, exited FROM {threads} t JOIN {recordings} r USING (recording)",
     """SELECT r.host, pid, tid, c.comm, first_ns, last_ns, first_cpu, t.kernel, recorder, born, exited FROM threads t
        JOIN recordings r ON r.id = t.recording_id LEFT JOIN comms c ON c.id = t.comm_id"""),
    ("spans",
     "SELECT r.host, name, key, start_ns, s.end_ns, run_ns, blocked_ns, runnable_ns, preempted_ns, unknown_ns, open, suspect, (SELECT string_agg(l.key || '=' || l.value, ' ' ORDER BY l.key, l.value) FROM {labels} l WHERE l.recording = s.recording AND l.span_id = s.id) FROM {spans} s JOIN {recordings} r USING (recording)",
     "SELECT r.host, name, key, start_ns, s.end_ns, run_ns, blocked_ns, runnable_ns, preempted_ns, unknown_ns, open, suspect, (SELECT group_concat(kv, ' ') FROM (SELECT l.key || '=' || l.value AS kv FROM labels l WHERE l.span_id = s.id ORDER BY l.key, l.value)) FROM spans s JOIN recordings r ON r.id = s.recording_id"),
    ("losses",
     "SELECT r.host, kind, cpu, from_ns, to_ns, count, sched FROM {losses} JOIN {recordings} r USING (recording)",
     "SELECT r.host, kind, cpu, from_ns, to_ns, count, sched FROM losses l JOIN recordings r ON r.id = l.recording_id"),
    ("sites",
     "SELECT r.host, program, role, cause, verdict, reason, loop, waits, wait_ns, max_ns FROM {sites} JOIN {recordings} r USING (recording)",
     "SELECT r.host, program, role, cause, verdict, reason, loop, waits, wait_ns, max_ns FROM sites s JOIN recordings r ON r.id = s.recording_id"),
    ("recordings",
     "SELECT host, clock, kernel, arch, cmdline, origin_ns, end_ns, wall_ns, wall_exact, ncpus, per_task, has_switch, stray_samples FROM {recordings}",
     "SELECT host, clock, kernel, arch, cmdline, origin_ns, end_ns, wall_ns, wall_exact, ncpus, per_task, has_switch, stray_samples FROM recordings"),
    ("files",
     "SELECT r.host, f.mode, f.bytes, f.perf, f.command, f.first_ns, f.last_ns, f.lost, f.cut_off FROM {recording_files} f JOIN {recordings} r USING (recording)",
     "SELECT r.host, f.mode, f.bytes, f.perf, f.command, f.first_ns, f.last_ns, f.lost, f.cut_off FROM recording_files f JOIN recordings r ON r.id = f.recording_id"),
    ("recorded events",
     "SELECT r.host, name, tracepoint, samples, weight, rate, by_rate, stacks FROM {recorded_events} JOIN {recordings} r USING (recording)",
     "SELECT r.host, name, tracepoint, samples, weight, rate, by_rate, stacks FROM recorded_events e JOIN recordings r ON r.id = e.recording_id"),
    ("record counts",
     "SELECT r.host, type, count FROM {record_counts} JOIN {recordings} r USING (recording)",
     "SELECT r.host, type, count FROM record_counts c JOIN recordings r ON r.id = c.recording_id"),
    ("unnamed files",
     "SELECT r.host, name, samples, kind, reason, path, build_id, pid, detail FROM {unnamed_files} JOIN {recordings} r USING (recording)",
     "SELECT r.host, name, samples, kind, reason, path, build_id, pid, detail FROM unnamed_files u JOIN recordings r ON r.id = u.recording_id"),
    ("findings",
     """SELECT r.host, f.question, f.finding, f.harm, f.command, a.part, a.line, a.form, a.name, a.unit, a.number, a.whole, a.text
        FROM {findings} f JOIN {recordings} r USING (recording)
        JOIN {finding_facts} a ON a.recording = f.recording AND a.finding_id = f.id""",
     """SELECT r.host, f.question, f.finding, f.harm, f.command, a.part, a.line, a.form, a.name, a.unit, a.number, a.whole, a.text
        FROM findings f JOIN recordings r ON r.id = f.recording_id JOIN finding_facts a ON a.finding_id = f.id"""),
    ("counters",
     "SELECT r.host, s.name, s.start_ns, c.event, c.value, c.error, c.at_least, c.scaled FROM {counters} c JOIN {spans} s ON s.recording = c.recording AND s.id = c.span_id JOIN {recordings} r ON r.recording = c.recording",
     "SELECT r.host, s.name, s.start_ns, c.event, c.value, c.error, c.at_least, c.scaled FROM counters c JOIN spans s ON s.id = c.span_id JOIN recordings r ON r.id = s.recording_id"),
    ("interrupts",
     "SELECT r.host, i.cpu, vector, i.start_ns, i.end_ns, t.tid FROM {interrupts} i JOIN {recordings} r USING (recording) LEFT JOIN {threads} t ON t.recording = i.recording AND t.id = i.thread_id",
     "SELECT r.host, i.cpu, vector, i.start_ns, i.end_ns, t.tid FROM interrupts i JOIN recordings r ON r.id = i.recording_id LEFT JOIN threads t ON t.id = i.thread_id"),
    ("context",
     "SELECT r.host, kind, subject, key, before, after FROM {context} JOIN {recordings} r USING (recording)",
     "SELECT r.host, kind, subject, key, before, after FROM context c JOIN recordings r ON r.id = c.recording_id"),
    ("time on the wall clock",
     "SELECT r.host, epoch_ns(o.time) FROM {offcpu} o JOIN {recordings} r USING (recording)",
     "SELECT r.host, CASE WHEN r.wall_ns THEN o.start_ns - r.origin_ns + r.wall_ns END FROM offcpu o JOIN threads t ON t.id = o.thread_id JOIN recordings r ON r.id = t.recording_id"),
]


class Tables(dict):
    def __missing__(self, name):
        return table(name)


def key(row):
    return tuple((v is not None, str(v)) for v in row)


def plain(row):
    return tuple(int(v) if isinstance(v, bool) else v for v in row)


bad = 0
for what, of_tables, of_store in ASKED:
    have = sorted((plain(r) for r in db.execute(of_tables.format_map(Tables())).fetchall()), key=key)
    want = []
    for s in stores:
        q = sqlite3.connect(s)
        q.text_factory = lambda b: b.decode("utf-8", "backslashreplace")
        # the folder's name stands for the host's, and is "unknown" where the recording does not say
        want += [(r[0] or "unknown", *r[1:]) for r in q.execute(of_store)]
    want.sort(key=key)
    print(f"{what}: {len(have)} rows")
    if have != want:
        bad = 1
        print(f"{what}: {len(have)} rows in tables, {len(want)} in stores")
        for a, b in [(a, b) for a, b in zip(have, want) if a != b][:2]:
            print(f"  tables: {a}\n  store:  {b}")
sys.exit(bad)
