#!/usr/bin/env python3
"""bench_fleet.py - what tests/bench_fleet.sh needs.

    bench_fleet.py host FILE NAME SECONDS OUT      FILE as another host recorded it, so much later
    bench_fleet.py ask ENGINE TABLES SQL ANSWERS   each question's time; its answers into a folder
"""
import csv
import io
import os
import struct
import sys
import time

HOSTNAME, CLOCK_DATA, FEATURES_AT, FEATURE_BITS = 3, 29, 72, 256


def features(data):
    """Feature → offset: perf.data-file-format.txt. They lie behind the data, one section for each bit."""
    at, size = struct.unpack_from("<QQ", data, 40)
    table = at + size
    for bit in range(FEATURE_BITS):
        if data[FEATURES_AT + bit // 8] >> bit % 8 & 1:
            yield bit, struct.unpack_from("<Q", data, table)[0]
            table += 16


def make_host(path, name, seconds, out):
    data = bytearray(open(path, "rb").read())
    where = dict(features(data))
    room, = struct.unpack_from("<I", data, where[HOSTNAME])
    assert len(name) < room, f"{path}: no room for {name}"
    struct.pack_into(f"{room}s", data, where[HOSTNAME] + 4, name.encode())
    # version, clockid, wall-clock time, time of that clock
    wall, = struct.unpack_from("<Q", data, where[CLOCK_DATA] + 8)
    struct.pack_into("<Q", data, where[CLOCK_DATA] + 8, wall + int(seconds) * 10**9)
    open(out, "wb").write(data)


class DuckDB:
    def __init__(self, prelude):
        import duckdb
        self.db = duckdb.connect()
        self.db.execute(prelude)

    def ask(self, sql):
        return self.db.execute(sql).fetchall()


class ClickHouse:
    def __init__(self, prelude):
        from chdb import session
        self.db = session.Session()
        for line in statements(prelude):
            self.db.query(line)
        self.db.query("SET max_memory_usage = 3500000000")

    def ask(self, sql):
        text = self.db.query(sql.strip().rstrip(";") + " SETTINGS format_csv_null_representation = ''", "CSV").data()
        return list(csv.reader(io.StringIO(text)))


class Spark:
    def __init__(self, prelude):
        from pyspark.sql import SparkSession
        self.db = SparkSession.builder.master("local[2]").config("spark.driver.memory", "3g").config(
            "spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "8").getOrCreate()
        self.db.sparkContext.setLogLevel("ERROR")
        for line in statements(prelude):
            self.db.sql(line)

    def ask(self, sql):
        return [tuple(r) for r in self.db.sql(sql.strip().rstrip(";")).collect()]


def statements(text):
    return [s for s in text.split(";\n") if s.strip()]


def plain(v):
    """A value as all engines have it: numbers to six digits where they are no integers."""
    if v is None:
        return ""
    try:
        return str(int(v)) if float(v) == int(float(v)) else "%.6g" % float(v)
    except (TypeError, ValueError, OverflowError):
        return str(v)


def ask(engine, tables, sql, answers):
    folder = os.path.abspath(sql)
    answers = os.path.abspath(answers)
    os.makedirs(answers, exist_ok=True)
    os.chdir(tables)
    read = lambda name: open(os.path.join(folder, name)).read()
    asked = {"duckdb": DuckDB, "clickhouse": ClickHouse, "spark": Spark}[engine](read(f"prelude.{engine}.sql"))
    for name in sorted(f for f in os.listdir(folder) if f.endswith(".sql") and not f.startswith("prelude.")):
        start = time.time()
        rows = asked.ask(read(name))
        seconds = time.time() - start
        with open(os.path.join(answers, name[:-4]), "w") as f:
            for row in rows:
                f.write("\t".join(plain(v) for v in row) + "\n")
        print(f"{engine:<11} {name[:-4]:<8} {seconds:8.2f} s  {len(rows):6} rows", flush=True)


if __name__ == "__main__":
    {"host": make_host, "ask": ask}[sys.argv[1]](*sys.argv[2:])
