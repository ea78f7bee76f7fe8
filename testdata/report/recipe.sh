#!/bin/sh
# A program (shop.c) whose requests call four functions, all with probes on entry and
#
# perf 6.1.192, Linux 6.18, x86-64, two virtual CPUs; run as root.
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit
gcc -O2 -o /srv/perfkit/shop shop.c
perf probe -q -d 'probe_shop:*' || true
set --
for f in handle parse lookup answer; do
	perf probe -q -x /srv/perfkit/shop $f
	perf probe -q -x /srv/perfkit/shop "$f%return"
	set -- "$@" -e "probe_shop:$f" -e "probe_shop:${f}__return"
done
	-e 'sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new' \
	-e 'irq:irq_handler_entry,irq:irq_handler_exit,irq:softirq_entry,irq:softirq_exit' \
	-e 'irq_vectors:local_timer_entry,irq_vectors:local_timer_exit' \
	-e 'irq_vectors:reschedule_entry,irq_vectors:reschedule_exit' \
	-o shop.data -- chrt -f 50 /srv/perfkit/shop requests.csv
perf probe -q -d 'probe_shop:*'
python3 ../bystanders.py shop.data -- shop chrt
perf script -i shop.data -F cpu,time,event,trace --ns | grep -E 'irq(_vectors)?:' |
	sed 's/^ *//; s/  */ /g' >interrupts.txt
gzip -9nf shop.data interrupts.txt
