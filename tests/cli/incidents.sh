# Well-known causes of slow requests, planted one after the other and recorded now with `perfkit record
# tail`: the first sentence of `perfkit tail` names the mechanism and who is behind it, for most of the
# requests that the program itself logged as slow. What this machine cannot do is skipped, with the reason.
#
#	INCIDENTS=flood,thief sh tests/cli/incidents.sh    only these (PERFKIT, SRC and O set)
#	RUNS=10 ...    run each 10 times and count how often it is named, of those times
#	in which it happened and the recording can be used
# live: records now, on this machine
set -u
here=$PWD
HOME=$here # perf keeps copies of binaries in ~/.debug
export HOME
bin=$O/tests/truth
case $bin in /*) ;; *) bin=$SRC/$bin ;; esac
perf record -q -a -k CLOCK_MONOTONIC -e sched:sched_switch -o try.data true >/dev/null 2>err || {
	echo "nothing can be recorded here: $(tail -1 err)"
	exit 77
}
named=0 wrong=0 skipped= tries=

wanted() { case ,${INCIDENTS:-$1}, in *,"$1",*) ;; *) return 1 ;; esac; }
no() { ! wanted "$1" || skipped="$skipped $1 ($2);"; }

# record STACKS COMMAND...: into live.data. The lock-owner probe is one for the whole machine, which
# another recording may have set.
also=''
record()
{
	stacks=$1
	shift
	# shellcheck disable=SC2086
	"$PERFKIT" record tail --stacks "$stacks" --no-lock-owner $also -F 997 -o "$here/live.data" \
		-- "$@" >/dev/null 2>"$here/err"
}

# The program's own slow requests: are that many percent of them explained so? Not all, as other users of
# the machine are behind some; programs in other languages log none.
least=60
logged()
{
	slow='no log'
	[ -s "$here/log" ] || return 0
	# shellcheck disable=SC2086
	"$PERFKIT" tail -q --no-inline --force --top 0 --rows 0 $1 --json "$here/live.data" \
		>"$here/json" 2>"$here/err" || [ $? = 3 ] || return 1
	slow=$(python3 "$SRC/tests/truth/check_incident.py" "$here/json" "$here/log" $least 2>&1)
}

# once NAME SENTENCE OPTIONS STACKS COMMAND...: record, and compare the answer's first sentence. 1: another
# one, 2: it explains too few of the logged requests; 77 with the reason in $why: it cannot be planted.
once()
{
	options=$3 starts="^(The worst wait|The longest of the [0-9,]+ worst waits|[0-9,]+ of [0-9,]+ worst waits)[^:]*: ($2)"
	shift 3
	got=0 slow='' why=''
	rm -f "$here/log"
	record "$@" || got=$?
	[ $got != 77 ] || why=$(grep -v '^\[ perf' "$here/err" | tail -1)
	[ $got != 77 ] || return 77
	# shellcheck disable=SC2086
	"$PERFKIT" tail -q --no-inline --force --top 200 $options "$here/live.data" \
		>"$here/text" 2>"$here/err" || [ $? = 3 ]
	said=$(sed '/^$/,$d' "$here/text" | tr '\n' ' ')
	if echo "$said" | grep -Eq "$starts"; then
		logged "$options" || return 2
		return 0
	fi
	# kernels of virtual machines may lose switches of idle CPUs
	# shellcheck disable=SC2086
	"$PERFKIT" tail -q --no-inline --top 1 $options "$here/live.data" >/dev/null 2>"$here/err"
	[ $? = 3 ] || return 1
	why='the recording is refused'
	return 77
}

# says NAME SENTENCE OPTIONS STACKS COMMAND...: a regular expression of the first sentence, up to six
# recordings, for other users of the machine may be a louder cause
says()
{
	name=$1 tried=0 right=0 unplanted=0 rc=1
	wanted "$name" || return 0
	while [ $tried -lt "${RUNS:-6}" ] && { [ $rc != 0 ] || [ -n "${RUNS:-}" ]; }; do
		tried=$((tried + 1)) rc=0
		once "$@" || rc=$?
		case $rc$why in
		77*'is busy' | 77*'held back' | 77*refused)
			unplanted=$((unplanted + 1))
			[ -z "${RUNS:-}" ] || echo "$name $tried: $why"
			[ $tried = "${RUNS:-6}" ] && [ $unplanted = $tried ] || continue
			;;
		esac
		[ $rc != 77 ] || { no "$name" "$why"; return; }
		[ $rc = 1 ] || right=$((right + 1))
		[ $rc = 0 ] || tries="$tries $name"
		[ -z "${RUNS:-}" ] || echo "$name $tried: $rc ($slow) $said"
	done
	tried=$((tried - unplanted))
	[ -z "${RUNS:-}" ] || { echo "$name: $right of $tried named"; [ $right != "$tried" ] || rc=0; }
	if [ $rc = 0 ]; then
		named=$((named + 1))
		echo "$name ($slow): $said"
	else
		wrong=$((wrong + 1))
		echo "$name WRONG ($slow): $said"
		cat "$here/err"
	fi
}

incident() { says "$1" "$2" "--comm front $3" fp "$bin/incident" "$here/log" "$1"; }

incident pipe '(front waited|waiting)( in [^ ]+)? for room in a full pipe, which reader emptied(; (reader|it) was|,) asleep' '--cause pipe --work-frame ^(full_pipe|send_report)$'
incident inversion 'mid had the CPU( \([0-9]+ % of the time\))?(, in [0-9]+ of them)? while low held the lock that front wanted' '--cause lock,futex'
incident thief 'thief had the CPU, running (thief|steal|burn_ns)' ''
# needs a CPU that is idle when it is called, which the loops of busy.sh prevent
signal_busy() { [ -z "${BUSY:-}" ] || kill "-$1" $BUSY; }
signal_busy STOP
also='--also idle'
says idle 'waiting for an idle CPU to wake up( .idle state [0-9]+.)?' \
	'--comm front --state runnable' fp "$bin/incident" "$here/log" idle
also=''
signal_busy CONT
# The second time the sockets' timers are not recorded: the 40 ms and a timer interrupt show it.
for also in '--also tcp' ''; do
	incident nagle 'front waited( in [^ ]+)? for data on a socket, which server sent; (server|it) was waiting for data that (a TCP timer let go|Nagle.s algorithm kept until a delayed ACK)' \
		'--cause net --work-frame ^(query|read_all)$'
done
incident fork 'forker held mmap_lock that front wanted, in fork' '--cause rwlock'
says allocator "snapshot held the allocator's lock that front wanted" '--comm front --cause lock' \
	dwarf:4096 "$bin/hold" "$here/log" --arena

# A file system with a journal, and a disk that may have few dirty pages: both only for this test.
disk=$(mktemp -d)
if dd if=/dev/zero of="$disk/image" bs=1M count=128 2>err && mkfs.ext4 -q -F -O has_journal \
	"$disk/image" 2>err && mkdir "$disk/on" && mount -o loop "$disk/image" "$disk/on" 2>err; then
	trap 'cd /; umount "$disk/on"; rm -rf "$disk"' EXIT
	cd "$disk/on" || exit 1
	incident journal "front waited( in [^ ]+)? for the ext4 journal's commit, which jbd2/[^ ]* wrote" '--cause io'
	bdi=/sys/class/bdi/$(findmnt -no MAJ:MIN "$disk/on" | tr -d ' ')
	if echo 1 2>/dev/null >"$bdi/strict_limit" && echo 4194304 2>/dev/null >"$bdi/max_bytes"; then
		incident dirty 'throttled, too many dirty pages' '--cause io'
	else
		no dirty "no limit for dirty pages of one disk"
	fi
	cd "$here" || exit 1
else
	rm -rf "$disk"
	no journal "no file system can be mounted: $(tail -1 err)"
fi

# Packets that CPU 1 sends arrive on CPU 0.
if unshare -n -m sh -c 'mount -t sysfs none /sys && ip link set lo up &&
	echo 1 >/sys/class/net/lo/queues/rx-0/rps_cpus' 2>err; then
	# about half of the holder's time
	says flood 'packer held the lock that front wanted, (interrupted by softirq NET_RX|running (pack|burn_ns))' \
		'--comm front --cause lock --details 9' fp unshare -n -m sh -c "mount -t sysfs none /sys &&
		ip link set lo up && echo 1 >/sys/class/net/lo/queues/rx-0/rps_cpus &&
		exec $bin/incident $here/log flood"
	! wanted flood || tr -s ' \n' ' ' <"$here/text" | grep -q 'interrupted by softirq NET_RX' || {
		echo "flood WRONG: nothing interrupted"
		wrong=$((wrong + 1))
	}
else
	no flood "packets cannot be steered: $(tail -1 err)"
fi

also='--also block'
says disk 'waiting for a device in [^,]*, a write of 4.00 KiB to loop[0-9]+: [0-9.]+ ms queued, [0-9.]+ ms served' \
	'--comm front --cause io' fp "$bin/slowdisk" "$here/log"
also=''
# A disk that is slow by itself: by the device mapper over a loop device, or a driver made for tests.
image='' slow_disk=''
make_delay()
{
	size=$(blockdev --getsz "$image") 2>/dev/null
	if dmsetup create "perfkit-$$" --table "0 $size delay $image 0 8" 2>err; then
		slow_disk=/dev/mapper/perfkit-$$
	elif modprobe null_blk nr_devices=1 irqmode=2 completion_nsec=8000000 2>err; then
		slow_disk=/dev/nullb0
	elif modprobe scsi_debug ndelay=8000000 dev_size_mb=8 2>err; then
		udevadm settle
		slow_disk=$(lsblk -dno PATH,MODEL | awk '/scsi_debug/ { print $1 }')
	fi
}
end_delay()
{
	dmsetup remove "perfkit-$$" 2>/dev/null
	rmmod null_blk scsi_debug 2>/dev/null
	:
}
# A control group that may write 50 times a second; $image's number is known.
make_limit()
{
	number=$(cat "/sys/block/${image#/dev/}/dev")
	for group in /sys/fs/cgroup/blkio /sys/fs/cgroup /sys/fs/cgroup/unified; do
		mkdir "$group/perfkit-$$" 2>/dev/null || continue
		group=$group/perfkit-$$
		echo "$number 50" 2>/dev/null >"$group/blkio.throttle.write_iops_device" ||
			echo "$number wiops=50" 2>/dev/null >"$group/io.max" && return
		rmdir "$group"
	done
	return 1
}
also='--also block'
if truncate -s 8M backing && image=$(losetup -f --show backing 2>err); then
	! wanted delay || make_delay
	if [ -n "$slow_disk" ]; then
		says delay 'waiting for a device( in [^,]*)?, a write of 4.00 KiB to [a-z0-9-]+: .*[0-9.]+ ms (until it was submitted|served)' \
			'--comm front --cause io' fp "$bin/slowdisk" "$here/log" --alone --disk "$slow_disk"
		end_delay
	else
		no delay "no delay of the device mapper, no null_blk, no scsi_debug"
	fi
	if make_limit; then
		says limit 'waiting for a device( in [^,]*)?, a write of 4.00 KiB to loop[0-9]+: [0-9.]+ ms until it was submitted' \
			'--comm front --cause io' fp sh -c "echo \$\$ >$group/cgroup.procs &&
			exec $bin/slowdisk $here/log --alone --disk $image"
		rmdir "$group"
	else
		no limit "no control group limits I/O"
	fi
	losetup -d "$image"
else
	no delay "no loop device" && no limit "no loop device"
fi
also=''
[ -e /sys/devices/system/node/node1 ] || no numa "one NUMA node"

memory=/sys/fs/cgroup/memory/perfkit-$$
if mkdir "$memory" 2>/dev/null && echo 67108864 2>/dev/null >"$memory/memory.limit_in_bytes"; then
	says reclaim 'reclaiming memory, its cgroup is at its limit' '--comm front --cause io' fp \
		sh -c "echo \$\$ >$memory/cgroup.procs && exec $bin/incident $here/log reclaim"
	rmdir "$memory"
else
	no reclaim "no control group for memory"
fi
says quota 'throttled, its cgroup had used up its CPU quota' '--comm quota --cause throttle' fp \
	sh "$SRC/tests/truth/quota.sh" "$bin/quota" "$here/log"

python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
# take_gil is static: a python without debug symbols has no name for it
names_gil()
{
	record dwarf:4096 "$python" "$SRC/tests/truth/gil_front.py" &&
		"$PERFKIT" collapse -q --offcpu --force "$here/live.data" 2>"$here/err" | grep -q ';take_gil;'
}
if ! wanted gil; then
	:
elif [ -z "$python" ]; then
	no gil "no python3"
elif ! names_gil; then
	no gil "python3 has no debug symbols here"
else
	says gil 'cruncher held the GIL that front wanted' '--comm front --cause lock' \
		dwarf:4096 "$python" "$SRC/tests/truth/gil_front.py"
fi
if command -v javac >/dev/null && javac -d . "$SRC/tests/truth/Pauses.java" 2>err; then
	says safepoint '(front waited( in [^ ]+)?|waiting) for a JVM safepoint to end, which VM Thread held for GC' \
		'--comm front --cause safepoint' fp java -XX:+UseSerialGC -Xmx96m \
		-XX:-UsePerfData -cp . Pauses
else
	no safepoint "no javac"
fi
[ -z "$skipped" ] || echo "skipped:$skipped"
[ -z "$tries" ] || echo "recorded again, as the machine was busy:$tries"
[ $wrong = 0 ] || exit 1
[ $named -gt 0 ] || exit 77
