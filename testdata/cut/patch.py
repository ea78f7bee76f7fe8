#!/usr/bin/env python3
"""patch.py CUT WHOLE: copy a file-mode perf.data whose data.size is 0, with the size of all
whole records filled in, so that perf reads it."""
import struct
import sys

d = bytearray(open(sys.argv[1], "rb").read())
offset = struct.unpack_from("<Q", d, 40)[0]
at = offset
while at + 8 <= len(d):
    size = struct.unpack_from("<H", d, at + 6)[0]
    if size < 8 or at + size > len(d):
        break
    at += size
struct.pack_into("<Q", d, 48, at - offset)
open(sys.argv[2], "wb").write(d[:at])
print("%d bytes of whole records, %d torn" % (at - offset, len(d) - at), file=sys.stderr)
