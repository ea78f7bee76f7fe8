#!/bin/sh
# Runs before and after a change, recorded by turns: slower, where hot() has 25 % more work
# (work0.N, work25.N: six each), and shift, where store() sleeps half as long again (wait0.N,
# wait50.N: four each). tests/truth/slower.c, tests/truth/shift.c
#
# perf 6.1.192, Linux 6.18, x86-64, two virtual CPUs; run as root after `make check`.
set -e
cd "$(dirname "$0")"
O=${O:-../../build}
mkdir -p /srv/perfkit symfs/srv/perfkit
for p in slower shift; do
	cp "$O/tests/truth/$p" /srv/perfkit/
	strip -g /srv/perfkit/$p
	cp /srv/perfkit/$p symfs/srv/perfkit/
done
for i in 1 2 3 4 5 6; do
	for more in 0 25; do
		perf record -q -N -k CLOCK_MONOTONIC -e cpu-clock:u -F 249 -g -o work$more.$i.data \
			/srv/perfkit/slower $more 2500 >/dev/null
	done
	[ $i -le 4 ] || continue
	for more in 0 50; do
		perf record -q -a -N -k CLOCK_MONOTONIC -m 1024 -g -e sched:sched_switch -e sched:sched_waking \
			-e sched:sched_wakeup -e sched:sched_wakeup_new -e sched:sched_process_exit \
			-o wait$more.$i.data -- chrt -f 50 /srv/perfkit/shift log.txt --rounds 31 \
			--seed $i$more --store $((1000 + more * 10))
		python3 ../bystanders.py wait$more.$i.data -- shift chrt
	done
done
chmod 644 *.data
rm -f log.txt
for f in *.data; do gzip -9nf $f; done
