# Names of addresses against perf script: a perf.data is written whose samples sit on thousands
# of addresses of a library (or of the kernel), perf names them, symdump names them.
# machine: this system's libraries and kernel are the examples
# Known classes, where perf 6.1 is wrong: "plt" (it counts stubs instead of decoding them, and
# lets _init reach over .plt), "label" (a size-less label inside a function takes its rest).
command -v perf >/dev/null || { echo "perf is not here"; exit 77; }
command -v python3 >/dev/null || { echo "python3 is not here"; exit 77; }
command -v readelf >/dev/null || { echo "readelf is not here (binutils)"; exit 77; }
symdump=$O/tests/prog/symdump

cat >synth.py <<'PY'
"""synth.py OUT PATH ADDRESSES - samples at file offsets of PATH ("kernel": at addresses)."""
import struct, sys
out, path, addrs = sys.argv[1:4]
kernel = path == 'kernel'
base = 0 if kernel else 0x7f0000000000
def record(kind, misc, body):
    body += b'\0' * (-len(body) % 8)
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body
data = [record(3, 2, struct.pack('<II', 100, 100) + b'prog\0\0\0\0')]
if kernel:
    data.append(record(1, 1, struct.pack('<IIQQQ', 0xffffffff, 0, 0xffffffff81000000, 0x3f000000,
                                         0xffffffff81000000) + b'[kernel.kallsyms]_text\0'))
else:
    data.append(record(10, 2, struct.pack('<IIQQQIIQQII', 100, 100, base, 0x40000000, 0, 8, 1, 1,
                                          0, 5, 2) + path.encode() + b'\0'))
for i, line in enumerate(open(addrs)):
    data.append(record(9, 1 if kernel else 2,
                       struct.pack('<QIIQ', base + int(line, 16), 100, 100, 1000 + i)))
data = b''.join(data)
attr = struct.pack('<IIQQQQQ', 1, 128, 0, 1, 7, 0, 0) + b'\0' * 80 + struct.pack('<QQ', 0, 0)
with open(out, 'wb') as f:
    f.write(b'PERFILE2' + struct.pack('<QQQQQQQQ', 104, 144, 104, 144, 248, len(data), 0, 0))
    f.write(b'\0' * 32 + attr + data)
PY

# Random offsets in the executable sections of $1, always the same ones.
offsets()
{
	readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' |
		awk '$2 == "PROGBITS" && $7 ~ /X/ { print $4, $5 }' |
		python3 -c '
import random, sys
random.seed(5)
a = set()
for line in sys.stdin:
    off, size = (int(x, 16) for x in line.split())
    a |= {off + random.randrange(size) for _ in range(min(size, 4000))}
print("\n".join("%x" % x for x in sorted(a)))'
}

# compare NAME: addrs perf.txt ours.txt; prints classes, fails on anything unclassified.
compare()
{
	paste -d'|' addrs perf.txt ours.txt | awk -F'|' -v name="$1" '
	{ n++ }
	$2 == $3 { next }
	$2 ~ /plt[+]/ || $3 ~ /plt[+]/ || $2 ~ /^_init[+]/ { plt++; next }
	$2 ~ /^\[unknown\]/ && $3 ~ /^ftrace_trampoline/ { builtin++; next }
	# perf of later versions prints the parameters of C++ functions, and templates types, too
	offset($2) == offset($3) && index(" " $2, " " name_of($3) "(") { params++; next }
	# perf 6.12 leaves the names of Rust as the linker has them, or with their hash
	offset($2) == offset($3) && ($2 ~ /^_R/ || $2 ~ /::h[0-9a-f]+[+]/) { rust++; next }
	# perf leaves the names of D as the linker has them
	offset($2) == offset($3) && $2 ~ /^_D[0-9]/ { dlang++; next }
	# of two names at one address, perf 6.12 prefers the one that is longer when demangled
	offset($2) == offset($3) && name_of($2) == "a::b()" && name_of($3) == "aabb" { alias++; next }
	# perf prefers a global label without a size to the function of its address
	name_of($2) == "d_label" && $3 ~ /^(d_func[+]0x1?[0-9a-f]|\[unknown\])$/ { label++; next }
	# ours is the enclosing function: it starts earlier, so its offset is larger
	$2 != "[unknown]" && $3 != "[unknown]" && offset($2) < offset($3) { label++; next }
	{ print "  " $0; bad++ }
	function name_of(s) { sub(/\+0x[0-9a-f]*$/, "", s); return s }
	function offset(s) { sub(/.*\+0x/, "", s); return strtonum_("0" s) }
	function strtonum_(h,  i, x) {
		for (i = 1; i <= length(h); i++)
			x = x * 16 + index("0123456789abcdef", substr(h, i, 1)) - 1
		return x
	}
	END {
		printf "%s: %d addresses, plt %d, label %d, builtin %d, params %d, rust %d, d %d, alias %d, unclassified %d\n",
			name, n, plt, label, builtin, params, rust, dlang, alias, bad
		exit bad > 0 || n < 500
	}'
}

debug_of()
{
	id=$(readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p')
	f=/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug
	[ -f "$f" ] && echo "$f"
}

# against FILE [DEBUG]: perf script's names of random offsets and ours.
against()
{
	offsets "$1" >addrs
	python3 synth.py s.data "$1" addrs
	perf script -f -i s.data -F ip,sym,symoff 2>/dev/null | sed 's/^ *[0-9a-f]* //' >perf.txt
	"$symdump" --at addrs "$@" >ours.txt || exit 1
	compare "$(basename "$1")"
}

# Pairs of symbols at one address, of every kind; and names of every language.
cat >aliases.s <<'ASM'
.macro one n, b, t, s
.ifc \b, g
.globl \n
.endif
.ifc \b, w
.weak \n
.endif
.ifc \t, f
.type \n, @function
.endif
.ifc \t, o
.type \n, @object
.endif
\n:
.size \n, \s
.endm
.macro two n1, b1, t1, s1, n2, b2, t2, s2
.balign 64
one \n1, \b1, \t1, \s1
one \n2, \b2, \t2, \s2
.skip 32, 0x90
.endm
.text
two a_label, g, n, 32, a_func, l, f, 32
two b_func, l, f, 32, b_label_longer, g, n, 32
two c_label, l, n, 32, c_func, w, f, 32
two d_label, g, n, 0, d_func, l, f, 32
two e_weak, w, f, 32, e_local, l, f, 32
two f_obj, l, f, 32, f_o, g, o, 32
two g_lab1, l, n, 0, g_lab22, g, n, 0
two __h, g, f, 32, _hh, g, f, 32
two ii, g, f, 32, jj, g, f, 32
two k_label, g, n, 32, k_sizeless, g, f, 0
two _ZN1a1bEv, g, f, 32, aabb, g, f, 32
two _ZN1aC1Ev, g, f, 32, _ZN1aC2Ev, g, f, 32
two SyS_x, g, f, 32, sys_x, g, f, 32
two m_short, g, f, 16, m_l, g, f, 32
.macro name n:vararg
one \n, g, f, 32
.skip 32, 0x90
.endm
name _ZN3foo3barEi.cold
name _ZNKSt8functionIFviEEclEi
name _ZZ4mainENKUlvE_clEv
name _ZN4core3fmt9Formatter3pad17h1234567890abcdefE
name _RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3new
name camlStdlib__array__map_154
name _D3std5stdio7writelnFZv
.globl main
.type main, @function
main: ret
.size main, 1
ASM
cat >java.s <<'ASM'
.globl "Ljava/lang/Object;wait(JLjava/lang/String;[[I)V"
.type "Ljava/lang/Object;wait(JLjava/lang/String;[[I)V", @function
"Ljava/lang/Object;wait(JLjava/lang/String;[[I)V":
.skip 32, 0x90
.size "Ljava/lang/Object;wait(JLjava/lang/String;[[I)V", 32
ASM

status=0
if command -v gcc >/dev/null && gcc -o aliases aliases.s java.s 2>/dev/null; then
	against "$PWD/aliases" || status=1
	for n in b_label_longer aabb 'foo::bar' '<std::path::PathBuf>::new' \
		'java.lang.Object.wait(long, java.lang.String, int[][])'; do
		grep -qF "$n+" ours.txt || { echo "  no address named $n"; status=1; }
	done
fi
for lib in libc.so.6 libstdc++.so.6 libcrypto.so.3 libpython3.11.so.1.0; do
	file=$(ldconfig -p | awk -v l="$lib" '$1 == l { print $NF; exit }')
	[ -n "$file" ] || continue
	file=$(readlink -f "$file")
	# shellcheck disable=SC2046
	against "$file" $(debug_of "$file") || status=1
done

if grep -v '^0*[^0-9a-f]' /proc/kallsyms 2>/dev/null | head -1 | grep -q .; then
	grep -v '\[bpf\]$' /proc/kallsyms >ks # programs of others come and go, and perf does not name them
	awk '$2 ~ /[tTwW]/ && $1 !~ /^0+$/ && n++ % 7 == 0 { print $1 }' ks >addrs
	python3 synth.py s.data kernel addrs
	perf script -f -i s.data --kallsyms ks -F ip,sym,symoff 2>/dev/null |
		sed 's/^ *[0-9a-f]* //' >perf.txt
	"$symdump" --at addrs --kallsyms ks >ours.txt || exit 1
	compare kallsyms || status=1
fi
exit $status
