"""holders.py LOG SECONDS LIBRARY - threads of a CPython server that compute below the GIL, in calls that do
not let it go. The log says when each such call ran: "hold TID START_NS END_NS"."""
import ctypes
import random
import socket
import sys
import threading
import time

held = ctypes.PyDLL(sys.argv[3])  # calls keep the GIL
held.hold.argtypes, held.hold_write.argtypes = [ctypes.c_uint64], [ctypes.c_char_p]
stop = time.monotonic() + float(sys.argv[2])


def serve(sock, seed):
    pick = random.Random(seed)
    while sock.recv(1):
        if pick.random() < 0.4:
            held.hold(pick.randrange(4, 30) * 1000000)
        else:
            sum(i * i for i in range(pick.randrange(500, 20000)))
        sock.send(b".")


def ask(sock, seed):
    pick = random.Random(seed)
    while time.monotonic() < stop:
        sock.send(b"?")
        sock.recv(1)
        time.sleep(pick.random() * 0.1)
    sock.close()


threads = []
for n in range(5):
    client, server = socket.socketpair()
    threads += [threading.Thread(target=serve, args=(server, n)),
                threading.Thread(target=ask, args=(client, 100 + n))]
for t in threads:
    t.start()
for t in threads:
    t.join()
held.hold_write(sys.argv[1].encode())
