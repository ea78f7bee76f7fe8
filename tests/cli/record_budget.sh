#!/bin/sh
# record --max-rate and --max-cpu, with a perf whose counts and writing are known: which stacks are
# given up, what is refused, and that a recording ends where it writes more than it may.
fails=0
bad() { echo "$@"; fails=$((fails + 1)); }
cat >perf <<'END'
#!/bin/sh
case $1 in
--version) echo "perf version 6.1.0" ;;
stat) echo "${SWITCHES-1000},,sched:sched_switch,1" >&2 ;;
record)
	echo "$@" >line
	while [ $# -gt 1 ]; do [ "$1" != -o ] || out=$2; shift; done
	trap 'echo interrupted >ended; exit 0' INT
	# a large beginning, and then so many bytes each tenth of a second
	head -c 3000000 /dev/zero >"$out"
	for i in $(seq 1 ${TENTHS-10}); do
		head -c ${GROWS-0} /dev/zero >>"$out"
		sleep 0.1
	done ;;
esac
END
chmod +x perf
export PERF=$PWD/perf

# MAX, what the line has, what is said
while IFS='|' read -r options line said; do
	"$PERFKIT" record offcpu --dry-run --no-estimate -d 1 $options >out 2>err || bad "$options: exit $?"
	grep -qF -e "$line" out || bad "$options: $(cat out)"
	if [ -n "$said" ]; then
		grep -qF -e "$said" err || bad "$options: $(cat err)"
	else
		[ ! -s err ] || bad "$options: $(cat err)"
	fi
done <<'END'
--max-rate 5M|stack-size=4096|
--max-rate 4M|sched:sched_switch/call-graph=dwarf,stack-size=2048/|# stack copies of 2048 bytes, not stack copies of 4096 bytes, which would take 4.5 MB/s, 0.4 % of a CPU under the load of the last second; now 2.5 MB/s, 0.3 % of a CPU
--max-rate 1M|sched:sched_switch/call-graph=fp/|# frame pointers, not stack copies of 4096 bytes
--max-cpu 0.15%|-e sched:sched_switch -e sched:sched_waking -e|# no stacks, not stack copies of 4096 bytes
--stacks fp --max-rate 200K|-e sched:sched_switch -e sched:sched_waking -e|# no stacks, not frame pointers
END

# STATUS, what is said, the options
while IFS='|' read -r status said options; do
	"$PERFKIT" record $options --recorder perf -d 1 -o no.data >out 2>err
	[ $? = "$status" ] && grep -qF -e "$said" err || bad "$options: $(cat err)"
	[ ! -e no.data ] || bad "$options: recorded"
done <<'END'
3|the events alone, without stacks, would take 0.1 MB/s, 0.1 % of a CPU: more than allowed|offcpu --max-rate 100K
2|--max-rate takes bytes a second, as 20M, not '20MB'|offcpu --max-rate 20MB
2|--max-rate takes bytes a second|offcpu --max-rate 0
2|--max-cpu takes a share of one CPU, as 1%, not '-1'|offcpu --max-cpu -1
2|--max-cpu takes a share of one CPU|offcpu --max-cpu 1%%
2|--max-rate does not apply to jitter|jitter --max-rate 1M
2|--max-cpu does not apply to --off-cpu-thresh|offcpu --off-cpu-thresh 1 --max-cpu 1
END
SWITCHES='<not counted>' "$PERFKIT" record offcpu --recorder perf --max-rate 1M -d 1 -o no.data >out 2>err
[ $? = 3 ] && grep -q "need perf to count events" err || bad "not counted: $(cat err)"

# 3 MB at its beginning and 4 MB a second are not 1 MB a second
GROWS=400000 TENTHS=80 "$PERFKIT" record offcpu --recorder perf --max-rate 1M -d 10 -o long.data >out 2>err
grep -q "stopped after [1-6][.][0-9] s: the load has grown, and more was written than --max-rate allows" err &&
	[ -e ended ] || bad "it goes on: $(cat err)"
rm -f ended
GROWS=60000 TENTHS=20 "$PERFKIT" record offcpu --recorder perf --max-rate 1M -d 2 -o short.data >out 2>err || bad "within: $(cat err)"
[ ! -e ended ] && ! grep -q stopped err || bad "it was stopped: $(cat err)"
# a large recording of before is not what it writes
truncate -s 100M old.data
rm -f ended
TENTHS=5 "$PERFKIT" record offcpu --recorder perf --max-rate 1M -d 1 -o old.data >out 2>err || bad "over an older one: $(cat err)"
[ ! -e ended ] && ! grep -q stopped err || bad "stopped for an older recording: $(cat err)"

# perf's copies of binaries are said when they are many; links to what lies elsewhere are none
export HOME=$PWD
mkdir -p .debug/usr
if fallocate -l 510M .debug/usr/one 2>/dev/null; then
	"$PERFKIT" record offcpu --recorder perf -d 1 -o copies.data >out 2>err || bad "copies: $(cat err)"
	grep -q "perf keeps copies of binaries in $PWD/.debug: 0.5 GB now" err || bad "copies: $(cat err)"
	ln .debug/usr/one elsewhere
	"$PERFKIT" record offcpu --recorder perf -d 1 -o copies.data >out 2>err || bad "links: $(cat err)"
	! grep -q "copies of binaries" err || bad "links are no copies: $(cat err)"
	rm -f .debug/usr/one elsewhere
fi
[ $fails = 0 ]
