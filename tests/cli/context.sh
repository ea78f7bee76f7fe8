# What the host knew beside the recording, in answers: the quota of a cgroup and how often it was used up, cgroups as
# filter and as table, the file and device of a wait for I/O, the peer of a wait for the network; in the recording,
# its bundle and its store.
# live: records now, on this machine
set -eu
command -v sqlite3 >/dev/null || { echo "sqlite3 is not installed"; exit 77; }
for p in remote server; do
	${CC:-cc} -D_GNU_SOURCE -O1 -g -o $p "$SRC/tests/requests/$p.c" "$SRC/tests/requests/log.c" -lpthread ||
		{ echo "no compiler here"; exit 77; }
done
fails=0
bad() { echo "$@"; fails=$((fails + 1)); }
cp "$(command -v dd)" spinner
cp spinner writer
v1=/sys/fs/cgroup/cpu v2=/sys/fs/cgroup group='' name=/perfkit-context-$$
pids=
done_with()
{
	for p in $pids; do kill "$p" 2>/dev/null || :; done
	wait
	[ -z "$group" ] || rmdir "$group/inner" "$group" 2>/dev/null || :
}
trap done_with EXIT
if [ -e $v1/cpu.cfs_quota_us ] && mkdir $v1$name 2>/dev/null; then
	group=$v1$name
	mkdir "$group/inner"
	echo 20000 >"$group/cpu.cfs_period_us" && echo 1000 >"$group/cpu.cfs_quota_us" &&
		echo 200000 >"$group/cpu.shares" || { echo "no CPU quota can be set here"; exit 77; }
elif grep -qw cpu $v2/cgroup.subtree_control 2>/dev/null && mkdir $v2$name 2>/dev/null; then
	group=$v2$name
	mkdir "$group/inner"
	echo "1000 20000" >"$group/cpu.max" && echo 10000 >"$group/cpu.weight" ||
		{ echo "no CPU quota can be set here"; exit 77; }
else
	echo "no control group can be made here"
	exit 77
fi
sh -c 'echo $$ >'"$group"'/inner/cgroup.procs && exec ./spinner if=/dev/zero of=/dev/null bs=512' 2>/dev/null &
spinner=$! pids="$pids $!"
./writer if=/dev/zero of=file bs=4096 count=200000 oflag=dsync 2>/dev/null &
pids="$pids $!"
./remote remote.log --seconds 30 >/dev/null 2>&1 &
pids="$pids $!"
sleep 0.5
throttled() { sed -n 's/^nr_throttled //p' "$group/cpu.stat"; }
before=$(throttled)
"$PERFKIT" record tail --comm spinner,writer,apiclient --no-lock-owner --duration 1 -o live.data 2>err ||
	{ echo "nothing can be recorded here: $(tail -1 err)"; exit 77; }
after=$(throttled)
done_with
trap - EXIT

# Each answer of the recording is that of its bundle and of its store.
"$PERFKIT" import -q --force live.data -o live.db 2>/dev/null
"$PERFKIT" pack -q live.data -o live.tar.zst 2>/dev/null
ask() # arguments: the answer, in $out
{
	out=answer
	for f in live.data live.tar.zst live.db; do
		"$PERFKIT" "$@" -q --force $f >answer.$f 2>err.$f || bad "$* $f: exit $?: $(cat err.$f)"
		sed "s/ in live\.[a-z.]*/ in FILE/" answer.$f >answer.new
		[ $f = live.data ] || cmp -s answer answer.new || bad "$* $f: another answer: $(diff answer answer.new | head -5)"
		[ $f != live.data ] || mv answer.new answer
	done
}
says() # text, in the answer with its lines joined
{
	tr -s ' \n' ' ' <$out | grep -qF -- "$1" || bad "not said: $1: $(head -30 $out)"
}

ask report --by cgroup --csv
row=$(grep "^$name/inner," answer) || bad "no row of $name/inner: $(cat answer)"
columns=$(head -1 answer)
cell() { echo "$columns" | tr , '\n' | grep -nx "$1" | cut -d: -f1; }
quota=$(echo "$row" | cut -d, -f"$(cell quota_percent)") n=$(echo "$row" | cut -d, -f"$(cell throttled_periods)")
case $quota in 5 | 5.0*) ;; *) bad "a quota of $quota %: 1 ms in 20 is 5 %" ;; esac
# The snapshots lie within what was read around them.
[ "$n" -ge 10 ] && [ "$n" -le $((after - before)) ] || bad "throttled $n times, the kernel says $((after - before))"

ask report --by thread --csv --pid $spinner
mv answer by_pid
ask report --by thread --csv --cgroup "$name"
cmp by_pid answer || bad "--cgroup $name is not process $spinner"
ask report --by thread --csv --cgroup 'inn*'
cmp by_pid answer || bad "--cgroup 'inn*' is not process $spinner"
# an export selects by the same
for how in --wall --offcpu --tail; do
	for who in "pid $spinner" "cgroup $name"; do
		rm -f "${who%% *}.pb.gz"
		"$PERFKIT" export -q --force --idle --to pprof $how --$who -o "${who%% *}.pb.gz" live.data 2>err || cat err >"${who%% *}.pb.gz"
	done
	cmp pid.pb.gz cgroup.pb.gz || bad "export $how --cgroup $name is not --pid $spinner"
done
"$PERFKIT" export -q --force --to firefox --pid $spinner -o pid.json.gz live.data 2>err && "$PERFKIT" export -q --force --to firefox \
	--cgroup "$name" -o cgroup.json.gz live.data 2>err && cmp pid.json.gz cgroup.json.gz || bad "export --to firefox --cgroup: $(cat err)"
status=0
"$PERFKIT" tail --cgroup /nowhere live.data 2>err || status=$?
[ $status = 2 ] && grep -q 'no process of live.data is in a cgroup like /nowhere' err || bad "an unknown cgroup: $status $(cat err)"

ask tail --comm spinner --cause throttle --top 20
if grep -q throttled answer; then
	says "CPU quota of 1.0 ms in 20.0 ms ($name"
else
	echo "left out: the kernel does not tell throttled threads from preempted ones (before Linux 6.18)"
fi
ask tail --comm apiclient --cause net --top 20
port=$(grep -oE 'peer 127\.0\.0\.1:[0-9]+' answer | head -1)
[ -n "$port" ] || bad "no peer: $(head -30 answer)"
says "waited on $port (dbserver)"
device=$(awk -v d="$(stat -c '%Hd:%Ld' file)" '$1 ":" $2 == d { print $3 }' /proc/diskstats)
ask tail --comm writer --cause io --top 50
if [ -n "$device" ] && grep -q 'io' answer && ! grep -q '^no episodes' answer; then
	says "waited on $PWD/file on $device"
else
	echo "left out: no wait for a disk here"
fi
is() { [ "$(sqlite3 live.db "SELECT $1 FROM context WHERE $2")" = "$3" ] || bad "context: $2 is not $3"; }
is before "kind = 'host' AND subject = 'cpus' AND key = 'online'" "$(cat /sys/devices/system/cpu/online)"
is "count(*) > 0" "kind = 'softirq' AND key = '0' AND after + 0 > before + 0" 1
[ $fails = 0 ]
