"""storewalk.py PERFKIT STORE - every verb over the store with each of its tables emptied, dropped, of
other types, out of order, shadowed by a view: each run ends by itself, with status 0 to 3, and one that fails
says why in one line. Ends after SECONDS at the latest; the order is the same each time.
"""
import os, shutil, sqlite3, subprocess, sys, time

SECONDS, RUN_SECONDS = 200, 20
perfkit, store = sys.argv[1:3]
verbs = [v.split() for v in (
    "collapse", "collapse --offcpu", "svg --no-script", "svg --wall", "report", "report --by thread --json",
    "report --by site", "tail --p50", "tail --by span --csv", "doctor", "timeline", "html",
    "export --to parquet -o tables", "export --to pprof -o out", "export --to firefox", "export --to perfetto -o out")]


def names(c, kind):
    return [n for (n,) in c.execute("SELECT name FROM sqlite_master WHERE type = ? AND name NOT LIKE 'sqlite_%'", (kind,))]


def columns(c, table):
    return [r[1] for r in c.execute(f"PRAGMA table_info({table})")]


def emptied(c, t):
    c.execute(f"DELETE FROM {t}")


def dropped(c, t):
    c.execute(f"DROP TABLE {t}")


def texts(c, t):
    retyped(c, t, "'x' || {}")


def blobs(c, t):
    retyped(c, t, "zeroblob(9)")


def nulls(c, t):
    retyped(c, t, "NULL")


def huge(c, t):
    retyped(c, t, "9223372036854775807")


def reals(c, t):
    retyped(c, t, "-1e300")


def retyped(c, t, how):
    cols = columns(c, t)
    values = ",".join(f"{how.format(x)} AS {x}" for x in cols)
    c.execute(f"CREATE TABLE other AS SELECT {values} FROM {t}")
    c.execute(f"DROP TABLE {t}")
    c.execute(f"ALTER TABLE other RENAME TO {t}")


def twice(c, t):
    cols = ",".join(columns(c, t))
    c.execute(f"CREATE TABLE other AS SELECT {cols} FROM {t} UNION ALL SELECT {cols} FROM {t}")
    c.execute(f"DROP TABLE {t}")
    c.execute(f"ALTER TABLE other RENAME TO {t}")


def viewed(c, t):
    cols = columns(c, t)
    c.execute(f"DROP TABLE {t}")
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
    c.execute(f"CREATE VIEW {t} AS " + endless + ",".join(f"i AS {x}" for x in cols) + " FROM n")


damages = (emptied, dropped, texts, blobs, nulls, huge, reals, twice, viewed)
began, bad, runs = time.monotonic(), 0, 0
with sqlite3.connect(store) as whole:
    tables = names(whole, "table")
cases = [(t, d) for d in damages for t in tables]
for table, damage in cases:
    if time.monotonic() - began > SECONDS:
        print(f"left out: from {damage.__name__} {table} on, for time")
        break
    shutil.copy(store, "damaged.db")
    c = sqlite3.connect("damaged.db")
    try:
        for v in names(c, "view"):
            c.execute(f"DROP VIEW {v}")
        damage(c, table)
        c.commit()
    finally:
        c.close()
    for verb in verbs:
        shutil.rmtree("tables", ignore_errors=True)
        runs += 1
        words = [perfkit, verb[0], "-q", "-f", *verb[1:], "damaged.db"]
        if verb[0] == "doctor":
            words.remove("-q"), words.remove("-f")
        try:
            p = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               timeout=RUN_SECONDS)
            rc, said = p.returncode, p.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            rc, said = "none", f"not ended after {RUN_SECONDS} s"
        if rc not in (0, 1, 3) or (rc and said.count("\n") != 1) or "Sanitizer" in said or "runtime error" in said:
            bad += 1
            print(f"{table} {damage.__name__}: {' '.join(verb)}: status {rc}: {said[:300]}")
print(f"{runs} runs, {len(tables)} tables, {bad} wrong")
sys.exit(bad != 0)
