#!/bin/sh
# What takes longer than a second says so on a terminal, removes that line, and says nothing in a
# file or with -q. A pipe that gives the recording slowly makes it last.
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
cat >terminal.py <<'END'
import os, pty, subprocess, sys, threading, time
perfkit, recording = sys.argv[1:3]
data = open(recording, "rb").read()

def said(*args):
    master, slave = pty.openpty()
    p = subprocess.Popen([perfkit, *args, "--no-local", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                         stderr=slave)
    os.close(slave)
    def feed():
        for at in range(8):
            p.stdin.write(data[at * len(data) // 8:(at + 1) * len(data) // 8])
            p.stdin.flush()
            time.sleep(0.25)
        p.stdin.close()
    feeder = threading.Thread(target=feed)
    feeder.start()
    text = b""
    while True:
        try:
            got = os.read(master, 4096)
        except OSError: # all writers have closed it
            break
        if not got:
            break
        text += got
    feeder.join()
    assert p.wait() == 0, (args, p.returncode, text)
    return text.decode()

for verb in (["report"], ["tail"], ["svg", "--offcpu"], ["collapse"]):
    text = said(*verb)
    assert "\rreading: " in text and " s " in text, (verb, text)
    before, _, after = text.rpartition("\rreading: ")
    assert "\r\x1b[K" in after and "perfkit: reading" not in text, (verb, text)
    assert "reading" not in said(*verb, "-q"), verb
END
python3 terminal.py "$PERFKIT" "$SRC/testdata/waits/perf.data" || exit 1
"$PERFKIT" report --no-local - <"$SRC/testdata/waits/perf.data" 2>err >/dev/null
! grep reading err
