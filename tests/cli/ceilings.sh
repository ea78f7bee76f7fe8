#!/bin/sh
# A file that claims absurd counts, sizes or offsets costs no memory: every door reads its seeds
# with such numbers in the place of each of their words, in an address space of 256 MB, and never
# runs out of it; and so does the program with files made for it.
LC_ALL=C grep -q '__[at]san_init' "$O/tests/fuzz/fuzz_perfdata" && { echo "AddressSanitizer needs more address space than the ceiling"; exit 77; }
sh "$SRC/tests/fuzz/seeds.sh" "$O" "$PWD/seeds" || { echo "no seeds"; exit 1; }
failed=0
for src in "$SRC"/tests/fuzz/fuzz_*.c; do
	name=$(basename "$src" .c)
	name=${name#fuzz_}
	set -- "seeds/$name"/*
	case $name in
	program) continue ;; # below
	dwarf) set -- seeds/dwarf/gcc5 seeds/dwarf/splitgcc4 seeds/dwarf/dwz ;;
	elf) set -- seeds/elf/gcc5 seeds/elf/zlib seeds/elf/zstd seeds/elf/i386 ;;
	esac
	[ -d "$SRC/tests/fuzz/found/$name" ] && set -- "$@" "$SRC/tests/fuzz/found/$name"
	(ulimit -v 262144 && exec "$O/tests/fuzz/fuzz_$name" --claims "$@") >out 2>&1 || {
		echo "fuzz_$name: $?"
		tail -5 out
		failed=1
	}
done

cat >make.py <<'END'
import gzip, struct, sys, zlib
u32 = lambda x: struct.pack("<I", x)
u64 = lambda x: struct.pack("<Q", x)
def put(name, data):
    open(name, "wb").write(data)
image = open(sys.argv[1], "rb").read()
huge = 1 << 60
# the header's sections: attrs, data, event types: offset and size
for at, what in ((16, "attr-size"), (32, "attrs"), (48, "data"), (64, "types")):
    put("claims-%s.data" % what, image[:at] + u64(huge) + image[at + 8:])
# 60,000 events that each have all the file's bytes for ids
attr = struct.pack("<II", 1, 128) + bytes(120)
n = 60000
end = 104 + n * 144
put("claims-ids.data", b"PERFILE2" + u64(104) + u64(144) + u64(104) + u64(n * 144) + u64(end) + u64(0) +
    bytes(48) + (attr + u64(0) + u64(end // 8 * 8)) * n)
# an AUX area of 2^60 bytes in a pipe, and a tracing data section
pipe = b"PERFILE2" + u64(16)
put("claims-auxtrace.data", pipe + u32(71) + struct.pack("<HH", 0, 48) + u64(huge) + bytes(32))
put("claims-tracing.data", pipe + u32(66) + struct.pack("<HH", 0, 12) + u32(0xfffffff0))
put("claims-tracing-most.data", pipe + u32(66) + struct.pack("<HH", 0, 12) + u32(0x0ffffff0))
# folded text: one line of one frame, a thousand frames deep, and a count above 2^63
put("claims.folded", b"a;" * 100000 + b"b 99999999999999999999999\n")
# a tar that claims a file of 2^60 bytes
def tar(name, size):
    h = bytearray(512)
    h[0:len(name)] = name
    h[100:108] = b"0000644\0"
    h[124:136] = b"\x80" + bytes(3) + struct.pack(">Q", size)
    h[156:157] = b"0"
    h[257:265] = b"ustar\00000"
    h[148:156] = b" " * 8
    h[148:156] = b"%06o\0 " % sum(h)
    return bytes(h)
put("claims.tar.gz", gzip.compress(tar(b"MANIFEST", huge) + bytes(512)))
put("claims2.tar.gz", gzip.compress(tar(b"perf.data", huge) + bytes(512)))
# 1 GB of zeroes in 1 MB
z = zlib.compressobj(9, zlib.DEFLATED, 31)
bomb = b"".join(z.compress(bytes(1 << 20)) for _ in range(256)) + z.flush()
put("bomb.tar.gz", bomb)
# 40,000 symbols that share one name of 100,000 bytes, each from another byte on
def elf(nsym, size):
    names = b"\0" + b"a" * size + b"\0"
    shstr = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    syms = bytes(24) + b"".join(struct.pack("<IBBHQQ", 1 + i, 0x12, 0, 1, 0x1000 + i, 1) for i in range(nsym))
    at = 64
    sections = [bytes(64)]
    body = b""
    for name, kind, flags, addr, data, link in ((1, 1, 6, 0x1000, b"\xc3" * 64, 0),
            (7, 2, 0, 0, syms, 3), (15, 3, 0, 0, names, 0), (23, 3, 0, 0, shstr, 0)):
        sections.append(struct.pack("<IIQQQQIIQQ", name, kind, flags, addr, at + len(body), len(data), link, 1, 8,
                                    24 if kind == 2 else 0))
        body += data
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0x1000, 0, at + len(body), 0,
                                                     64, 56, 0, 64, 5, 4)
    return head + body + b"".join(sections)
put("shared.elf", elf(40000, 100000))
END
python3 make.py seeds/perfdata/story || exit 1
(ulimit -v 262144 && exec "$O/tests/fuzz/fuzz_elf" --ceiling shared.elf) >out 2>&1 || {
	echo "names that share their bytes: $?"
	tail -5 out
	failed=1
}
for f in claims* bomb*; do
	for verb in collapse report doctor svg; do
		(ulimit -v 524288 && exec timeout 60 "$PERFKIT" $verb --no-local -q "$f") >out 2>err
		rc=$?
		case $rc in
		0 | 3) ;;
		1 | 2)
			grep -q 'out of memory' err && { echo "$verb $f: out of memory"; failed=1; }
			[ -s err ] || { echo "$verb $f: exit $rc without a word"; failed=1; }
			;;
		*)
			echo "$verb $f: exit $rc"
			failed=1
			;;
		esac
	done
done
exit $failed
