#!/usr/bin/env python3
"""namescheck.py NAMED OFFSETS - the tables of `export --to parquet` below NAMED, and those of
`export --no-names` with `perfkit symbols` below OFFSETS: joined by one equality and one <=, do all
stacks have the same names? Prints how many frames were named by the join. (Needs duckdb; with pyarrow,
SQLite joins as well.)"""
import glob
import json
import sqlite3
import sys

import duckdb

NAMED, OFFSETS = sys.argv[1], sys.argv[2]
db = duckdb.connect()
db.execute("SET memory_limit = '1GB'; SET threads = 2")


def table(folder, name):
    return f"read_parquet('{folder}/{name}/*/*/*.parquet', hive_partitioning = true, hive_types_autocast = 0)"


# what docs/fleet.md says
JOIN = """SELECT f.recording, f.id, s.names FROM {frames} f
    ASOF LEFT JOIN read_parquet('{folder}/symbols/*.parquet') s ON f.build_id = s.build_id AND s.start_offset <= f.file_offset
    WHERE f.file_offset IS NOT NULL"""


def joined_by_sqlite(folder):
    """The same join by another engine, over what another reader read."""
    import pyarrow.parquet as pq
    q = sqlite3.connect(":memory:")
    q.execute("CREATE TABLE symbols(build_id, start_offset, names, PRIMARY KEY(build_id, start_offset))")
    q.execute("CREATE TABLE frames(recording, id, build_id, file_offset)")
    for f in glob.glob(f"{folder}/symbols/*.parquet"):
        for r in pq.read_table(f).to_pylist():
            q.execute("INSERT INTO symbols VALUES (?, ?, ?)", (r["build_id"], r["start_offset"], json.dumps(r["names"])))
    for f in glob.glob(f"{folder}/frames/*/*/*.parquet"):
        for r in pq.ParquetFile(f).read().to_pylist():
            if r["file_offset"] is not None:
                q.execute("INSERT INTO frames VALUES (?, ?, ?, ?)", (r["recording"], r["id"], r["build_id"], r["file_offset"]))
    return {(r, i): json.loads(names or "[]") for r, i, names in q.execute("""SELECT f.recording, f.id, (SELECT s.names FROM symbols s
        WHERE s.build_id = f.build_id AND s.start_offset <= f.file_offset ORDER BY s.start_offset DESC LIMIT 1) FROM frames f""")}


def frames(folder, joined):
    """(recording, id) -> its names, outermost first."""
    names = {}
    for recording, i, symbol, dso in db.execute(
            f"SELECT recording, id, symbol, dso FROM {table(folder, 'frames')}").fetchall():
        names[recording, i] = [(symbol, dso)]
    if not joined:
        return names, (0, 0)
    found = inlined = 0
    join = {}
    for recording, i, got in db.execute(JOIN.format(frames=table(folder, "frames"), folder=folder)).fetchall():
        dso = names[recording, i][0][1]
        found += bool(got)
        inlined += len(got or ()) > 1
        join[recording, i] = got or []
        names[recording, i] = [(n, dso) for n in reversed(got)] if got else [(None, dso)]
    try:
        assert joined_by_sqlite(folder) == join, "SQLite joins otherwise"
    except ImportError:
        print("left out: pyarrow")
    return names, (found, inlined)


def stacks(folder, joined):
    """(recording, path id) -> the whole stack, and how many frames the join named."""
    names, found = frames(folder, joined)
    paths = {(r, i): (p, f) for r, i, p, f in db.execute(
        f"SELECT recording, id, parent_id, frame_id FROM {table(folder, 'call_paths')}").fetchall()}
    whole = {}
    for r, i in sorted(paths):
        parent, frame = paths[r, i]
        whole[r, i] = (whole[r, parent] if parent else ()) + tuple(names[r, frame])
    return whole, found


ROWS = {
    "samples": "recording, time_ns, thread_id, event, cpu, period",
    "event_samples": "recording, time_ns, pid, tid, event, cpu, period",
    "offcpu": "recording, thread_id, start_ns, off_ns, blocked_ns",
    "offcpu_totals": "recording, thread_id, ns, count",
    "marks": "recording, time_ns, cpu, name",
}
STARTS = ("_start", "__libc_start_main_impl", "__libc_start_call_main", "start_thread", "clone3", "__clone3", "clone", "__clone")


def beyond_start(have, want):
    """Without names, the words that a chain has above the function in which a thread begins are not known to be none."""
    return bool(want) and want[0][0] in STARTS and have[-len(want):] == want


a, _ = stacks(NAMED, False)
b, found = stacks(OFFSETS, True)
rows = 0
for name, columns in ROWS.items():
    def read(folder, of):
        got = db.execute(f"SELECT {columns}, call_path_id FROM {table(folder, name)}").fetchall()
        return sorted(((tuple(map(str, r[:-1])), of[r[0], r[-1]] if r[-1] else ()) for r in got), key=str)
    have, want = read(OFFSETS, b), read(NAMED, a)
    rows += len(want)
    for x, y in zip(have, want):
        if x != y and not (x[0] == y[0] and beyond_start(x[1], y[1])):
            bad = [(p, q) for p, q in zip(x[1], y[1]) if p != q][:3] or (x[1], y[1])
            sys.exit(f"{name}: {x[0]}: by the join, on the spot: {bad}")
    assert len(have) == len(want), (name, len(have), len(want))
left = db.execute(f"SELECT count(*) FROM {table(OFFSETS, 'frames')} WHERE symbol IS NULL AND file_offset IS NULL").fetchone()[0]
print(f"{rows} stacks, {found[0]} frames named by the join, {found[1]} with inlined ones, {left} without a name")
