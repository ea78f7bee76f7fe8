#!/usr/bin/env python3
"""told.py FORMS JSON TEXT: the sentences of `perfkit tail --json`, worded from `said` and
docs/tail-forms.json alone as docs/tail-json.md says, are those of the text (--details of all)."""
import json
import re
import sys

UNITS = (1, "ns"), (1000, "us"), (10**6, "ms"), (10**9, "s")


def unit_of(ns):
    return UNITS[0 if ns < 1000 else 1 if ns < 999500 else 2 if ns < 999500000 else 3]


def time(ns, unit):
    by, name = unit
    tenths = (ns * 10 + by // 2) // by
    if by == 1 or tenths >= 1000:
        return f"{(ns * 2 + by) // (2 * by)} {name}"
    return f"{tenths // 10}.{tenths % 10} {name}"


def part(ns, whole):
    unit = unit_of(whole)
    return time(ns, unit_of(ns) if ns and ns < unit[0] // 20 else unit)


def size(x):
    names = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    i = 0
    while x >= 1023.5 and i < 4:
        x, i = x / 1024, i + 1
    digits = 0 if not i or x >= 99.95 else 1 if x >= 9.995 else 2
    return f"{x:.{digits}f} {names[i]}"


def put(clause, name, how):
    x = clause[name]
    if not how:
        return str(x)
    if how == ",":
        return f"{x:,}"
    if how == "@time":
        return time(x, unit_of(x))
    if how == "@part":
        return part(x, clause[name + "_of"])
    if how == "@bytes":
        return size(x)
    if how == "@share":
        return f"{x / 1000:.1f} %" if x < 10000 else f"{(x + 500) // 1000} %"
    one, many = how.split("|")
    return f"{x:,} {one if x == 1 else many}"


def words(forms, clause):
    def place(m):
        return put(clause, m[1], m[2]) if m[1] in clause else "\0"
    text = re.sub(r"\[([^][]*)\]", lambda m: "" if any(
        n not in clause for n in re.findall(r"\{(\w+)", m[1])) else m[1], forms[clause["form"]])
    return re.sub(r"\{(\w+):?([^}]*)\}", place, text)


def main():
    forms, answer = (json.load(open(p)) for p in sys.argv[1:3])
    text = " ".join(open(sys.argv[3]).read().split())
    said = [(answer["said"], answer["answer"])] + [
        (e["root"]["said"], "root cause: " + e["root"]["sentence"]) for e in answer["episodes"]]
    for clauses, sentence in said:
        own = "".join(words(forms, c) for c in clauses)
        if sentence.startswith("root cause: "):
            own = "root cause: " + own
        if own != sentence:
            sys.exit(f"worded  {own}\nbut is  {sentence}")
        if " ".join(own.rstrip(".").split()) not in text:
            sys.exit(f"the text lacks: {own}")
    if len(said) < 2:
        sys.exit("no episode")


main()
