#!/usr/bin/env python3
"""bombs.py FOLDER - small inputs that stand for much, for tests/cli/bounds.sh.

nested.data.zst   a few hundred bytes: zstd around a recording whose COMPRESSED records hold 2.4 GB of
                  samples, at a ratio that each layer may have by itself
long.tar.zst      a bundle whose perf map names one function in 400,000 bytes, in 100 stacks of 1,500
                  such frames; two more functions differ in their last letter only
events.data       samples of 16,000 events, each of a kind of core of its own
"""
import io, os, struct, subprocess, sys, tarfile

IP, TID, TIME, CALLCHAIN, ID, CPU = 1, 2, 4, 32, 64, 128
USER = 2


def record(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def comm(pid, name):
    name += b"\0" * (8 - len(name) % 8)
    return record(3, struct.pack("<II", pid, pid) + name)


def mmap2(pid, start, size, name):
    name += b"\0" * (8 - len(name) % 8)
    ids = struct.pack("<IIQQ", 0, 0, 0, 0)
    return record(10, struct.pack("<IIQQQ", pid, pid, start, size, 0) + ids + struct.pack("<II", 7, 2) + name, USER)


def perf_data(sample_type, data, compressed=False):
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1000000, sample_type, 0, 0)
    attr += b"\0" * (112 - len(attr)) + struct.pack("<QQ", 0, 0)
    features = 1 << 27 if compressed else 0
    at = 104 + len(attr)
    head = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 128, 104, len(attr), at, len(data), 0, 0)
    head += struct.pack("<QQQQ", features, 0, 0, 0)
    tail = b""
    if compressed:
        body = struct.pack("<IIIII", 1, 1, 1, 0, 0)
        tail = struct.pack("<QQ", at + len(data) + 16, len(body)) + body
    return head + attr + data + tail


def many_events(n):
    attr = struct.pack("<IIQQQQQ", 4, 112, 0, 1, IP | TID | TIME | ID, 4, 0) + bytes(64)
    ids, attrs = 104, 104 + 8 * n
    head = b"".join(attr + struct.pack("<QQ", ids + 8 * i, 8) for i in range(n))
    data = comm(100, b"x") + b"".join(record(9, struct.pack("<QIIQQ", 0x10010, 100, 100, 1000 + i, i), USER) for i in range(n))
    desc = struct.pack("<II", n, len(attr))
    for i in range(n):
        desc += attr + struct.pack("<II32sQ", 1, 32, b"cpu_%d/event_%d/" % (i, i), i)
    at = attrs + len(head)
    end = at + len(data)
    out = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 128, attrs, len(head), at, len(data), 0, 0)
    out += struct.pack("<QQQQ", 1 << 12, 0, 0, 0) + struct.pack("<%dQ" % n, *range(n)) + head + data
    return out + struct.pack("<QQ", end + 16, len(desc)) + desc


def zstd(data, *options):
    return subprocess.run(["zstd", "-q", "-c", *options], input=data, stdout=subprocess.PIPE, check=True).stdout


def nested():
    one = record(9, struct.pack("<QIIQII", 0x10010, 100, 100, 1000, 0, 0), USER)
    packed = record(81, zstd(one * 10000, "-19", "--no-check"))
    return zstd(perf_data(IP | TID | TIME | CPU, comm(100, b"x") + packed * 6000, True), "-19")


def long_names():
    frames, stacks, length = 1500, 100, 400000
    data = comm(100, b"jit") + mmap2(100, 0x10000, 0x100000, b"//anon")
    for i in range(stacks):
        chain = [2**64 - 512] + [0x10010] * (frames - 1) + [0x20000 + i * 16]
        body = struct.pack("<QIIQQ", 0x10010, 100, 100, 1000 + i, len(chain))
        data += record(9, body + struct.pack("<%dQ" % len(chain), *chain), USER)
    name = "A" * length
    names = "10000 1000 %s\n20000 10 %sB\n20010 10 %sC\n" % (name, name, name)
    names += "".join("%x 10 f%d\n" % (0x20000 + i * 16, i) for i in range(2, stacks))
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, content in (("MANIFEST", b"perfkit-bundle 1\n"),
                              ("perf.data", perf_data(IP | TID | TIME | CALLCHAIN, data)),
                              ("symfs/tmp/perf-100.map", names.encode())):
            info = tarfile.TarInfo(path)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return zstd(out.getvalue(), "-19")


if __name__ == "__main__":
    makers = (("nested.data.zst", nested), ("long.tar.zst", long_names), ("events.data", lambda: many_events(16000)))
    for file, make in makers:
        with open(os.path.join(sys.argv[1], file), "wb") as f:
            f.write(make())
