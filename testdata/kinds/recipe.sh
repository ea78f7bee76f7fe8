#!/bin/sh
# recipe.sh: kinds.c under every pair of events that begins and ends a span: the kernel's own, USDT
# probes, a function and its return. log.txt is the program's own; counts.txt is how many events
# of each name `perf script` prints. Bystanders are made anonymous.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; needs systemtap-sdt-dev and root.
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit
cc -O1 -g -fno-omit-frame-pointer -pthread -o /srv/perfkit/kinds kinds.c
perf buildid-cache --add /srv/perfkit/kinds
perf probe -q -d 'sdt_shop:*' -d 'perfkit_k:*' 2>/dev/null || true
perf probe -q sdt_shop:job_start
perf probe -q sdt_shop:job_done
perf probe -q -x /srv/perfkit/kinds 'perfkit_k:handle=handle_job id=%di:s32'
perf probe -q -x /srv/perfkit/kinds 'perfkit_k:handle=handle_job%return'
(cd /srv/perfkit && perf record -q -a -N -k CLOCK_MONOTONIC -m 2048 -c 1 -e sched:sched_switch \
	-e sched:sched_waking -e sched:sched_wakeup -e sched:sched_wakeup_new \
	-e sched:sched_process_exit -e 'sdt_shop:*' -e 'perfkit_k:*' \
	-e irq:irq_handler_entry,irq:irq_handler_exit,irq:softirq_entry,irq:softirq_exit \
	-e block:block_rq_issue,block:block_rq_complete \
	-e lock:contention_begin,lock:contention_end \
	-e syscalls:sys_enter_fsync,syscalls:sys_exit_fsync -o kinds.data -- \
	taskset -c 0 chrt -r 20 /srv/perfkit/kinds log.txt)
perf probe -q -d 'sdt_shop:*' -d 'perfkit_k:*'
perf buildid-cache --remove /srv/perfkit/kinds
mv /srv/perfkit/kinds.data perf.data
mv /srv/perfkit/log.txt log.txt
chmod 644 perf.data
python3 ../bystanders.py perf.data -- kinds chrt
perf script -i perf.data -F event 2>/dev/null | sed 's/ *//g; s/:$//' | sort | uniq -c >counts.txt
rm -f perf.data.gz
gzip -9n perf.data
