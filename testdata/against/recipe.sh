#!/bin/sh
# The same program twice (before, same: another seed), and with one of its waits half as long
# again (longer). tests/truth/shift.c
#
# perf 6.1.192, Linux 6.18, x86-64, two virtual CPUs; run as root after `make check`.
set -e
cd "$(dirname "$0")"
O=${O:-../../build}
mkdir -p /srv/perfkit symfs/srv/perfkit
cp "$O/tests/truth/shift" /srv/perfkit/
strip -g /srv/perfkit/shift
cp /srv/perfkit/shift symfs/srv/perfkit/
# make NAME ARGUMENTS...
make_one()
{
	name=$1
	shift
	perf record -q -a -N -k CLOCK_MONOTONIC -m 1024 -g -e sched:sched_switch -e sched:sched_waking \
		-e sched:sched_wakeup -e sched:sched_wakeup_new -e sched:sched_process_exit \
		-o $name.data -- chrt -f 50 /srv/perfkit/shift $name.txt --rounds 301 "$@"
	python3 ../bystanders.py $name.data -- shift chrt
	chmod 644 $name.data
	gzip -9nf $name.data
}
make_one before --seed 1
make_one same --seed 2
make_one longer --seed 3 --store 1500
zcat before.data.gz >all.data
python3 ../kallsyms.py all.data >kallsyms
rm -f all.data before.txt same.txt longer.txt
