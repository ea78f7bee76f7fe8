# loop_stream.py STREAM SECONDS [PACE [LOSE [THIN]]] - what perf record -o - wrote, again and again
# until so many seconds of its own clock are over: each round later than the last by the stream's
# length. PACE is how many of them go by in a second (0: as fast as they are taken). With LOSE, what
# is forked in the stream has new numbers in each round, and that share of the exits is lost, as is
# said by a LOST record. THIN keeps one of so many samples.
import os, struct, sys, time
data = bytearray(open(sys.argv[1], "rb").read())
length, pace = float(sys.argv[2]) * 1e9, float(sys.argv[3]) if len(sys.argv) > 3 else 0
lose, thin = float(sys.argv[4]) if len(sys.argv) > 4 else None, int(sys.argv[5]) if len(sys.argv) > 5 else 1
IP, TID, TIME, ID, STREAM, CPU, IDENT = 1, 2, 4, 1 << 6, 1 << 9, 1 << 7, 1 << 16
at, header, records, times, kind = 16, [(0, 16)], [], [], None
MMAP, LOST, COMM, EXIT, FORK, SAMPLE, MMAP2 = 1, 2, 3, 4, 7, 9, 10
tasks, lost, samples, exits, born = [], 0, 0, 0, {}  # places of process and thread numbers
while at + 8 <= len(data):
    t, misc, size = struct.unpack_from("<IHH", data, at)
    if at + size > len(data):
        break
    extra = 0
    if t == 66:
        extra = (struct.unpack_from("<I", data, at + 8)[0] + 7) & ~7
    if t == 64 and kind is None:
        kind = struct.unpack_from("<Q", data, at + 8 + 24)[0]
    if t >= 64 and t != 68:
        header.append((at, at + size + extra))
    else:
        if t == 9:
            where = at + 8 + 8 * bool(kind & IDENT) + 8 * bool(kind & IP) + 8 * bool(kind & TID)
        else:
            where = at + size - 8 * (1 + sum(bool(kind & b) for b in (ID, STREAM, CPU, IDENT)))
        samples += t == SAMPLE
        exits += t == EXIT
        if t == SAMPLE and samples % thin:
            at += size
            continue
        if t == EXIT and lose and int(exits * lose) > int((exits - 1) * lose):
            lost += 1
            at += size
            continue
        if lose is not None and t in (MMAP, MMAP2, COMM, EXIT, FORK, SAMPLE):
            ids = at + 8 + (8 * bool(kind & IDENT) + 8 * bool(kind & IP) if t == SAMPLE else 0)
            n = 4 if t in (EXIT, FORK) else 2
            tasks += [ids + 4 * i for i in range(n)]
            if t == FORK:
                born.setdefault(struct.unpack_from("<I", data, ids + 8)[0], len(born))
        if t != 68:
            times.append(where)
        records.append((at, at + size))
    at += size + extra
stamp = [struct.unpack_from("<Q", data, w)[0] for w in times]
first, last = min(x for x in stamp if x), max(stamp)

def put(part):  # a buffered writer loses its place when the process is stopped in a write
    part = memoryview(part)
    while len(part):
        part = part[os.write(1, part):]

for a, b in header:
    put(data[a:b])
body = b"".join(data[a:b] for a, b in records)
begin = records[0][0]
places, o = [], 0
it = iter(times)
w = next(it, None)
for a, b in records:  # places of times in `body`
    if w is not None and a <= w < b:
        places.append(o + w - a)
        w = next(it, None)
    o += b - a
it, o, new = iter(tasks), 0, []
w = next(it, None)
for a, b in records:  # the same for the numbers of what is born in the stream
    while w is not None and a <= w < b:
        number = struct.unpack_from("<I", data, w)[0]
        if number in born:
            new.append((o + w - a, born[number]))
        w = next(it, None)
    o += b - a
body, shift, start, turn = bytearray(body), 0, time.time(), 0
try:
    while shift < length:
        for p, s in zip(places, stamp):
            if s:
                struct.pack_into("<Q", body, p, s + shift)
        for p, n in new:
            struct.pack_into("<I", body, p, 5000000 + turn * len(born) + n)
        turn += 1
        put(body)
        if lost:
            # without a time of its own: perf knows none of what it did not see
            put(struct.pack("<IHHQQ", LOST, 0, 24, 0, lost))
        shift += last - first + 1000000
        if pace:
            time.sleep(max(0, shift / 1e9 / pace - (time.time() - start)))
except BrokenPipeError:
    pass
