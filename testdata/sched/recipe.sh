#!/bin/sh
# Scheduler events of the whole machine with wakeups and callchains, period 1. Names of bystanders are made anonymous.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root.
set -e
cd "$(dirname "$0")"
sh build.sh
perf record -N -q -e sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_process_exit -a -g -m 1024 -o perf.data /srv/perfkit/pingpong 300
chmod 644 perf.data
python3 ../bystanders.py perf.data -- pingpong ping pong
python3 ../kallsyms.py perf.data >kallsyms
echo --symfs symfs --kallsyms kallsyms >args
sh ../witness.sh sched
