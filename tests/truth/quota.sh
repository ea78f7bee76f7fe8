#!/bin/sh
# quota.sh PROGRAM LOG: run tests/truth/quota in a control group with a CPU quota of 1 ms in 20
# (version 1 or 2, as mounted). Exit 77 where no such group can be made.
no() { echo "$1"; exit 77; }
v1=/sys/fs/cgroup/cpu v2=/sys/fs/cgroup
if [ -e $v1/cpu.cfs_quota_us ]; then
	group=$v1/perfkit-$$
	mkdir $group 2>/dev/null || no "no control group can be made here"
	trap 'rmdir $group' EXIT
	echo 20000 >$group/cpu.cfs_period_us && echo 1000 >$group/cpu.cfs_quota_us &&
		echo 200000 >$group/cpu.shares || no "no CPU quota can be set here"
elif grep -qw cpu $v2/cgroup.subtree_control 2>/dev/null; then
	group=$v2/perfkit-$$
	mkdir $group 2>/dev/null || no "no control group can be made here"
	trap 'rmdir $group' EXIT
	echo "1000 20000" >$group/cpu.max && echo 10000 >$group/cpu.weight ||
		no "no CPU quota can be set here"
else
	no "no control groups for the CPU here"
fi
sh -c 'echo $$ >'"$group"'/cgroup.procs && exec "$0" "$1" --stat '"$group"'/cpu.stat' "$1" "$2"
