#!/usr/bin/env python3
"""check_tail.py TAIL.json NAME COMM CAUSE FUNCTION - is the group of rank 1 the planted cause?
COMM, CAUSE and FUNCTION are alternatives separated by "|"; "-" takes any. CAUSE "running" stands
for code that ran."""
import json
import sys

tail = json.load(open(sys.argv[1]))
name, comm, cause, function = sys.argv[2:6]
if not tail["groups"]:
    sys.exit(f"{name}: no episodes")
root = tail["groups"][0]["root"]
got = {"comm": root.get("comm"), "cause": root.get("cause") or root.get("state"),
       "function": root.get("function")}
bad = [k for k, want in (("comm", comm), ("cause", cause), ("function", function))
       if want != "-" and got[k] not in want.split("|")]
share = tail["groups"][0]["share"]
print(f"{name}: {got['comm']}, {got['cause']}, {got['function']}, share {share:.2f}"
      + (" WRONG: " + ", ".join(bad) if bad else ""))
sys.exit(1 if bad else 0)
