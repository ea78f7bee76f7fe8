#!/bin/sh
# The pages that record, run as a reader would: docs.sh says how.
# live: records now, on this machine
perf record -q -a -g -e sched:sched_switch -o probe.data -- true >/dev/null 2>err ||
	{ echo "perf cannot record sched_switch system-wide here: $(tail -1 err)"; exit 77; }
rm probe.data err
sh "$SRC/tests/cli/docs.sh" live
