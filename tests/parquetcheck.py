#!/usr/bin/env python3
"""parquetcheck.py FILE ROWS FOLDER - does each reader that is here find in FILE what tests/prog/parquetgen.c
put there? npm's readers are in FOLDER. Prints the readers that were asked. Exits 77 when there is none."""
import json
import os
import subprocess
import sys

path, rows, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
MASK = (1 << 64) - 1


def wild(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def signed(x, bits):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> bits - 1 else x


def name(row):
    return "'; DROP TABLE x;--\n\\xff\\xc0\\xaf\t\"" if row % 7 == 0 else f"name {row // 3}"


def expected(row):
    return (
        row,
        row % 3 == 0,
        None if row % 2 == 0 else row % 5 == 0,
        signed(wild(row), 32),
        None if row // 100 % 3 == 1 else row // 1000 - 7,
        signed(wild(row), 64),
        None if row % 11 == 0 else ((1 << 63) - 1 if row % 2 else -(1 << 63)),
        None if row % 13 == 12 else 1700000000123456789 + row * 1001,
        name(row),
        None if row % 4 == 3 else name(row % 50),
        [(row + k) % 1000 - 500 for k in range(row % 4)],
        ["", "a;b", "\u20ac"][: row % 4],
        None,
    )


NAMES = "row_id flag maybe_flag small maybe_small wild few time name maybe_name list words never".split()
some = sorted({r for r in list(range(2000)) + list(range(131000, 131200)) + list(range(rows - 500, rows)) + list(range(0, rows, 9973))
               if 0 <= r < rows})


def compare(reader, row, got):
    want = expected(row)
    assert tuple(got) == want, f"{reader}: row {row}: {got} instead of {want}"


def with_duckdb(duckdb):
    db = duckdb.connect()
    db.execute("SET memory_limit = '1GB'; SET threads = 2")
    kinds = [r[1] for r in db.execute(f"DESCRIBE SELECT * FROM '{path}'").fetchall()]
    assert kinds == ["BIGINT", "BOOLEAN", "BOOLEAN", "INTEGER", "INTEGER", "BIGINT", "BIGINT", kinds[7], "VARCHAR",
                     "VARCHAR", "INTEGER[]", "VARCHAR[]", "VARCHAR"] and kinds[7].startswith("TIMESTAMP"), kinds
    n, total, first, last = db.execute(f"SELECT count(*), sum(row_id), min(row_id), max(row_id) FROM '{path}'").fetchone()
    assert n == rows and (total or 0) == rows * (rows - 1) // 2, (n, total)
    assert not rows or (first, last) == (0, rows - 1)
    # statistics tell the reader which groups it need not read: the answer is as without them
    assert db.execute(f"SELECT count(*) FROM '{path}' WHERE row_id BETWEEN 131070 AND 131075").fetchone()[0] == \
        len([r for r in range(131070, 131076) if r < rows])
    for low, high, n, missing in db.execute(
            "SELECT stats_min_value, stats_max_value, num_values, stats_null_count "
            f"FROM parquet_metadata('{path}') WHERE path_in_schema = 'row_id' ORDER BY row_group_id").fetchall():
        assert int(high) - int(low) + 1 == n and missing == 0
    db.execute("CREATE TEMP TABLE wanted(r BIGINT)")
    if some:
        db.execute("INSERT INTO wanted SELECT unnest(?)", [some])
    shown = ", ".join(f"CASE WHEN {c} IS NULL THEN NULL ELSE epoch_ns({c}) END" if c == "time" else f'"{c}"' for c in NAMES)
    for got in db.execute(f"SELECT {shown} FROM '{path}' WHERE row_id IN (SELECT r FROM wanted) ORDER BY row_id").fetchall():
        compare("duckdb", got[0], got)


def with_pyarrow(_):
    import pyarrow.parquet as pq
    import pyarrow as pa
    f = pq.ParquetFile(path)
    assert f.metadata.num_rows == rows
    kinds = {x.name: x.type for x in f.schema_arrow}
    assert kinds["time"] == pa.timestamp("ns", "UTC") and kinds["name"] == pa.string() and kinds["flag"] == pa.bool_(), kinds
    at = 0
    wanted = set(some)
    for g in range(f.metadata.num_row_groups):
        t = f.read_row_group(g)
        assert t.validate(full=True) is None
        stats = f.metadata.row_group(g).column(8).statistics
        names = t["name"].to_pylist() if g == 0 else None
        assert names is None or (stats.min, stats.max) == (min(names, key=str.encode), max(names, key=str.encode))
        stats = f.metadata.row_group(g).column(5).statistics
        assert g or (stats.min, stats.max) == (min(t["wild"].to_pylist()), max(t["wild"].to_pylist()))
        here = [r - at for r in range(at, at + len(t)) if r in wanted]
        got = t.take(here)
        columns = [got[c].cast(pa.int64()).to_pylist() if c == "time" else got[c].to_pylist() for c in NAMES]
        for row in zip(*columns):
            compare("pyarrow", row[0], row)
        at += len(t)
    assert at == rows


def with_hyparquet():
    """Rows around the edges of groups; the first and the last ones."""
    here = os.path.dirname(os.path.abspath(__file__))
    ranges = [(max(0, r - 3), min(rows, r + 400)) for r in (0, 131072, rows // 2, rows - 200) if 0 <= r <= rows]
    out = subprocess.run(["node", f"{here}/npm_parquet.mjs", os.path.abspath(folder), os.path.abspath(path),
                          *(str(x) for r in ranges for x in r)], stdout=subprocess.PIPE, check=True).stdout.decode()
    lines = out.splitlines()
    assert int(lines[0]) == rows and len(lines) == 1 + sum(b - a for a, b in ranges), lines[0]
    as_text = lambda v: str(v) if type(v) is int else [as_text(x) for x in v] if isinstance(v, list) else v
    for row, line in zip((r for a, b in ranges for r in range(a, b)), lines[1:]):
        got, want = json.loads(line), [as_text(v) for v in expected(row)]
        assert got == want, f"hyparquet: row {row}: {got} instead of {want}"


asked = []
for module, read in (("duckdb", with_duckdb), ("pyarrow", with_pyarrow)):
    try:
        reader = __import__(module)
    except ImportError:
        continue
    read(reader)
    asked.append(module)
if os.path.isdir(f"{folder}/node_modules/hyparquet"):
    with_hyparquet()
    asked.append("hyparquet")
print(" ".join(asked) or "no reader of Parquet here: make readers")
sys.exit(0 if asked else 77)
