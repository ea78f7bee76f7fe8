# loop_stream.py STREAM SECONDS [PACE] - what perf record -o - wrote, again and again until so many
# seconds of its own clock are over: each round later than the last by the stream's length. PACE
# is how many of them go by in a second (0: as fast as they are taken).
import struct, sys, time
data = bytearray(open(sys.argv[1], "rb").read())
length, pace = float(sys.argv[2]) * 1e9, float(sys.argv[3]) if len(sys.argv) > 3 else 0
IP, TID, TIME, ID, STREAM, CPU, IDENT = 1, 2, 4, 1 << 6, 1 << 9, 1 << 7, 1 << 16
at, header, records, times, kind = 16, [(0, 16)], [], [], None
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
        if t != 68:
            times.append(where)
        records.append((at, at + size))
    at += size + extra
stamp = [struct.unpack_from("<Q", data, w)[0] for w in times]
first, last = min(x for x in stamp if x), max(stamp)
out = sys.stdout.buffer
for a, b in header:
    out.write(data[a:b])
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
body, shift, start = bytearray(body), 0, time.time()
try:
    while shift < length:
        for p, s in zip(places, stamp):
            if s:
                struct.pack_into("<Q", body, p, s + shift)
        out.write(body)
        out.flush()
        shift += last - first + 1000000
        if pace:
            time.sleep(max(0, shift / 1e9 / pace - (time.time() - start)))
except BrokenPipeError:
    pass
