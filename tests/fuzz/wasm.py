#!/usr/bin/env python3
"""wasm.py O SECONDS [SEED]: damaged recordings and all inputs that fuzzing has found, asked of the native
program and of WebAssembly in node (`make npm`). A trap is a line "internal error"; whatever differs
is printed with its seed, and the exit status is 1."""
import glob
import gzip
import os
import random
import subprocess
import sys
import tempfile
import time

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, SRC + "/tests")
import mutate

ASKED = (["report"], ["tail", "--p50", "--force"], ["doctor"], ["collapse", "--all"], ["html", "--force"],
         ["svg", "--wall", "--force"], ["timeline", "--force"], ["export", "--to", "perfetto"])
SKIPPED = "sandbox", "out of memory", "would be needed"


def models():
    paths = [p for p in sorted(glob.glob(SRC + "/testdata/**", recursive=True))
             if p.endswith((".data", ".data.gz", ".tar.zst")) and os.path.isfile(p) and os.path.getsize(p) < 1 << 20]
    for path in paths:
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
            data = f.read()
        if len(data) < 1 << 20:
            yield os.path.relpath(path, SRC), data


def run(program, cwd):
    try:
        p = subprocess.run(program, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=120)
    except subprocess.TimeoutExpired:
        return None, b"", b"longer than 120 s"
    return p.returncode, p.stdout, p.stderr


def main():
    out, seconds = os.path.abspath(sys.argv[1]), float(sys.argv[2])
    seed = int(sys.argv[3]) if sys.argv[3:] else random.randrange(1 << 30)
    begin, inputs, differing = time.time(), 0, 0
    wasm, all_models = ["node", out + "/npm/package/perfkit-cli.js"], list(models())
    found = [p for p in sorted(glob.glob(SRC + "/tests/fuzz/found/**", recursive=True)) if os.path.isfile(p)]
    with tempfile.TemporaryDirectory() as cwd:
        while time.time() - begin < seconds:
            if inputs < len(found):
                name = os.path.relpath(found[inputs], SRC)
                data = open(found[inputs], "rb").read()
            else:
                name, model = random.Random(seed).choice(all_models)
                name, data = "mutant %d of %s" % (seed, name), mutate.mutate(model, seed)
                seed += 1
            with open(cwd + "/x", "wb") as f:
                f.write(data)
            words = ASKED[inputs % len(ASKED)]
            args = words[:1] + ["--no-local"] + words[1:] + ["x"]
            was, now = run([out + "/perfkit"] + args, cwd), run(wasm + args, cwd)
            inputs += 1
            if b"internal error" in now[2] or now != was and not any(s.encode() in was[2] + now[2] for s in SKIPPED):
                differing += 1
                print("%s: %s: status %s, was %s: %s" % (name, " ".join(words), now[0], was[0],
                                                         (now[2] if now[2] != was[2] else b"stdout").decode(errors="replace")[:300]), flush=True)
    print("%d inputs in %.0f s, differing: %d" % (inputs, time.time() - begin, differing))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
