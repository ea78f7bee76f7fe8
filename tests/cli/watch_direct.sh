# Waits that the kernel measured: perf record --off-cpu --off-cpu-thresh -o - (perf 6.16) is a stream for watch.
command -v python3 >/dev/null 2>&1 || { echo "no python3 here"; exit 77; }
fails=0
bad() { echo "$@"; fails=$((fails + 1)); }
# The layout: linux/perf_event.h, and tools/perf/util/bpf_off_cpu.c for the raw bytes.
cat >make.py <<'P'
import struct, sys
IP, TID, TIME, CPU, PERIOD, RAW, IDENT = 1, 2, 4, 1 << 7, 1 << 8, 1 << 10, 1 << 16
out = bytearray(b"PERFILE2" + struct.pack("<Q", 16))
def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    out.extend(struct.pack("<IHH", kind, misc, 8 + len(body)) + body)
attr = struct.pack("<IIQQQQQ", 1, 136, 10, 1, IP | TID | TIME | CPU | PERIOD | RAW | IDENT, 0, 1 << 18)
record(64, 0, attr + bytes(136 - len(attr)) + struct.pack("<Q", 21))
record(78, 0, struct.pack("<QQ", 2, 21) + b"offcpu-time\0")
def ident(tid, ns):
    return struct.pack("<IIQIIQ", 7, tid, ns, 0, 0, 21)
for tid, name in ((7, b"server\0"), (8, b"worker\0")):
    record(3, 0, struct.pack("<II", 7, tid) + name + bytes(-len(name) % 8) + ident(tid, 1000000000))
MS = 1000000
for i in range(int(sys.argv[1])):
    end, tid = 2000000000 + i * 100 * MS, 7 + i % 2
    length = 30 * MS if i % 10 == 3 else 6 * MS
    raw = struct.pack("<IIQQQQQ", 7, tid, length, 2, 2**64 - 512, 0x401136, 0)
    raw += bytes(-(4 + len(raw)) % 8)
    record(9, 2, struct.pack("<QQIIQIIQI", 21, 0x401136, 7, tid, end, 0, 0, length, len(raw)) + raw)
    if i % 2:
        record(68, 0, b"")
# the accumulated kind, at the end, has no times
raw = struct.pack("<IIQQQQQ", 7, 7, 900 * MS, 2, 2**64 - 512, 0x401136, 0)
raw += bytes(-(4 + len(raw)) % 8)
record(9, 2, struct.pack("<QQIIQIIQI", 21, 0x401136, 7, 7, 2**64 - 2**32 + 1, 0, 0, 900 * MS, len(raw)) + raw)
sys.stdout.buffer.write(out)
P
python3 make.py 100 >stream
"$PERFKIT" watch --over 20ms --unclear stream >out 2>err || bad "watch: exit $?: $(cat err)"
[ "$(grep -cE '^[0-9.]+ info     30\.0 ms worker/8 ' out)" = 10 ] || bad "not ten spikes: $(cat out err)"
[ "$(grep -c . out)" = 10 ] || bad "more than the spikes: $(cat out)"
grep -q '^2.270000 ' out || bad "the first one began at 2.27 s: $(head -1 out)"
grep -q suspect err && bad "suspect: $(cat err)"
# Sums alone are no waits, and a stream of samples has none: it is said once, not "0 spikes" for days.
python3 make.py 0 >sums
python3 make.py 0 | sed 's/offcpu-time/cpu-samples/' >samples
for name in sums samples; do
	rc=0
	"$PERFKIT" watch --unclear $name >out 2>err || rc=$?
	[ $rc = 3 ] || bad "watch $name: exit $rc: $(cat out err)"
done
"$PERFKIT" watch --unclear sums 2>&1 | grep -q 'kept sums per stack' || bad 'sums: why?'
"$PERFKIT" watch --unclear samples 2>&1 | grep -q 'no context switches were recorded' || bad 'samples: why?'
# A stream that is cut, or goes on with something else, is answered up to there, and ends with a word.
damaged()  # status text
{
	rc=0
	"$PERFKIT" watch --over 20ms --unclear damaged >out 2>err || rc=$?
	[ $rc = "$1" ] && grep -q "$2" err || bad "damaged: exit $rc, not $1: $(cat err)"
	[ "$(grep -c '30.0 ms worker' out)" = ${3:-10} ] || bad "damaged: $2: $(cat out)"
}
size=$(stat -c %s stream)
for cut in 1 3 7 9 40; do
	head -c $((size - cut)) stream >damaged
	damaged 1 'the stream is cut off inside a record'
done
(cat stream; head -c 300 make.py) >damaged
damaged 1 'goes on with bytes that are no records'
(cat stream; head -c 300 /dev/zero) >damaged
damaged 1 'a record of the stream has no size'
head -c 10 stream >damaged
damaged 3 'the stream has no records' 0
# In a large recording stacks are named while it is read.
python3 make.py 300000 >large
"$PERFKIT" collapse -q --offcpu large >out 2>err || bad "large: exit $?: $(cat err)"
[ "$(awk '{ n[$1] += $NF } END { print n["server;[state"], n["worker;[state"] }' out)" = '900000000 1620000000' ] ||
	bad "large: $(cat out)"
rm large
# The line that records such waits, for a perf that can.
"$PERFKIT" record watch -p $$ --off-cpu-thresh 5 --for-perf 6.16 -n -- --over 20ms | sed 's/ -m 8M//' >line
echo "perf record -k CLOCK_MONOTONIC --buildid-all --no-bpf-event -p $$ --off-cpu --off-cpu-thresh 5 -e dummy -o - | perfkit watch --pid $$ --unclear --over 20ms" >want
cmp line want || bad "the line: $(cat line)"
while read -r options; do
	read -r text
	# shellcheck disable=SC2086
	"$PERFKIT" record $options -n >refused.out 2>refused.err && bad "record $options: not refused"
	grep -q -- "$text" refused.err || bad "record $options: $(cat refused.err)"
done <<-END
	watch --off-cpu-thresh 5 --for-perf 6.15
	needs perf 6.16
	watch --off-cpu-thresh 0 --for-perf 6.16
	must be at least 1
	tail --off-cpu-thresh 5 --for-perf 6.16
	only to offcpu and watch
	watch --off-cpu-thresh 5 --for-perf 6.16 --stacks fp
	no events to choose from
END

# An answer that is killed while nobody takes its output: the next ones go on, and a line says what is missing.
mkfifo stream.fifo out.fifo
exec 5<>out.fifo
timeout 1 cat /dev/zero >&5
"$PERFKIT" watch --over 20ms --unclear --prom killed.prom stream.fifo >&5 2>killed.err 5>&- &
watch=$!
trap "kill $watch 2>/dev/null" EXIT
exec 4>stream.fifo
half=$(($(wc -c <stream) / 2))
head -c $half stream >&4
for i in $(seq 100); do
	answer=$(ps -o pid= --ppid $watch)
	[ -n "$answer" ] && break
	sleep 0.1
done
sleep 0.5 # it answers
kill -KILL $answer || bad "no answer to kill: $(cat killed.err)"
for i in $(seq 100); do
	kill -0 $answer 2>/dev/null || break
	sleep 0.1
done
tr -d '\0' <out.fifo >killed.out 4>&- 5>&- &
tail -c +$((half + 1)) stream >&4
exec 4>&-
wait $watch || bad "an answer killed: exit $?: $(cat killed.err)"
exec 5>&-
wait
grep -q 'an answer ended by signal 9' killed.err || bad "not told: $(cat killed.err)"
grep -Eq '^[0-9.]+ lost     [0-9.]+ s whose answer failed: spikes may be missing$' killed.out || bad "no line: $(cat killed.out)"
n=$(grep -c '^[0-9.]* info     30.0 ms worker/8 ' killed.out)
[ "$n" -ge 4 ] && [ "$n" -le 7 ] || bad "spikes after it: $n: $(cat killed.out)"
awk '/^perfkit_unanswered_seconds_total/ { n = $2 } END { exit !(n > 3 && n < 6) }' killed.prom || bad "$(grep unanswered killed.prom)"
[ $fails = 0 ]
