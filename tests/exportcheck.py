#!/usr/bin/env python3
"""exportcheck.py pprof PROFILE FOLDED [TYPE]
exportcheck.py speedscope FILE FOLDED [COLUMN]
exportcheck.py speedscope-time FILE FOLDED
exportcheck.py perfetto TRACE STORE TAIL
exportcheck.py perfetto-plain TRACE OUT
exportcheck.py firefox PROFILE STORE EVENT: what other tools open says what perfkit says.

pprof: reads PROFILE (profile.proto, gzipped) with a decoder of its own: every reference leads
somewhere, every string is UTF-8, and its samples of TYPE (default: the profile's own default),
folded, are the lines of FOLDED, which collapse wrote.

speedscope: FILE keeps to the published schema, and its sampled profiles, folded by the comm in
their names, are the lines of FOLDED. speedscope-time: the same of evented ones, where FOLDED has
the frames of spans, too, or there are none.

perfetto: the runs that TRACE's switches make, its wakeups, samples (also those where threads left a
CPU), their periods and slices are those of the tables of STORE, one for one. The worst waits are those
that TAIL, the answer of `tail --json`, has; what they consist of and who woke them, those of STORE. perfetto-plain: TRACE's packets, none of them compressed.

firefox: PROFILE keeps to the published types (every column as long as its table, every index in
it), and its samples of EVENT, markers and CPU time are those of STORE, one for one, where it was
written with --idle --system."""
import collections
import decimal
import gzip
import json
import os
import sqlite3
import sys
import zlib


def varint(b, at):
    x = shift = 0
    while True:
        x |= (b[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not b[at - 1] & 0x80:
            return x, at


def fields(b):
    """[(number, value)] of a message: ints, or bytes of what has a length."""
    at, out = 0, []
    while at < len(b):
        key, at = varint(b, at)
        assert key & 7 in (0, 1, 2), "wire type %d" % (key & 7)
        if key & 7 == 1:
            x, at = int.from_bytes(b[at:at + 8], "little"), at + 8
        else:
            x, at = varint(b, at)
        if key & 7 == 2:
            assert at + x <= len(b), "a field past its message"
            x, at = b[at:at + x], at + x
        out.append((key >> 3, x))
    return out


def message(b):
    """{number: [values]}"""
    out = collections.defaultdict(list)
    for k, v in fields(b):
        out[k].append(v)
    return out


def packed(b):
    at, out = 0, []
    while at < len(b):
        x, at = varint(b, at)
        out.append(x)
    return out


class Pprof:
    def __init__(self, path):
        p = message(gzip.open(path).read())
        self.text = [s.decode("utf-8") for s in p[6]]
        assert self.text[0] == ""
        self.types = [tuple(self.text[message(t)[k][0]] for k in (1, 2)) for t in p[1]]
        self.default = self.text[p[14][0]]
        self.mappings = {m[1][0]: m for m in map(message, p[3])}
        self.functions = {f[1][0]: f for f in map(message, p[5])}
        self.locations = {x[1][0]: self.location(x) for x in map(message, p[4])}
        self.samples = [self.sample(message(s)) for s in p[2]]

    def location(self, x):
        """Its frames, innermost first."""
        dso = self.text[self.mappings[x[2][0]][5][0]] if x[2] else "unknown"
        names = [self.text[self.functions[message(line)[1][0]][2][0]] for line in x[4]]
        return names or ["[%s]" % os.path.basename(dso)]

    def sample(self, s):
        frames = [f for i in packed(s[1][0]) for f in self.locations[i]] if s[1] else []
        values = packed(s[2][0])
        assert len(values) == len(self.types)
        labels = {}
        for label in map(message, s[3]):
            labels[self.text[label[1][0]]] = \
                self.text[label[2][0]] if label[2] else label[3][0]
        return frames[::-1], values, labels


def folded(path):
    out = collections.Counter()
    for line in open(path, encoding="utf-8", errors="surrogateescape"):
        stack, n = line.rstrip("\n").rsplit(" ", 1)
        out[stack] += int(n)
    return out


def tell(what, got, want):
    """Differences of two counters, the first few."""
    wrong = sorted((k for k in set(got) | set(want) if got[k] != want[k]), key=repr)
    for k in wrong[:5]:
        print("%s: %s: %d, not %d" % (what, k, got[k], want[k]))
    return 1 if wrong else 0


def pprof(path, lines, name=None):
    p = Pprof(path)
    at = [t[0] for t in p.types].index(name or p.default)
    got = collections.Counter()
    for frames, values, labels in p.samples:
        comm = labels["comm"].replace(" ", "_")
        got[";".join([comm] + [f.replace(";", ":") for f in frames])] += values[at]
    return tell(path, +got, folded(lines))


NUMBER = (int, float)
UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}


def keys(x, needed, optional):
    """x is an object with these keys, of these types, and no others."""
    assert isinstance(x, dict) and set(needed) <= set(x) <= set(needed) | set(optional), x.keys()
    for k, kind in {**needed, **optional}.items():
        assert k not in x or (isinstance(x[k], kind) and not isinstance(x[k], bool)), (k, x[k])


def speedscope_file(path):
    """The file, held against www.speedscope.app/file-format-schema.json."""
    d = json.load(open(path, encoding="utf-8"))
    keys(d, {"$schema": str, "shared": dict, "profiles": list},
         {"name": str, "activeProfileIndex": NUMBER, "exporter": str})
    assert d["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    keys(d["shared"], {"frames": list}, {})
    for f in d["shared"]["frames"]:
        keys(f, {"name": str}, {"file": str, "line": NUMBER, "col": NUMBER})
    assert 0 <= d["activeProfileIndex"] < len(d["profiles"])
    for p in d["profiles"]:
        both = {"type": str, "name": str, "unit": str, "startValue": NUMBER, "endValue": NUMBER}
        if p["type"] == "sampled":
            keys(p, dict(both, samples=list, weights=list), {})
            assert len(p["samples"]) == len(p["weights"])
            assert p["endValue"] - p["startValue"] == sum(p["weights"])
        else:
            keys(p, dict(both, events=list), {})
            for e in p["events"]:
                keys(e, {"type": str, "frame": int, "at": NUMBER}, {})
        assert p["unit"] in UNITS
    return d


def stacks_in_time(p):
    """(frames, ns) of an evented profile: closed as they were opened, in the order of time."""
    stack, at = [], p["startValue"]
    for e in p["events"]:
        assert at <= e["at"] <= p["endValue"]
        if e["at"] > at and stack:
            yield list(stack), e["at"] - at
        at = e["at"]
        if e["type"] == "O":
            stack.append(e["frame"])
        else:
            assert e["type"] == "C" and stack.pop() == e["frame"]
    assert not stack


def speedscope(path, lines, column="", in_time=False):
    d = speedscope_file(path)
    names = [f["name"].replace(";", ":") for f in d["shared"]["frames"]]
    got, threads = collections.Counter(), set()
    for p in d["profiles"]:
        who, _, what = p["name"].partition("/")
        tid, _, what = what.partition(" ")
        if what != column or (p["type"] == "evented") != bool(in_time):
            continue
        assert p["name"] not in threads
        threads.add(p["name"])
        comm = who.rpartition(" ")[0].replace(" ", "_")
        pieces = stacks_in_time(p) if in_time else zip(p["samples"], p["weights"])
        for stack, n in pieces:
            got[";".join([comm] + [names[f] for f in stack])] += n
    return tell(path, +got, folded(lines))


def speedscope_time(path, lines):
    return speedscope(path, lines, "", True)


def plain_trace(path):
    """The packets of a Perfetto trace, those inflated that are compressed (trace_packet.proto)."""
    def packets(data):
        for number, packet in fields(data):
            assert number == 1
            packed = message(packet)[50]
            yield from packets(zlib.decompress(packed[0])) if packed else [packet]
    return packets(open(path, "rb").read())


def perfetto_plain(path, out):
    def length(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + length(n >> 7)
    with open(out, "wb") as f:
        for packet in plain_trace(path):
            f.write(b"\x0a" + length(len(packet)) + packet)


class Perfetto:
    """A trace as sets of tuples; times as they stand there."""

    def __init__(self, path):
        self.runs, self.wakings, self.samples, self.slices, self.inner = (collections.Counter()
                                                                          for _ in range(5))
        self.names, self.frames, self.stacks = ({} for _ in range(3)) # by sequence and number
        self.events, self.counts = {}, {}
        self.tracks, self.flows, self.flowing, self.notes = {}, collections.Counter(), {}, []
        self.labels = collections.Counter() # of spans
        self.on, self.open = {}, collections.defaultdict(list)
        for packet in plain_trace(path):
            self.packet(message(packet))
        assert not any(self.open.values()) and not self.flowing
        for cpu, (tid, start) in self.on.items():
            if tid:
                self.runs[tid, cpu, start, None] += 1

    def packet(self, p):
        for b in p[1]:
            self.bundle(message(b))
        seq = p[10][0] if p[10] else None
        for d in map(message, p[59]):
            assert seq not in self.events and p[13] == [1]
            timebase = message(message(d[12][0])[1][0])
            self.events[seq] = timebase[10][0].decode("utf-8")
        for data in map(message, p[12]):
            self.intern(seq, data)
        for s in map(message, p[66]):
            stack = self.stacks[seq, s[4][0]] if s[4] else ()
            tid, cpu = s[3][0] if s[3] else -1, s[1][0] if s[1] else None
            last = self.counts.get((seq, cpu), 0)
            assert s[6][0] >= last
            self.counts[seq, cpu] = s[6][0]
            self.samples[self.events[seq], p[8][0], tid, cpu, stack, s[6][0] - last] += 1
        for t in map(message, p[60]):
            thread = message(t[4][0])[2][0] if t[4] else None
            assert t[1][0] not in self.tracks
            assert thread is None or thread not in {i for i, up in self.tracks.values() if not up}
            if t[5]:
                thread = self.tracks[t[5][0]][0]
            self.tracks[t[1][0]] = thread, t[2][0].decode("utf-8") if t[5] else None
        for x in map(message, p[11]):
            self.edge(x, p[8][0])

    def total(self, event):
        """What an event's samples stand for."""
        return sum(n for (seq, _), n in self.counts.items() if self.events[seq] == event)

    def intern(self, seq, data):
        for s in map(message, data[5]):
            self.names[seq, s[1][0]] = s[2][0].decode("utf-8")
        for f in map(message, data[6]):
            self.frames[seq, f[1][0]] = self.names[seq, f[2][0]]
        for c in map(message, data[7]):
            self.stacks[seq, c[1][0]] = tuple(self.frames[seq, i] for i in c[2])

    def edge(self, x, ns):
        """Slices of a track close in the order in which they were opened, the last first."""
        stack, (thread, group) = self.open[x[11][0]], self.tracks[x[11][0]]
        for flow in x[47]:
            assert x[9][0] == 3 and flow not in self.flowing
            self.flowing[flow] = thread, ns
        for flow in x[48]:
            waker, at = self.flowing.pop(flow)
            assert at == ns and x[9][0] == 1
            self.flows[waker, at, thread] += 1
        if x[9][0] == 1:
            stack.append((x[23][0].decode("utf-8"), ns))
            said = {m[10][0].decode(): m[6][0].decode() if m[6] else m[3][0]
                    for m in map(message, x[4])}
            if said and group:
                self.notes.append(said)
            elif said:
                self.labels[x[23][0].decode("utf-8"), ns, tuple(sorted(said.items()))] += 1
        elif x[9][0] == 2:
            name, start = stack.pop()
            which = self.inner if group and stack else self.slices
            which[thread, group, name, start, ns] += 1

    def bundle(self, b):
        cpu = b[1][0]
        for event in map(message, b[2]):
            ns = event[1][0]
            for s in map(message, event[4]):
                prev, start = self.on.get(cpu, (0, 0))
                assert prev == s[2][0] and start <= ns, "a switch from another thread"
                if prev:
                    self.runs[prev, cpu, start, ns] += 1
                self.on[cpu] = s[6][0], ns
            for w in map(message, event[20]):
                self.wakings[ns, cpu, event[2][0], w[2][0]] += 1


def store_stacks(db):
    """{call path: its names, root first}"""
    frame = dict((i, name or "[%s]" % os.path.basename(dso or "unknown")) for i, name, dso in
                 db.execute("SELECT f.id, s.name, d.name FROM frames f LEFT JOIN symbols s "
                            "ON s.id = symbol_id LEFT JOIN dsos d ON d.id = f.dso_id"))
    stack = {None: ()}
    for i, parent, f in db.execute("SELECT id, parent_id, frame_id FROM call_paths ORDER BY id"):
        stack[i] = stack[parent] + (frame[f],)
    return stack


def inside(db, tid, start, end):
    """What a worst episode consists of: [(name, from, to)], and [(waker, when)]."""
    parts, wakeups = [], []
    for a, b, blocked, cause, unknown, waker in db.execute(
            "SELECT o.start_ns, o.end_ns, blocked_ns, cause, unknown_reason, w.tid FROM offcpu o "
            "JOIN threads t ON t.id = o.thread_id LEFT JOIN threads w ON w.id = waker_thread_id "
            "WHERE t.tid = ? AND o.end_ns > ? AND o.start_ns < ?", (tid, start, end)):
        lo, hi = max(a, start), min(b, end)
        woken = hi if unknown or a + blocked > end else a + blocked
        if woken > lo:
            parts.append(("not running" if unknown else cause, lo, woken))
        if waker is not None and woken == a + blocked >= lo:
            wakeups.append((waker, woken))
            parts.append(("runnable", woken, hi))
        elif max(woken, lo) < hi:
            parts.append(("runnable", max(woken, lo), hi))
    return parts, wakeups


def worst(got, db, tail):
    """The worst episodes: waits are tail's, spans those from p99.9 of their names on, at least ten."""
    origin, = db.execute("SELECT origin_ns FROM recordings").fetchone()
    want, parts, flows = (collections.Counter() for _ in range(3))
    episodes = [("worst waits", x["tid"], "wait: " + x["cause"], x["start_ns"] + origin, x["duration_ns"])
                for x in json.load(open(tail))["episodes"]]
    names = [n for n, in db.execute("SELECT DISTINCT name FROM spans")]
    for name in names:
        spans = db.execute(
            "SELECT t.tid, start_ns, end_ns - start_ns FROM spans JOIN threads t ON t.id = "
            "thread_id WHERE name = ? AND thread_id = end_thread_id AND NOT open AND NOT suspect "
            "ORDER BY 3", (name,)).fetchall()
        first = max(min((len(spans) * 999 + 999) // 1000 - 1, len(spans) - 10), 0)
        least = spans[first][2] if spans else 0
        episodes += [("worst spans", tid, name, a, n) for tid, a, n in spans if n >= least]
    for group, tid, name, a, n in episodes:
        want[tid, group, name, a, a + n] += 1
        slices, wakeups = inside(db, tid, a, a + n)
        for part in slices:
            parts[(tid, group) + part] += 1
        for waker, at in wakeups:
            flows[waker, at, tid] += 1
    assert len(got.notes) == len(episodes) and all("root" in n and "rank" in n for n in got.notes)
    print("%d worst episodes, %d wakeups in them" % (len(episodes), sum(flows.values())))
    worst_slices = collections.Counter({k: n for k, n in got.slices.items() if k[1]})
    return tell("worst", worst_slices, want) | tell("parts", got.inner, parts) | \
        tell("flows", got.flows, flows)


def perfetto(path, store, tail):
    got, db = Perfetto(path), sqlite3.connect(store)
    end, = db.execute("SELECT end_ns FROM recordings").fetchone()
    runs = collections.Counter()
    for tid, cpu, a, b in db.execute(
            "SELECT tid, cpu, start_ns, end_ns FROM thread_states JOIN threads t "
            "ON t.id = thread_id WHERE state = 'running' AND cpu IS NOT NULL"):
        runs[tid, cpu, a, b] += 1
    whole = collections.Counter()
    for (tid, cpu, a, b), n in got.runs.items():
        whole[tid, cpu, a, end if b is None else b] += n
    wakings = collections.Counter(db.execute(
        "SELECT o.start_ns + o.blocked_ns, cpu_wake, coalesce(w.tid, 0), t.tid FROM offcpu o "
        "JOIN threads t ON t.id = o.thread_id LEFT JOIN threads w ON w.id = waker_thread_id "
        "WHERE waker_context IS NOT NULL AND cpu_wake IS NOT NULL AND unknown_reason IS NULL"))
    stack = store_stacks(db)
    samples = collections.Counter(
        (name, ns, tid, cpu, stack[path], period) for name, ns, tid, cpu, path, period in
        db.execute("SELECT e.name, time_ns, coalesce(tid, -1), s.cpu, call_path_id, period FROM "
                   "samples s JOIN selected_events e ON e.id = s.event_id LEFT JOIN threads t ON "
                   "t.id = thread_id"))
    switches = collections.Counter(
        ("sched:sched_switch", ns, tid, cpu, stack[path], 1) for ns, tid, cpu, path in db.execute(
            "SELECT o.start_ns, t.tid, cpu_out, call_path_id FROM offcpu o JOIN threads t "
            "ON t.id = o.thread_id WHERE call_path_id IS NOT NULL"))
    spans = collections.Counter((name, a, b) for name, a, b in db.execute(
        "SELECT name, start_ns, end_ns FROM spans"))
    labels, said = collections.Counter(), collections.defaultdict(list)
    for span, key, value in db.execute("SELECT span_id, key, value FROM labels"):
        said[span].append((key, value))
    for span, name, start, key in db.execute("SELECT id, name, start_ns, key_text FROM spans"):
        if key is not None or said[span]:
            labels[name, start, tuple(sorted(said[span] + [("key", key)] * (key is not None)))] += 1
    losses = collections.Counter((a, b) for a, b in db.execute(
        "SELECT from_ns, to_ns FROM losses"))
    names, slices, others = {n for n, _, _ in spans}, collections.Counter(), collections.Counter()
    for (_, group, name, a, b), n in got.slices.items():
        if name in names and not group:
            slices[name, a, b] += n
        elif not group:
            others[a, b] += n
    print("%d runs, %d wakeups, %d samples, %d switches, %d spans, %d losses, %d labelled" % tuple(
        sum(c.values()) for c in (whole, got.wakings, samples, switches, slices, others, labels)))
    return tell("runs", whole, runs) | tell("wakeups", got.wakings, wakings) | \
        tell("samples", got.samples, samples + switches) | tell("spans", slices, spans) | \
        tell("losses", others, losses) | tell("labels", got.labels, labels) | worst(got, db, tail)


def ns(ms):
    """A time of a profile, which has ms with six decimals."""
    return int(ms * 1000000)


class Firefox:
    """A processed profile of version 60; every table is held against src/types/profile.ts."""

    COLUMNS = {
        "stackTable": "frame prefix",
        "frameTable": "address inlineDepth category subcategory func nativeSymbol innerWindowID "
                      "line column",
        "funcTable": "name isJS relevantForJS resource source lineNumber columnNumber",
        "resourceTable": "lib name host type",
        "nativeSymbols": "libIndex address name functionSize",
        "sources": "uuid filename"}

    def __init__(self, path):
        self.d = json.load(gzip.open(path), parse_float=decimal.Decimal,
                           parse_int=decimal.Decimal)
        assert set(self.d) == {"meta", "libs", "threads", "shared"}
        assert self.d["meta"]["preprocessedProfileVersion"] == 60
        s = self.d["shared"]
        assert set(s) == set(self.COLUMNS) | {"stringArray"}
        for table, columns in self.COLUMNS.items():
            self.table(s[table], columns)
        self.points(s["stackTable"]["frame"], s["frameTable"])
        self.points(s["frameTable"]["func"], s["funcTable"])
        self.points(s["funcTable"]["resource"], s["resourceTable"], -1)
        self.points(s["funcTable"]["source"], s["sources"])
        self.points(s["resourceTable"]["lib"], {"length": len(self.d["libs"])})
        for column in s["funcTable"]["name"], s["resourceTable"]["name"], s["sources"]["filename"]:
            self.points(column, {"length": len(s["stringArray"])})
        self.stacks = {None: ()}
        for i, (parent, frame) in enumerate(zip(s["stackTable"]["prefix"],
                                                s["stackTable"]["frame"])):
            func = s["frameTable"]["func"][int(frame)]
            name = s["stringArray"][int(s["funcTable"]["name"][int(func)])]
            self.stacks[i] = self.stacks[parent] + (name,) # parents come first

    @staticmethod
    def table(t, columns, optional=""):
        assert set(columns.split()) | {"length"} <= set(t), set(t)
        assert set(t) <= set(columns.split()) | set(optional.split()) | {"length"}, set(t)
        for k in set(t) - {"length", "weightType"}:
            assert len(t[k]) == t["length"], k

    @staticmethod
    def points(column, table, none=None):
        assert all(i is None or i == none or 0 <= i < table["length"] for i in column)

    def threads(self):
        for t in self.d["threads"]:
            self.table(t["samples"], "stack time weight weightType", "threadCPUDelta")
            self.table(t["markers"], "data name startTime endTime phase category")
            self.points(t["samples"]["stack"], self.d["shared"]["stackTable"])
            assert t["samples"]["time"] == sorted(t["samples"]["time"])
            assert t["markers"]["startTime"] == sorted(t["markers"]["startTime"])
            yield t

    def markers(self, t):
        for data, name, a, b in zip(*(t["markers"][k] for k in (
                "data", "name", "startTime", "endTime"))):
            kind = next(s for s in self.d["meta"]["markerSchema"] if s["name"] == data["type"])
            assert set(data) <= {f["key"] for f in kind["fields"]} | {"type", "cause"}, data
            yield data, self.d["shared"]["stringArray"][int(name)], ns(a), ns(b)


def firefox(path, store, event):
    got, db = Firefox(path), sqlite3.connect(store)
    origin, = db.execute("SELECT origin_ns FROM recordings").fetchone()
    stack = store_stacks(db)
    samples, waits, spans, losses, cpu = (collections.Counter() for _ in range(5))
    text = lambda data, key: got.d["shared"]["stringArray"][int(data[key])] if key in data else ""
    weight = ns if got.d["threads"][0]["samples"]["weightType"] == "tracing-ms" else int
    for t in got.threads():
        s = t["samples"]
        for at, path_, w in zip(s["time"], s["stack"], s["weight"]):
            if w:
                samples[int(t["tid"]), ns(at), got.stacks[path_], weight(w)] += 1
        for data, name, a, b in got.markers(t):
            if data["type"] == "Wait":
                where = got.stacks[int(data["cause"]["stack"])] if "cause" in data else ()
                waits[int(t["tid"]), name, a, b, ns(data["blocked"]), where,
                      text(data, "waker"), text(data, "wakerStack")] += 1
            elif data["type"] == "Span":
                spans[name, a, b] += 1
            else:
                losses[a, b] += 1
        cpu[int(t["tid"])] += int(sum(s.get("threadCPUDelta", [])[1:]))
    want = collections.Counter(
        (tid, at - origin, stack[path_], period) for tid, at, path_, period in db.execute(
            "SELECT t.tid, time_ns, call_path_id, period FROM samples s JOIN threads t ON t.id = "
            "thread_id JOIN selected_events e ON e.id = s.event_id WHERE e.name = ?", (event,)))
    off = collections.Counter(
        (tid, cause, a - origin, b - origin, blocked, stack[path_], waker or "",
         " < ".join(stack[waker_path][::-1]))
        for tid, cause, a, b, blocked, path_, waker, waker_path in db.execute(
            "SELECT t.tid, cause, start_ns, end_ns, blocked_ns, call_path_id, CASE WHEN w.id IS NULL "
            "THEN waker_context ELSE c.comm || ' ' || w.pid || '/' || w.tid END, "
            "waker_call_path_id FROM offcpu o JOIN threads t ON t.id = thread_id LEFT JOIN threads w "
            "ON w.id = waker_thread_id LEFT JOIN comms c ON c.id = w.comm_id "
            "WHERE end_ns > start_ns"))
    pieces = collections.Counter((n, a - origin, b - origin) for n, a, b in db.execute(
        "SELECT name, start_ns, end_ns FROM spans"))
    lost = collections.Counter((a - origin, b - origin) for a, b in db.execute(
        "SELECT from_ns, to_ns FROM losses"))
    ran = collections.Counter()
    for tid, run in db.execute("SELECT tid, run_ns FROM v_thread_time"):
        ran[tid] += run
    print("%d samples, %d waits, %d spans, %d losses" % tuple(
        sum(c.values()) for c in (samples, waits, spans, losses)))
    bad = tell("samples", samples, want) | tell("waits", waits, off) | \
        tell("spans", spans, pieces) | tell("losses", losses, lost)
    counts = [sum(1 for w in t["samples"]["weight"] if w) for t in got.threads()]
    if max(counts):
        bad |= tell("the thread shown first", collections.Counter(got.d["meta"]["initialSelectedThreads"]),
                    collections.Counter([counts.index(max(counts))]))
    return bad | tell("CPU time", +cpu, collections.Counter({t: ran[t] for t in cpu if cpu[t]}))


if __name__ == "__main__":
    sys.exit({"pprof": pprof, "speedscope": speedscope,
              "speedscope-time": speedscope_time, "perfetto": perfetto, "perfetto-plain": perfetto_plain,
              "firefox": firefox}[sys.argv[1]](*sys.argv[2:]))
