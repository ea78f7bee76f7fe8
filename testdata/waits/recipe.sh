#!/bin/sh
# Threads that wait in known ways (waits.c), with all it takes to say why; run as root.
# truth.txt is what the program measured around each of its waits (ns, CLOCK_MONOTONIC);
# timehist.txt.gz is what perf 6.1 says of every switch-out. Bystanders are made anonymous.
set -e
cd "$(dirname "$0")"
cc -O1 -g -fno-omit-frame-pointer -pthread -o /tmp/waits waits.c
perf record -q -a -N -k CLOCK_MONOTONIC -m 512 -g \
	-e sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new \
	-e sched:sched_process_exit -e cpu-clock/freq=997/ -o perf.data -- /tmp/waits 0.5 >truth.txt
chmod 644 perf.data
python3 ../../../testdata/bystanders.py perf.data -- waits sleeper locker_a locker_b consumer \
	producer reader piper burner poller
perf sched timehist --state -i perf.data 2>/dev/null |
	sed 's/\(\.[0-9]* *[A-Z+]\) .*/\1/; s/ *$//' | gzip -9n >timehist.txt.gz
python3 ../kallsyms.py perf.data >kallsyms
