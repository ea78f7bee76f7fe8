#!/bin/sh
# The pages that record, run as a reader would: docs.sh says how.
# live: records now, on this machine
perf record -q -a -g -e sched:sched_switch -o probe.data -- true >/dev/null 2>err ||
	{ echo "perf cannot record sched_switch system-wide here: $(tail -1 err)"; exit 77; }
rm probe.data err
# Some kernels lose the switches of a virtual CPU's idle task, and perfkit then refuses, rightly:
# here no CPU is idle.
spinners=
for cpu in $(seq 0 $(($(nproc) - 1))); do
	taskset -c "$cpu" chrt -i 0 sh -c 'while :; do :; done' 2>/dev/null &
	spinners="$spinners $!"
done
trap 'kill $spinners 2>/dev/null' EXIT
sh "$SRC/tests/cli/docs.sh" live
