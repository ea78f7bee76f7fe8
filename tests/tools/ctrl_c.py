"""ctrl_c.py PERFKIT RECORDING: Ctrl-C on a terminal while a pipe gives the recording slowly:
perfkit must end by the signal, and leave nothing where it was to write."""
import os
import pty
import signal
import subprocess
import sys
import tempfile
import time

perfkit, recording = sys.argv[1:3]
signal.alarm(30)
data = open(recording, "rb").read()
with tempfile.TemporaryDirectory() as tmp:
    master, slave = pty.openpty()
    p = subprocess.Popen([perfkit, "svg", "--offcpu", "-o", tmp + "/out.svg", "-"],
                         stdin=subprocess.PIPE, stdout=slave, stderr=slave,
                         # a script's background jobs inherit that it is ignored
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    os.close(slave)
    for at in range(12):
        p.stdin.write(data[at * 4096:(at + 1) * 4096])
        p.stdin.flush()
        time.sleep(0.1)
    p.send_signal(signal.SIGINT)
    rc = p.wait(timeout=10)
    ok = rc == -signal.SIGINT and not os.listdir(tmp)
    if not ok:
        print("exit %d, left %r" % (rc, os.listdir(tmp)))
    sys.exit(not ok)
