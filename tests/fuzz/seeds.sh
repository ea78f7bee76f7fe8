#!/bin/sh
# seeds.sh O DIR - the first inputs of every fuzz target, below DIR/NAME: made by seeds.c and
# pwgen, and small pieces of testdata. O is the build folder of both programs.
set -eu
cd "$(dirname "$0")/../.."
O=$1 dir=$2
mkdir -p "$dir"
"$O/tests/fuzz/seeds" "$dir"
put() # target name: stdin
{
	mkdir -p "$dir/$1"
	cat >"$dir/$1/$2"
}
next()
{
	printf '\n=next=\n'
}

for c in $("$O/tests/prog/pwgen" -l) records fields fields-be; do
	"$O/tests/prog/pwgen" "$c" | put perfdata "$c"
done
for c in "$dir"/perfdata/*; do
	name=$(basename "$c")
	mkdir -p "$dir/sample" "$dir/program"
	"$O/tests/fuzz/seeds" --samples "$c" >"$dir/sample/$name" 2>/dev/null || rm "$dir/sample/$name"
	cp "$c" "$dir/program/$name"
done
t=testdata/threads-dir/perf.data
{ cat $t/data; next; head -c 3000 $t/data.0; next; head -c 2000 $t/data.1; } | put perfdata threads-dir

# ELF: what compilers and linkers make; with its companions for DWARF
l=testdata/lines
for f in $l/*.elf; do
	name=$(basename "$f" .elf)
	put elf "$name" <"$f"
	case $name in
	split*)
		{
			cat "$f"
			for g in "$f".dwp $l/"$name"-*.dwo; do
				[ -f "$g" ] && { next; cat "$g"; }
			done
		} | put dwarf "$name"
		;;
	dwz*) { cat "$f"; next; cat $l/alt.debug; } | put dwarf "$name" ;;
	*) put dwarf "$name" <"$f" ;;
	esac
done
{ cat "$dir/perfdata/story"; next; cat $l/splitclang5.elf; next; head -c 500 testdata/zstd/kallsyms; } |
	put program story-named
{ cat "$dir/program/story-dwarf"; next; cat $l/splitclang5.elf; next; head -c 500 testdata/zstd/kallsyms; } |
	put program story-dwarf-named

# stubs of a PLT in the shapes that linkers give them, and an indirect function's
cat >"$dir/plt.c" <<'END'
int first(void), second(void);
static int one(void) { return 1; }
static void *choose(void) { return (void *)one; }
int chosen(void) __attribute__((ifunc("choose"), visibility("hidden")));
int sum(void) { return first() + second() + chosen(); }
END
plt() # name, options: none where this machine's compiler has other ones
{
	name=$1
	shift
	cc -O1 -shared -fPIC -nostdlib -Wl,-z,noseparate-code,-Ttext-segment=0x1000 "$@" -o "$dir/plt.so" \
		"$dir/plt.c" 2>/dev/null || return 0
	put elf "$name" <"$dir/plt.so"
	{
		printf '\006\010'
		tail -c +3 "$dir/unwind/x86-64" | head -c 196
		cat "$dir/plt.so"
	} | put unwind "$name"
}
tables=-fasynchronous-unwind-tables
plt plt-lazy $tables -fcf-protection=none -Wl,-z,lazy
plt plt-now -fno-asynchronous-unwind-tables -fcf-protection=none -Wl,-z,now
plt plt-ibt-lazy -fno-asynchronous-unwind-tables -g1 -fcf-protection=full -Wl,-z,lazy
plt plt-ibt-now $tables -fcf-protection=full -Wl,-z,now
rm -f "$dir/plt.c" "$dir/plt.so"

# call-frame information of real code behind the head of a made one
for n in gcc5 aarch64; do
	arm=2
	[ $n = aarch64 ] && arm=3
	{
		printf "\\00$arm\\010"
		tail -c +3 "$dir/unwind/x86-64" | head -c 196
		cat $l/$n.elf
	} | put unwind $n-elf
done

# the same text in every compression
for z in 'zstd -q' gzip bzip2 xz; do
	command -v "${z%% *}" >/dev/null 2>&1 || continue
	head -c 700 LICENSE | $z -c | put unzip "${z%% *}"
	{ echo one | $z -c; echo two | $z -c; } | put unzip "${z%% *}-two"
done

head -c 1500 testdata/zstd/kallsyms | put kallsyms real
head -20 testdata/perf-map/symfs/tmp/perf-704.map | put perfmap real
grep -v '^#' libtime/causes/causes.rules | head -30 | put causes builtin
zcat testdata/dwarf/folded-all.txt.gz | head -8 | cut -c 1-400 | put folded real

# requests that a program wrote
put side csv <<'END'
start_us,duration_us,pid,tid,key,name,route
100,50.5,1,2,r1,req,"/a, ""b"""
120,10,,2,r1,step,/c
130,100,1,,r2,req,
900,1,,9,r3,req,/d
END
printf 'name;start;end_ns;tid\r\nx;2026-09-21T14:13:20.5Z;1790000001000000000;3\r\n' | put side iso
printf 'start_s\tend_s\n0.1\t0.2\n' | gzip -c | put side gzip
put side otlp <<'END'
{"resourceSpans":[{"resource":{"attributes":[{"key":"process.pid","value":{"intValue":"1"}}]},"scopeSpans":[{"spans":[{"traceId":"aa","spanId":"00000000000000a1","name":"GET","startTimeUnixNano":"1790000000000001000","endTimeUnixNano":"1790000000000009000","attributes":[{"key":"thread.id","value":{"intValue":2}},{"key":"thread.name","value":{"stringValue":"a"}}],"status":{"code":2}},{"traceId":"aa","spanId":"00000000000000a2","parentSpanId":"00000000000000a1","name":"db","startTimeUnixNano":1790000000000002000,"endTimeUnixNano":1790000000000003000}]}]}]}
{"resourceSpans":[{"scopeSpans":[{"spans":[{"spanId":"00000000000000b1","name":"\ud83d\ude00","startTimeUnixNano":"1","endTimeUnixNano":"2"}]}],"resource":{}}]}
END
head -c 4000 testdata/ldb/ldb.data | put side ldb
put side gaps <<'END'
perfkit-gaps v1
clock mono
spinner 0 1
gap 0 100 5000
gap 0 200000 900000000
gap 1 300 299
END
printf 'time,delay,cpu\n100000,500\n200000,70000,0\n300000,9,1\n' | put side sampler
put side anchors <<'END'
perfkit-gaps v1
clock raw
anchor 100 90 1790000000000000000 30
spinner 0 1
control 1 2
gap 0 100 5000
gap 1 200 7000
dropped 0 3
anchor 9000 9100 1790000000000009000 30
END
printf 'jitter,host=h,cpu=0 latency=500i 100000\njitter jitter=70 200000\nx,cpu=1 delay=9' | put side influx
printf '#   Timestamp  delta  <== interruption =>\n# (nsec) (usec)\n  100000 12 39 9802\n 5 4 3 900\n' | put side sysjitter
printf '#[Histogram log format version 1.3]\n#[StartTime: 1790000000.5 (x\n0.1,1.0,2.7,HISTFAAA\nTag=a,2,1,3,HISTFAAA\nTag=b\n' |
	put side hiccups
put side histories <<'END'
perfkit-labels v1
clock mono
pid 1
tramp 7 a::trampoline<7>
bind 7 100 query 41
bind 7 200000 query a b
bind 3 5 user
lost 2
END
put side chrome <<'END'
[{"ph":"X","ts":1.5,"dur":20,"pid":1,"tid":2,"name":"f","args":{"k":"v","n":[1]}},
{"ph":"B","ts":30,"pid":1,"tid":3,"name":"g"},{"ph":"E","ts":40,"pid":1,"tid":3},
{"ph":"b","ts":31,"id":"0x1","cat":"c","pid":1,"tid":3,"name":"h"},
{"ph":"e","ts":50,"id":"0x1","cat":"c","pid":1,"tid":2,"name":"h"}]
END

# which descriptors a host's processes had open
put context one <<'END'
perfkit-context 1
of 100
snapshot
process 1 net:[4026531840]
fact process	1	cgroup	/a/b
fact cgroup	/a	cpu.max	20000 100000
fact cgroup	/a	nr_throttled	3
fact cgroup	/a/b	name	space/pod/container
fact mount	/	device	8:1
fact mount	/	source	/dev/sda1
fact disk	8:1	name	sda1
fact irq	25 virtio0	0	7
fd 0 /dev/null
fd 1 pipe:[11]
fd 3 socket:[21]
fd 4 socket:[22]
fd 5 anon_inode:[eventpoll]
fd 6 socket:[23]
fd 7 anon_inode:[eventfd]
fd 8 socket:[31]
tfd 5 4
tfd 5 6
net net:[4026531840] tcp
	 0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 21 1 0
	 1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000 0 0 22 1 0
	 2: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000 0 0 23 1 0
net net:[4026531840] unix
	0000000000000000: 00000002 00000000 00010000 0001 01 30 /run/a
	0000000000000000: 00000003 00000000 00000000 0001 03 31 /run/a
END
{ cat "$dir/context/one"; tail -n +3 "$dir/context/one" | sed 's/^fd 4 .*/fd 4 pipe:[1]/;s/7$/9/;s/^tfd 5 6/tfd 5 3/'; } |
	put context two
