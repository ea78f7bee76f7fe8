# perfkit record: the lines it prints, to the letter, and short recordings with them.
# live: records now, on this machine
fails=0
bad() { echo "$@"; fails=$((fails + 1)); }
line()  # expected-text record-arguments...
{
	want=$1
	shift
	"$PERFKIT" record "$@" >out 2>err || bad "record $*: exit $?: $(cat err)"
	printf '%s' "$want" | cmp - out >&2 || { bad "record $* printed:"; cat out; }
}
refused()  # status text record-arguments...
{
	want=$1 text=$2 got=0
	shift 2
	"$PERFKIT" record "$@" >out 2>err || got=$?
	[ $got = "$want" ] || bad "record $*: exit $got, not $want"
	grep -qF -- "$text" err || bad "record $* said: $(cat err)"
	[ ! -s out ] || bad "record $* printed: $(cat out)"
}
dry="--dry-run --no-estimate -m 64K"
sched='-e sched:sched_waking/call-graph=fp/ -e sched:sched_wakeup -e sched:sched_wakeup_new -e sched:sched_migrate_task -e sched:sched_process_fork -e sched:sched_process_exec -e sched:sched_process_exit'
start='perf record -k CLOCK_MONOTONIC --buildid-all --no-bpf-event -m 64K'
irqs='-e irq:irq_handler_entry -e irq:irq_handler_exit -e irq:softirq_entry -e irq:softirq_exit'
# samples have the stacks that switches have
tail="$irqs -e cpu-clock/freq=199,name=cpu-clock,call-graph=dwarf,stack-size=4096/"

line "$start -a -e cpu-clock -F 999 --call-graph dwarf,8192 -o perf.data
" cpu $dry -e cpu-clock
line "$start -e cpu-clock -F 99 --call-graph fp -o 'a b' -- ./prog -x 'it'\\''s' '' '\$(id)' '*'
" cpu $dry -e cpu-clock -F 99 --call-graph fp -o 'a b' -- ./prog -x "it's" '' '$(id)' '*'
line "$start -p 1,2 -e cpu-clock -F 999 --call-graph dwarf,16384 -o perf.data -- sleep 7
" cpu $dry -e cpu-clock -p 1,2 --duration 7 --call-graph dwarf,16384
line "$start -a -c 1 -e sched:sched_switch/call-graph=dwarf,stack-size=4096/ $sched -o perf.data -- ./prog
" offcpu $dry -- ./prog
line "$start -a -c 1 -e sched:sched_switch -e sched:sched_waking ${sched#* * } -o w
" offcpu $dry --call-graph none -o w
line "$start -a -c 1 -e sched:sched_switch/call-graph=fp/ $sched $irqs -e cpu-clock/freq=199,name=cpu-clock,call-graph=fp/ -o perf.data
" tail $dry -e cpu-clock --call-graph fp --no-lock-owner
line "$start -a -c 1 -e sched:sched_switch/call-graph=dwarf,stack-size=1024/ $sched $irqs -e cpu-clock/freq=199,name=cpu-clock,call-graph=dwarf,stack-size=1024/ -o perf.data
" tail $dry -e cpu-clock --call-graph dwarf,1024 --no-lock-owner
[ "$(uname -m)" = x86_64 ] && line "perf probe -q -x /opt/s/app --add 'perfkit:request=handle key=id'
perf probe -q -x /opt/s/app --add perfkit:request=handle%return
$start -a -c 1 -e sched:sched_switch/call-graph=dwarf,stack-size=4096/ $sched $tail -e perfkit:request -e perfkit:request__return -o perf.data
perf probe -q -d perfkit:request -d perfkit:request__return
" requests $dry -e cpu-clock --no-lock-owner --begin handle --key id --exec /opt/s/app
line "perf probe -q -x 'my app' --add 'perfkit:req_start=f key=%di'
perf probe -q -x 'my app' --add 'perfkit:req_end=g key=%si'
$start -a -c 1 -e sched:sched_switch/call-graph=dwarf,stack-size=4096/ $sched $tail -e perfkit:req_start -e perfkit:req_end -o perf.data
perf probe -q -d perfkit:req_start -d perfkit:req_end
" requests $dry -e cpu-clock --no-lock-owner --begin f --end g --key %di --end-key %si -x 'my app'

# Stacks of the chosen alone; --also.
chosen="-e sched:sched_switch -e sched:sched_switch/call-graph=fp/ --filter"
waking="-e sched:sched_waking -e sched:sched_waking/call-graph=fp/ --filter"
line "$start -a -c 1 $chosen 'prev_comm ~ \"db*\" || prev_comm == \"x y\"' $waking 'comm ~ \"db*\" || comm == \"x y\"' ${sched#* * } -o perf.data
" offcpu $dry --comm 'db*,x y' --stacks fp
line "$start -a -c 1 $chosen 'CPU == 0 || CPU == 2 || CPU == 3' $waking 'target_cpu == 0 || target_cpu == 2 || target_cpu == 3' ${sched#* * } -e block:block_rq_insert -e block:block_rq_issue -e block:block_rq_complete -e power:cpu_idle --all-cgroups -o perf.data
" offcpu $dry -C 0,2-3 --stacks fp --also block,idle,cgroups
# The filter has addresses of this machine's kernel: not for another one.
line "$start -a -c 1 -e sched:sched_switch -e sched:sched_waking ${sched#* * } -e timer:timer_expire_entry -o perf.data
" offcpu $dry --stacks none --also tcp --for-perf 6.1
line "$start -a -c 1 $chosen 'prev_pid == $$' $waking 'pid == $$' ${sched#* * } -o perf.data
" offcpu $dry -t $$ --stacks fp
line "$start -C 2 -e cpu-clock -F 999 --call-graph lbr -o perf.data
" cpu $dry -e cpu-clock -C 2 --stacks lbr
# An option of perf 5.1 lets perf end at once; the perf that is to run the line may be older.
line "perf record -k CLOCK_MONOTONIC --buildid-all -m 64K -a -e cpu-clock -F 999 --call-graph fp -o perf.data
" cpu $dry -e cpu-clock --stacks fp --for-perf 4.18
printf '#!/bin/sh\necho perf version 5.0.1\n' >old.sh
printf '#!/bin/sh\n[ "$1" = record ] || exit 1\nsleep 1 & exec sleep 3\n' >slow.sh
chmod +x old.sh slow.sh
line "./old.sh record -k CLOCK_MONOTONIC --buildid-all -m 64K -a -e cpu-clock -F 999 -o perf.data
" cpu $dry -e cpu-clock --stacks none --perf ./old.sh
# A perf that has more to do after its command ended (and does not wait for it) is no riddle.
"$PERFKIT" record cpu -d 1 --perf ./slow.sh -o slow.data >out 2>err || bad "a slow end: exit $?"
[ ! -e /proc/self/task/$$/children ] && [ ! -e /proc/$$/task/$$/children ] ||
	[ "$(grep -c 'the 1 s are over; perf still writes' err)" = 1 ] || bad "a slow end: $(cat err)"

# What is printed is what sh would run: the words survive.
"$PERFKIT" record cpu $dry -- printf '%s|' "it's" 'a  b' '$HOME' >out
sed 's/.* -- //' out >words.sh
[ "$(sh words.sh)" = "it's|a  b|\$HOME|" ] || bad "sh took the line apart: $(sh words.sh)"

refused 2 "mode 'all' is not one of cpu, offcpu, tail, requests" all
refused 2 "which mode?"
refused 2 "or -p, not both" cpu -p 1 -- ./prog
refused 2 "requests needs --begin FUNC" requests -p 1
refused 2 "requests needs -p PID" requests --begin f
refused 2 "apply only to requests" tail --begin f
refused 2 "multiple of 8" cpu --call-graph dwarf,9
refused 2 "multiple of 8" cpu --call-graph dwarf,65536
refused 2 "not 'lbr,1'" cpu --call-graph lbr,1
refused 2 "give one of --pid, --tid" offcpu --comm x -C 1
refused 2 "--cpu takes CPUs as 0,2-3" offcpu -C 3-1
refused 2 "there is no process 999999999" tail -p 999999999
refused 2 "--also takes vectors, faults" tail --also disks
refused 2 "--also cgroups needs perf 5.7" tail --also cgroups --for-perf 4.18
refused 2 "--for-perf takes a version" tail --for-perf six
refused 2 "--measure belongs to --dry-run" tail --measure
refused 2 "--comm does not apply to cpu" cpu --comm x
# What a mode has no use for, and numbers that mean nothing, are refused, never dropped.
refused 2 "--freq applies to CPU samples" offcpu -F 50
refused 2 "--event applies to CPU samples" offcpu -e cycles
refused 2 "--no-lock-owner applies only to" cpu --no-lock-owner
refused 2 "--no-lock-owner applies only to" offcpu --no-lock-owner
refused 2 "--exec applies only to" tail -x ./prog
refused 2 "--freq must be 1 to" cpu -F 0
refused 2 "--duration must be at least 1" cpu --duration 0
refused 2 "--mmap-pages takes a size, as 8M, or a number of pages, not '0'" cpu -m 0
refused 2 "there is no process 4194305" cpu -p 4194305 -d 1
refused 2 "there is no thread x" cpu -t x -d 1
refused 2 "watch writes no recording" watch -o x
# watch is offcpu, read by perfkit watch.
line "perf record -k CLOCK_MONOTONIC --buildid-all --no-bpf-event -m 64K -a -c 1 -e sched:sched_switch -e sched:sched_waking ${sched#* * } -o - | perfkit watch --tid $$ --over 5ms --save 'a b'
" watch $dry --stacks none -t $$ -- --over 5ms --save 'a b'
# A perf that streams is asked again and again to hand over what it has, and runs as it was called.
cat >stream.sh <<'END'
#!/bin/sh
[ "$1" = record ] && fifo=${2#--control=fifo:} && [ "$3" = -k ] || exit 1
for i in 1 2 3 4; do
	read word
	echo "$word"
done <"$fifo"
exit 5
END
chmod +x stream.sh
got=0
"$PERFKIT" record offcpu -o - --perf ./stream.sh >out 2>err || got=$?
[ "$got $(tr '\n' ' ' <out)" = "5 ping ping ping ping " ] || bad "stream: exit $got: $(cat out err)"
got=0
timeout 60 "$PERFKIT" record watch --perf ./stream.sh -- --status 0 >out 2>err || got=$?
[ $got = 1 ] && grep -q "not a stream of perf record" err || bad "record watch: exit $got: $(cat out err)"
refused 2 "--most must be at least 1" watch --perf ./stream.sh -- --most 0
# Out of files after the reader has its pipe: the reader's input ends, and so does the command.
got=0
sh -c 'ulimit -n 5; exec timeout 60 "$@"' - "$PERFKIT" record watch --perf ./stream.sh -- --status 0 >out 2>err </dev/null || got=$?
[ $got != 0 ] && [ $got != 124 ] || bad "record watch, out of files: exit $got: $(cat out err)"
# The estimate: counts of `perf stat` as a perf of ours gives them, sizes by arithmetic.
cat >perf.sh <<'END'
#!/bin/sh
[ "$1 $2 $3" = "stat -a -x," ] || exit 1
echo 'a line that is no count'
echo '<not counted>,,sched:sched_wakeup,0,0.00,,'
echo '10000,,sched:sched_switch,1000,100.00,,'
echo '5000,,sched:sched_waking,1000,100.00,,'
END
chmod +x perf.sh
"$PERFKIT" record offcpu --dry-run --perf ./perf.sh >out 2>err || bad "estimate: exit $?"
# 10,000 switches of 112 + 150 + 160 + 4096 bytes, 5,000 wakings of 112 + 150
grep -qx '# estimate: 15000 events/s, 46.5 MB/s, 5 % of a CPU' err || bad "estimate: $(cat err)"
grep -q '^# measured just now, under 10000 switches/s' err || bad "estimate: $(cat err)"
grep -q '^# cheaper: --stacks fp, 3.9 MB/s' err || bad "estimate: $(cat err)"
# … by which the memory of watch is sized: ten seconds at twice that load, at most 256 MB
memory() # MB OPTIONS...
{
	want=$1
	shift
	"$PERFKIT" record watch --dry-run --perf ./perf.sh "$@" >out 2>err || bad "memory: exit $?"
	[ "$(grep -o -e '--memory .*' out)" = "$want" ] || bad "memory: not '$want': $(cat out)"
}
memory '--memory 78' --stacks fp
memory '--memory 256'
memory '--memory 5' -- --memory 5
memory '' -- --window 3s
# 100 of the 10,000 with stacks, in perf's order
cat >perf.sh <<'END'
#!/bin/sh
[ "$8 $9" = "--filter prev_pid == $PPID_OF_TEST" ] || exit 1
echo '10000,,sched:sched_switch,1000,100.00,,'
echo '100,,sched:sched_switch,1000,100.00,,'
echo '<not counted>,,sched:sched_waking,0,0.00,,'
END
PPID_OF_TEST=$$ "$PERFKIT" record offcpu --dry-run -t $$ --stacks dwarf:4096 --perf ./perf.sh >out 2>err || bad "estimate: exit $?"
grep -q '^# sched:sched_switch 10000/s, sched:sched_switch 100/s with stacks' err || bad "estimate: $(cat err)"
grep -q '^# sched:sched_waking not counted' err || bad "estimate: $(cat err)"
grep -qx '# estimate: 10100 events/s, 1.6 MB/s, 1 % of a CPU' err || bad "estimate: $(cat err)"
"$PERFKIT" record offcpu --dry-run --perf false >out 2>err || bad "estimate: exit $?"
grep -q '^# rate not measured' err || bad "estimate: $(cat err)"
[ -s out ] || bad "no line without a rate"
TMPDIR=$PWD/none "$PERFKIT" record offcpu --dry-run --measure >out 2>err || bad "measure: exit $?"
grep -qF "# rate not measured: cannot make a file in $PWD/none: No such file" err || bad "measure: $(cat err)"
[ $fails = 0 ] || exit 1

# perf's own exit status and a perf that is not there.
refused 1 "No such file" cpu $dry --no-dry-run --perf /nonexistent/perf -- true

perf=$(command -v perf) || { echo "perf is not installed; the lines are right"; exit 77; }
cc=$(command -v gcc || command -v cc) || { echo "no compiler; the lines are right"; exit 77; }
HOME=$PWD # perf keeps copies of binaries in ~/.debug
export HOME
"$perf" record -q -a -e sched:sched_switch -o probe.data -- true 2>/dev/null || {
	echo "perf may not record tracepoints here; the lines are right"; exit 77; }

$cc -O1 -g -pthread "$SRC/tests/workload/requests.c" -o server || exit 1
events() { "$perf" script -i "$1" -F event 2>/dev/null | tr -d ' ' | sort | uniq -c; }
count() { events "$1" | sed -n "s/^ *\([0-9]*\) $2:*\$/\1/p"; }

"$PERFKIT" record cpu -e cpu-clock -o cpu.data -- ./server >/dev/null 2>err || bad "cpu: $(cat err)"
grep -q 'next: perfkit svg cpu.data' err || bad "cpu: no next step: $(cat err)"
"$PERFKIT" collapse cpu.data | grep -q 'server;.*handle' || bad "cpu: no handle in the stacks"
"$PERFKIT" record cpu -e cpu-clock -o seven.data -- sh -c 'exit 7' >out 2>err
[ $? = 7 ] || bad "cpu: the status of the command is lost: $(cat err)"
# new threads are called as those that make them, where nothing but their start is recorded
"$perf" record -q -k CLOCK_MONOTONIC --switch-events -e page-faults -c 1 -o forks.data -- ./server >/dev/null 2>err ||
	bad "forks: $(cat err)"
"$PERFKIT" report -q --by thread --top 0 forks.data >forks 2>&1
grep -q '^server/' forks && ! grep -q '^/[0-9]' forks || bad "threads without names: $(cat forks)"
# the command gets no file of perfkit's own, through which it could command perf
cat >files.sh <<'END'
for f in /proc/$$/fd/*; do [ $f = /proc/$$/fd/1 ] || readlink $f; done
END
sh files.sh >files.here 2>/dev/null
"$PERFKIT" record offcpu --stacks none -o - -- sh -c '. ./files.sh >files.there 2>/dev/null' >stream 2>err || bad "stream: $(cat err)"
[ "$(grep -c '^socket:' files.here)" = "$(grep -c '^socket:' files.there)" ] &&
	[ "$(grep -c '^pipe:' files.here)" = "$(grep -c '^pipe:' files.there)" ] ||
	bad "stream: the command has $(cat files.there), not $(cat files.here)"
sleep 2 &
"$PERFKIT" record cpu -e cpu-clock -p $! -d 30 -o ended.data >out 2>err || bad "cpu: a process that ends: exit $?: $(cat err)"
grep -q 'ended within 30 s' err || bad "cpu: a process that ends: $(cat err)"
sleep 3 &
"$PERFKIT" record tail -p $! -d 1 -o one.data >/dev/null 2>err || bad "tail -p: $(cat err)"
grep -q "^next: perfkit tail --pid $! one.data\$" err || bad "tail -p: next step: $(cat err)"
sh -c 'sleep 2; :' &
"$PERFKIT" record tail --comm 's[h]' -d 1 -o one.data >/dev/null 2>err || bad "tail --comm: $(cat err)"
grep -q "^next: perfkit tail --comm 's\[h\]' one.data\$" err || bad "tail --comm: next step: $(cat err)"
"$PERFKIT" record offcpu -o offcpu.data -- ./server >/dev/null 2>err || bad "offcpu: $(cat err)"
# what it cost, as perf's own output has it
"$perf" script -i offcpu.data -F time 2>/dev/null | awk '
	{ sub(/:/, "", $1); if (!n++ || $1 < from) from = $1; if ($1 > to) to = $1 }
	END { print n / (to - from) }' >rate
read -r rate <rate
awk -v rate="$rate" '/^cost: / { n++; for (i = 2; i <= NF; i++) if ($i ~ /^events/) is = $(i - 1); lost = /lost/; cpu = /perf took/ }
	END { exit !(n == 1 && lost && cpu && is > rate * 0.999 && is < rate * 1.001) }' err ||
	bad "offcpu: $rate events/s, but $(grep ^cost err)"
"$PERFKIT" doctor offcpu.data | tr -s '\n ' ' ' | grep -qF "$(sed -n 's/^cost: \(.*\); perf took.*/\1; perf took/p' err)" ||
	bad "offcpu: doctor says $("$PERFKIT" doctor offcpu.data | head -2), not $(grep ^cost err)"
"$PERFKIT" report offcpu.data >report || bad "offcpu: report: exit $?"
[ "$(count offcpu.data sched:sched_switch)" -gt 100 ] || bad "offcpu: $(events offcpu.data)"
"$PERFKIT" record tail -e cpu-clock -o tail.data -- ./server >/dev/null 2>err || bad "tail: $(cat err)"
grep -q '^next: perfkit tail tail.data$' err ||
	bad "tail: next step: $(cat err)"
[ "$(count tail.data sched:sched_waking)" -gt 100 ] || bad "tail: $(events tail.data)"

# perf takes every event that --also adds, where this kernel has them all.
if (for e in irq_vectors:local_timer_entry exceptions:page_fault_user nmi:nmi_handler block:block_rq_issue \
	power:cpu_idle; do "$perf" record -q -e $e -o probe.data -- true 2>/dev/null || exit 1; done); then
	"$PERFKIT" record tail -e cpu-clock --no-lock-owner --also vectors,faults,nmi,block,idle,tcp,cgroups -o also.data \
		-- ./server >/dev/null 2>err || bad "--also: $(cat err)"
	"$PERFKIT" report --by irq also.data 2>/dev/null | grep -q '^local_timer ' || bad "--also: no timer interrupt"
	"$PERFKIT" collapse -q --event exceptions:page_fault_user also.data 2>/dev/null | grep -q '^server;.*;exc_page_fault ' ||
		bad "--also: no page fault of the server with its caller"
fi

# A bundle answers the off-CPU questions as the recording does.
"$PERFKIT" pack tail.data -o tail.tar.zst >/dev/null || bad "pack: exit $?"
for q in "collapse -e sched:sched_switch" "svg --title t" "svg --title t --offcpu"; do
	ln -sfn tail.data asked # pictures show the file's name
	"$PERFKIT" $q asked >here 2>/dev/null
	mv server gone
	ln -sfn tail.tar.zst asked
	"$PERFKIT" $q asked >there 2>/dev/null
	mv gone server
	cmp here there >&2 || bad "$q: the bundle answers otherwise"
	[ -s here ] || bad "$q: no answer"
done

"$perf" probe -q -x ./server --add 'perfkittest:p=handle' 2>/dev/null || {
	[ $fails = 0 ] || exit 1
	echo "perf may not set uprobes here; the other modes are right"
	exit 77
}
"$perf" probe -q -d perfkittest:p
# Each of two threads handles 101 requests.
"$PERFKIT" record requests -e cpu-clock --begin handle --end reply --key id -o req.data -- ./server \
	>/dev/null 2>err || bad "requests: $(cat err)"
[ "$(count req.data perfkit:req_start)" = 202 ] || bad "requests: $(events req.data)"
[ "$(count req.data perfkit:req_end)" = 202 ] || bad "requests: $(events req.data)"
"$PERFKIT" record requests -e cpu-clock --no-lock-owner --begin handle -o ret.data -- ./server \
	>/dev/null 2>err || bad "requests: $(cat err)"
[ "$(count ret.data perfkit:request)" = 202 ] || bad "return: $(events ret.data)"
[ "$(count ret.data perfkit:request__return)" = 202 ] || bad "return: $(events ret.data)"
left() { "$perf" probe -l 2>/dev/null | grep perfkit: && bad "$1: probes were left behind"; }
left requests
# … also when it is told to stop, and when the command fails.
# (A shell's background jobs ignore SIGINT, unless env undoes it.)
env --default-signal=INT true 2>/dev/null && default=--default-signal=INT || default=
for sig in ${default:+INT} TERM HUP; do
	rm -f sig.data # what is waited for is this one's
	env $default "$PERFKIT" record requests -e cpu-clock --begin handle \
		-x ./server --duration 20 -o sig.data >/dev/null 2>err &
	pid=$!
	for i in $(seq 50); do [ -s sig.data ] && break; sleep 0.1; done
	sleep 0.3
	kill -$sig $pid
	wait $pid || bad "SIG$sig: exit $?: $(cat err)"
	"$PERFKIT" report --force sig.data >/dev/null || bad "SIG$sig: the recording is not whole"
	left SIG$sig
done
# Told to stop while its probes are being set: it says that there is nothing.
printf '#!/bin/sh\n[ "$1 $2" != "probe -q" ] || { >probing; sleep 5; }\nexec "%s" "$@"\n' "$perf" >slow-perf
chmod +x slow-perf
env $default PERF="$PWD/slow-perf" "$PERFKIT" record requests -e cpu-clock --no-lock-owner \
	--begin handle -x ./server -o sig.data >/dev/null 2>err &
pid=$!
for i in $(seq 50); do [ -e probing ] && break; sleep 0.1; done
kill -TERM $pid
wait $pid && bad "stopped early: exit 0"
grep -q "stopped before perf began" err || bad "stopped early: $(cat err)"
left "stopped early"
status=0
"$PERFKIT" record requests --begin handle -x ./server -o f.data -- sh -c 'exit 5' >/dev/null 2>&1 ||
	status=$?
[ $status = 5 ] || bad "the command's exit status was 5, not $status"
refused 1 "perf probe failed" requests --begin no_such_function -x ./server -- true
left "a failed probe"
# who is not root is told that, not which package would help
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --clear-groups "$PERFKIT" --version >/dev/null 2>&1; then
	setpriv --reuid=65534 --clear-groups "$PERFKIT" record tail -e cpu-clock -o n.data -- true >/dev/null 2>err ||
		grep -q "need root or CAP_PERFMON" err || bad "nobody was told: $(cat err)"
	grep -q libc6-dbg err && bad "a package for who is not root: $(cat err)"
fi
[ $fails = 0 ]
