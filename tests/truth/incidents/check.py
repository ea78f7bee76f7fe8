"""check.py FOLDER [KIND...]: asks `tail` about the recordings of record.sh, and judges its opening sentence by
expected.txt and kept.txt: mechanism, thread and actor (the thread, and what it did), with --comm and
without. PERFKIT names the program; -v prints all sentences.
"""
import os
import re
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
args = [a for a in sys.argv[1:] if a != "-v"]
verbose, folder, kinds = "-v" in sys.argv, args[0], args[1:]
perfkit = os.environ.get("PERFKIT", "perfkit")
right = {}


def opening(kind, comm):
    """The text up to the line that says what was asked."""
    command = [perfkit, "tail", "-q", "--details", "0", f"{folder}/{kind}.data"] + (["--comm", comm] if comm else [])
    text = subprocess.run(command, capture_output=True, text=True).stdout
    return " ".join(re.split(r"^tail by ", text, flags=re.M)[0].split())


for of, line in [(of, line) for of in ("expected", "kept") for line in open(f"{here}/{of}.txt")]:
    if line.startswith("#") or not line.strip():
        continue
    kind, comm, mechanism, actor = (x.strip() for x in line.split(" ; "))
    if (kinds and kind not in kinds) or not os.path.exists(f"{folder}/{kind}.data"):
        continue
    logged = sum(1 for _ in open(f"{folder}/{kind}.log")) if os.path.exists(f"{folder}/{kind}.log") else 0
    for asked in (comm, ""):
        said = opening(kind, asked)
        thread = actor if ".*" not in actor else re.search(r"[\w-]+", actor)[0]
        got = [x == "-" or bool(re.search(x, said)) for x in (mechanism, thread, actor)]
        right.setdefault(f"{of}.txt, {'with' if asked else 'without'}", []).append(got)
        print(f"{kind:10} {'--comm ' + asked if asked else '':14} mechanism {'ok' if got[0] else '--'}, "
              f"thread {'ok' if got[1] else '--'}, actor {'ok' if got[2] else '--'}  ({logged} slow, {len(said)} chars)")
        if verbose or not all(got):
            print("           " + said)
for asked, all_ in right.items():
    print(f"{asked} --comm: " +
          ", ".join(f"{what} {sum(g[i] for g in all_)}" for i, what in enumerate(("mechanism", "thread", "actor"))) +
          f" of {len(all_)}")
