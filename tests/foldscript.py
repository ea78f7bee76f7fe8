#!/usr/bin/env python3
"""foldscript.py [FILE.gz]: fold the text of `perf script` (stdin by default), first event only:
the witness of live recordings, where no stored answer can be. Knows just what the tests need:
comm, frames root first, unnamed frames by their DSO, arguments cut, names that begin with a
bracket dropped, sums of periods (1 for a sample without time)."""
import gzip
import re
import sys

head = re.compile(r"^\s*(\S.*)\s+(-?\d+(?:/-?\d+)?)\s+(?:\[\d+\]\s+)?\d+\.\d+:\s+(?:(\d+)\s+)?"
                  r"([^\s:]\S*?):(?:\s(.*))?$")
timeless = re.compile(head.pattern.replace(r"\d+\.\d+:\s+(?:(\d+)\s+)?", r"(\d+)\s+"))
frame = re.compile(r"^\s*([0-9a-f]+) (.+) \((.*)\)$")


def tidy(text):
    m = frame.match(text)
    name, dso = re.sub(r"\+0x[0-9a-f]+$", "", m.group(2)), m.group(3)
    if name == "[unknown]":
        return "[%s]" % ("unknown" if dso == "[unknown]" else dso.rsplit("/", 1)[-1])
    name = name.replace(";", ":")
    if not re.search(r"\.\(.*\)\.", name):
        name = re.sub(r"\((?!anonymous namespace\)).*", "", name)
    return name.translate({ord('"'): None, ord("'"): None})


def main():
    text = gzip.open(sys.argv[1], "rt") if len(sys.argv) > 1 else sys.stdin
    sums, first, sample, frames = {}, None, None, []

    def finish():
        if sample and sample[1] == first:
            stack = ";".join([sample[0]] + frames[::-1])
            sums[stack] = sums.get(stack, 0) + sample[2]

    for line in text:
        line = line.rstrip("\n")
        timed = None if line.startswith("\t") else head.match(line)
        m = timed or (None if line.startswith("\t") else timeless.match(line))
        if m:
            finish()
            comm, _, period, event, rest = m.groups()
            first = first or event
            plain = not rest or frame.match(rest)
            sample = (comm.rstrip().replace(" ", "_").replace(";", ":"), event,
                      int(period or 1) if plain and timed else 1)
            frames = [tidy(rest)] if rest and frame.match(rest) else []
        elif frame.match(line):
            frames += [f for f in [tidy(line)] if not f.startswith("(")]
    finish()
    for stack in sorted(sums, key=lambda s: s.encode("utf-8", "surrogateescape")):
        print(stack, sums[stack])


main()
