#!/usr/bin/env python3
"""Recordings as Android's simpleperf writes them: simpleperf.py file|file2|twice|many|cut:N > perf.data

One thread, 70: samples in /data/app (hot at 0x1010, caller at 0x1110), in the kernel, in generated
code; three switch-outs whose sched:sched_switch samples have stacks but no fields. The symbols are
in the sections FILE (older: the place of min_vaddr is not said) or FILE2; cut:N: of FILE2 only N bytes;
twice: another process has another file at the path /data/app; many: 6000 files are sampled, and FILE2
lists 600,000 others.
"""
import struct
import sys

MAPPED, PGOFF, VADDR = 0x5000000000, 0x1000, 0x21000  # the segment of code: offset 0x1000, address 0x21000
JIT = 0x70000000
KERNEL = 0xffffffc010001000
SAMPLE = 1 | 2 | 4 | 32 | 64 | 128 | 256  # IP TID TIME CALLCHAIN ID CPU PERIOD
TYPE = {"kernel": 0, "elf": 2}


def attr(kind, config, flags):
    a = struct.pack("<IIQQQQQ", kind, 112, config, 1, SAMPLE, 4, flags)  # read_format ID
    return a + bytes(112 - len(a))


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def ids(time, event=1):
    return struct.pack("<IIQQII", 70, 70, time, event, 0, 0)


def sample(time, event, stack):
    ip = stack[0]
    chain, last = [], None
    for at in stack:
        context = -128 if at >> 63 else -512
        if context != last:
            chain.append(context & (1 << 64) - 1)
            last = context
        chain.append(at)
    body = struct.pack("<QIIQQIIQQ", ip, 70, 70, time, event, 0, 0, 1000000 if event == 1 else 1, len(chain))
    return record(9, 1 if ip >> 63 else 2, body + struct.pack("<%dQ" % len(chain), *chain))


def padded(text):
    return text.encode() + bytes(8 - len(text) % 8)


def mmap2(pid, start, size, pgoff, prot, name, misc=2, inode=0):
    return record(10, misc, struct.pack("<IIQQQIIQQII", pid & 0xffffffff, 0, start, size, pgoff, 8, 1, inode, 0, prot, 0) + padded(name) + ids(1))


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(no, value):
    if isinstance(value, int):
        return varint(no << 3) + varint(value)
    return varint(no << 3 | 2) + varint(len(value)) + value


FILES = [
    ("[kernel.kallsyms]", "kernel", 0, [(KERNEL - 0x10, 0x100, "do_work")]),
    ("/data/other", "elf", 0, [(VADDR, 0x1000, "wrong")]),
    ("/data/app", "elf", VADDR, [(VADDR, 0x100, "_ZN3app3hotEv"), (VADDR + 0x100, 0x80, "caller")]),
]


def file_section():
    out = b""
    for path, kind, vaddr, symbols in FILES:
        b = path.encode() + b"\0" + struct.pack("<IQI", TYPE[kind], vaddr, len(symbols))
        for start, size, name in symbols:
            b += struct.pack("<QI", start, size) + name.encode() + b"\0"
        out += struct.pack("<I", len(b)) + b
    return out


def file2_section():
    out = b""
    for path, kind, vaddr, symbols in FILES + [("app_cache:0-100", "elf", 0, [(JIT, 0x100, "app.Main.run")])]:
        b = field(1, path.encode()) + field(2, TYPE[kind]) + field(3, vaddr)
        for start, size, name in symbols:
            b += field(4, field(1, start) + field(2, size) + field(3, name.encode()))
        b += field(6, field(1, PGOFF if path == "/data/app" else 0)) if kind == "elf" else b""
        out += struct.pack("<I", len(b)) + b
    return out


def main():
    how = sys.argv[1]
    app = [MAPPED + 0x10, MAPPED + 0x110]
    wait = [MAPPED + 0x20, MAPPED + 0x110]
    flags = 1 << 18 | 1 << 13 | 1 << 8 | 1 << 23  # sample_id_all, comm, mmap, mmap2
    data = record(3, 0, struct.pack("<II", 70, 70) + padded("app") + ids(1))
    data += mmap2(-1, 0, (1 << 64) - 1, 0, 0, "[kernel.kallsyms]", 1)
    data += mmap2(70, MAPPED, 0x1000, PGOFF, 5, "/data/app", inode=7)
    if how == "twice":
        data += mmap2(71, MAPPED, 0x1000, PGOFF, 5, "/data/app", inode=9)
    data += mmap2(70, JIT, 0x1000, 0, 0x4005, "app_cache:0-100")
    many = range(MAPPED * 2, MAPPED * 2 + 6000 * 4096, 4096) if how == "many" else []
    data += b"".join(mmap2(70, at, 4096, 0, 5, "/data/%x" % at, inode=at) for at in many)
    data += b"".join(sample(1000000, 1, [at]) for at in many)
    t = 1000000
    data += record(14, 0, ids(t))  # in
    for i in range(3):
        data += sample(t + 1000000, 1, app)
        data += sample(t + 2000000, 1, [KERNEL] + app)
        data += sample(t + 3000000, 1, [JIT + 8] + app[1:])
        data += sample(t + 4000000, 2, wait)
        data += record(14, 1 << 13, ids(t + 4010000))  # out
        t += 10000000
        data += record(14, 0, ids(t))
    data += sample(t + 1000000, 1, app)
    meta = b"simpleperf_version\0001.test\0event_type_info\0cpu-clock,1,0\nsched:sched_switch,2,91\0"
    features = {129: meta}
    if how == "file":
        features[128] = file_section()
    elif how.startswith("cut:"):
        features[132] = file2_section()[:int(how[4:])]
    else:
        features[132] = file2_section() + (struct.pack("<I", 3) + field(1, b"x")) * (600000 if many else 0)
    attrs = [attr(1, 0, flags | 1 << 26), attr(2, 91, flags)]
    attr_size = 128
    ids_at = 104
    attrs_at = ids_at + 16
    data_at = attrs_at + attr_size * len(attrs)
    bits = [0, 0, 0, 0]
    for bit in features:
        bits[bit // 64] |= 1 << bit % 64
    out = struct.pack("<8sQQQQQQQQ4Q", b"PERFILE2", 104, attr_size, attrs_at, attr_size * len(attrs), data_at, len(data), 0, 0, *bits)
    out += struct.pack("<QQ", 1, 2)
    for i, a in enumerate(attrs):
        out += a + struct.pack("<QQ", ids_at + 8 * i, 8)
    out += data
    at = len(out) + 16 * len(features)
    for bit in sorted(features):
        out += struct.pack("<QQ", at, len(features[bit]))
        at += len(features[bit])
    for bit in sorted(features):
        out += features[bit]
    sys.stdout.buffer.write(out)


main()
