#!/usr/bin/env python3
"""exportcheck.py pprof PROFILE FOLDED [TYPE]
exportcheck.py speedscope FILE FOLDED [COLUMN]
exportcheck.py speedscope-time FILE FOLDED: what other tools open says what perfkit says.

pprof: reads PROFILE (profile.proto, gzipped) with a decoder of its own: every reference leads
somewhere, every string is UTF-8, and its samples of TYPE (default: the profile's own default),
folded, are the lines of FOLDED, which collapse wrote.

speedscope: FILE keeps to the published schema, and its sampled profiles, folded by the comm in
their names, are the lines of FOLDED. speedscope-time: the same of evented ones, where FOLDED has
the frames of spans, too, or there are none."""
import collections
import gzip
import json
import os
import sys


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
        assert key & 7 in (0, 2), "wire type %d" % (key & 7)
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
    wrong = sorted(k for k in set(got) | set(want) if got[k] != want[k])
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


if __name__ == "__main__":
    sys.exit({"pprof": pprof, "speedscope": speedscope,
              "speedscope-time": speedscope_time}[sys.argv[1]](*sys.argv[2:]))
