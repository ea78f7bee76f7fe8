"""mutate.py: damaged recordings, made of whole ones. mutate(data, seed) gives the same bytes for
the same seed.

A perf.data file is taken apart at the record headers; what is changed is a record's bytes, its
place in the sequence stays."""
import random
import struct

SAMPLE, LOST, COMM, EXIT, FORK, MMAP2 = 9, 2, 3, 4, 7, 10
GUEST_KERNEL, GUEST_USER, KERNEL, USER, HYPERVISOR = 4, 5, 1, 2, 3


class File:
    """Header and records of a perf.data file; what lies behind them stays behind them."""

    def __init__(self, data):
        self.head, self.tail, self.records = data, b"", []
        if data[:8] != b"PERFILE2" or len(data) < 104 or data[8] != 104:
            return  # a pipe's, or none
        at, size = struct.unpack_from("<QQ", data, 40)
        end = min(at + size, len(data)) if size else len(data)
        self.head, self.tail, self.size = data[:at], data[end:], size
        while at + 8 <= end:
            n, = struct.unpack_from("<H", data, at + 6)
            if n < 8 or at + n > end:
                break
            self.records.append(bytearray(data[at:at + n]))
            at += n
        self.rest = data[at:end]
        self.end = end

    def bytes(self):
        """Put together again: offsets in the header move with the records' size."""
        if not self.records:
            return self.head + self.tail
        body = b"".join(self.records) + self.rest
        head, tail = bytearray(self.head), bytearray(self.tail)
        at, = struct.unpack_from("<Q", head, 40)
        moved = at + len(body) - self.end
        if self.size:
            struct.pack_into("<Q", head, 48, len(body))
        if moved and self.size:  # the feature table, and what it points to
            for i in range(bits_set(head)):
                if 16 * i + 8 > len(tail):
                    break
                offset, = struct.unpack_from("<Q", tail, 16 * i)
                struct.pack_into("<Q", tail, 16 * i, (offset + moved) % (1 << 64))
        return bytes(head + body + tail)

    def of_type(self, *types):
        return [r for r in self.records if struct.unpack_from("<I", r)[0] in types]


def bits_set(head):
    return sum(bin(b).count("1") for b in head[72:104])


def flip_bytes(f, rng):
    """Up to four bytes anywhere behind a record's header."""
    for _ in range(rng.randint(1, 4)):
        r = rng.choice(f.records)
        if len(r) > 8:
            r[rng.randrange(8, len(r))] ^= 1 << rng.randrange(8)


def truncate(f, rng):
    data = f.bytes()
    f.head, f.tail, f.records = data[:rng.randrange(104, len(data))], b"", []


def drop_records(f, rng):
    some = set(rng.sample(range(len(f.records)), max(1, len(f.records) // rng.choice((2, 20, 100)))))
    f.records = [r for i, r in enumerate(f.records) if i not in some] or f.records


def double_records(f, rng):
    out = []
    for r in f.records:
        out += [r, r] if rng.random() < 0.1 else [r]
    f.records = out


def change_mode(f, rng):
    """What ran: samples in guests, in a hypervisor, nowhere."""
    mode, every = rng.choice((0, HYPERVISOR, GUEST_KERNEL, GUEST_USER, 6, 7)), rng.choice((1, 2, 7))
    for i, r in enumerate(f.of_type(SAMPLE)):
        if i % every == 0:
            misc, = struct.unpack_from("<H", r, 4)
            struct.pack_into("<H", r, 4, misc & ~7 | mode)


def change_misc(f, rng):
    for r in rng.sample(f.records, min(20, len(f.records))):
        struct.pack_into("<H", r, 4, rng.getrandbits(16))


def change_ids(f, rng):
    """pid or tid at the usual places of samples, names, forks and exits."""
    for r in rng.sample(f.records, max(1, len(f.records) // rng.choice((2, 10, 50)))):
        kind, = struct.unpack_from("<I", r)
        at = {SAMPLE: 16, COMM: 8, FORK: 8, EXIT: 8, MMAP2: 8}.get(kind, 0)
        if at and len(r) >= at + 8:
            struct.pack_into("<i", r, at + rng.choice((0, 4)),
                             rng.choice((0, -1, 1, 5, 65536, 1 << 30, rng.getrandbits(31))))


def break_records(f, rng):
    """Records shorter than their content."""
    for r in rng.sample(f.records, max(1, len(f.records) // rng.choice((3, 30)))):
        n = rng.randrange(8, len(r) + 1) & ~7
        del r[max(8, n):]
        struct.pack_into("<H", r, 6, len(r))


def change_head(f, rng):
    """Bytes of attributes, ids and the feature sections."""
    for _ in range(rng.randint(1, 3)):
        if rng.random() < 0.5 and f.tail:
            tail = bytearray(f.tail)
            tail[rng.randrange(len(tail))] ^= 1 << rng.randrange(8)
            f.tail = bytes(tail)
        else:
            head = bytearray(f.head)
            if len(head) > 104:
                head[rng.randrange(104, len(head))] ^= 1 << rng.randrange(8)
            f.head = bytes(head)


KINDS = [flip_bytes, truncate, drop_records, double_records, change_mode, change_misc, change_ids,
         break_records, change_head]


def mutate(data, seed):
    rng = random.Random(seed)
    f = File(data)
    if not f.records:
        out = bytearray(data)
        for _ in range(4):
            out[rng.randrange(16, len(out))] ^= 1 << rng.randrange(8)
        return bytes(out)
    KINDS[seed % len(KINDS)](f, rng)
    if rng.random() < 0.3 and f.records:
        rng.choice(KINDS)(f, rng)
    return f.bytes()
