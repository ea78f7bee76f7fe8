#!/bin/sh
# busy.sh COMMAND... - runs COMMAND while no CPU is idle.
#
# Some kernels lose the idle task's switches on virtual CPUs; perfkit then rightly refuses to
# answer. A loop of the policy SCHED_IDLE on each CPU avoids that and takes next to no time from
# anything else. Their ids are in $BUSY for a test that needs an idle CPU for a while: it stops them.
set -u
loops=
trap 'kill $loops 2>/dev/null; kill -CONT $loops 2>/dev/null' EXIT
for cpu in $(seq 0 $(($(nproc --all) - 1))); do
	taskset -c "$cpu" chrt -i 0 sh -c 'while :; do :; done' 2>/dev/null &
	loops="$loops $!"
done
BUSY=$loops
export BUSY
"$@"
