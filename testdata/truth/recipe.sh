#!/bin/sh
# recipe.sh [NAME...]: short recordings of the programs in tests/truth and what those measured of
# themselves (log.txt, CLOCK_MONOTONIC); timehist.txt.gz is what perf says of every switch-out.
# `rounds` is what the program was asked for.
# Bystanders are made anonymous.
# perf version 6.1.187, Linux 6.18, x86-64, two CPUs; run as root after `make check`.
set -e
cd "$(dirname "$0")"
O=${O:-../../build}
mkdir -p /srv/perfkit
alone="taskset -c 0 chrt -f 50"
first="chrt -r 20" # in front of the machine's other users

# make NAME ROUNDS EXTRA-EVENT PREFIX ARGS...
make_one()
{
	name=$1 rounds=$2 extra=$3 prefix=$4
	shift 4
	rm -rf "$name"
	mkdir -p "$name/symfs/srv/perfkit"
	cp "$O/tests/truth/$name" "/srv/perfkit/$name"
	strip -g "/srv/perfkit/$name"
	cp "/srv/perfkit/$name" "$name/symfs/srv/perfkit/"
	(cd /srv/perfkit && perf record -q -a -N -k CLOCK_MONOTONIC -m 1024 -g -e sched:sched_switch \
		-e sched:sched_waking -e sched:sched_wakeup -e sched:sched_wakeup_new \
		-e sched:sched_process_exit $extra -o truth.data -- \
		$prefix "/srv/perfkit/$name" log.txt "$@")
	mv /srv/perfkit/truth.data "$name/perf.data"
	mv /srv/perfkit/log.txt "$name/log.txt"
	chmod 644 "$name/perf.data"
	python3 ../bystanders.py "$name/perf.data" -- $(cat comms)
	python3 ../kallsyms.py "$name/perf.data" >"$name/kallsyms"
	perf sched timehist --state -i "$name/perf.data" 2>/dev/null |
		sed 's/\(\.[0-9]* *[A-Z+]\) .*/\1/; s/ *$//' | gzip -9n >"$name/timehist.txt.gz"
	gzip -9n "$name/perf.data"
	[ -z "$rounds" ] || echo "$rounds" >"$name/rounds"
}

wanted()
{
	[ -z "$names" ] && return 0
	case " $names " in *" $1 "*) return 0 ;; esac
	return 1
}
names=$*
wanted sleeper && make_one sleeper 31 "" "$alone" --rounds 31
wanted handoff && make_one handoff 61 "" "$alone" --rounds 61
wanted pingpong && make_one pingpong 101 "" "$alone" --rounds 101
wanted spinner && make_one spinner 0 "" ""
if wanted quota; then # Linux 6.18 or later
	cp ../../tests/truth/quota.sh /srv/perfkit/
	make_one quota 0 "" "sh quota.sh"
fi
wanted storm && make_one storm 499 "" "" --threads 499
wanted forks && make_one forks 17 "" "" --rounds 17
wanted migrate && make_one migrate 31 "" "" --rounds 31
clock="-e cpu-clock/freq=997/"
wanted hold && make_one hold 5 "$clock" "$first" --rounds 5
wanted hog && make_one hog 5 "$clock" "$first" --rounds 5
wanted chain && make_one chain "" "$clock" "$first" --rounds 7
wanted pool && make_one pool "" "$clock" "$first" --jobs 101
wanted coldmap && make_one coldmap "" "$clock" "$alone" --rounds 66
wanted queue && make_one queue "" "$clock" "$first" --requests 61
wanted forkjoin && make_one forkjoin "" "$clock" "$first" --rounds 7
wanted periodic && make_one periodic "" "$clock" "$first" --rounds 61

# Probes of a request's begin and end, on two threads, with its number as key, and of a function.
if wanted spans; then
	rm -rf spans
	mkdir -p spans/symfs/srv/perfkit
	cp "$O/tests/truth/queue" /srv/perfkit/queue
	perf probe -q -d 'perfkit:*' -d 'probe_queue:*' 2>/dev/null || true
	perf probe -q -x /srv/perfkit/queue 'perfkit:req_start=begin_request key=%di:s32'
	perf probe -q -x /srv/perfkit/queue 'perfkit:req_end=end_request key=%di:s32'
	perf probe -q -x /srv/perfkit/queue 'handle_request id=%di:s32'
	perf probe -q -x /srv/perfkit/queue 'handle_request%return'
	(cd /srv/perfkit && perf record -q -a -N -k CLOCK_MONOTONIC -m 1024 -e sched:sched_switch \
		-e sched:sched_waking -e sched:sched_wakeup -e sched:sched_wakeup_new \
		-e sched:sched_process_exit -e 'perfkit:*' -e 'probe_queue:*' \
		-o truth.data -- ./queue log.txt --requests 61)
	perf probe -q -d 'perfkit:*' -d 'probe_queue:*'
	strip -g -o spans/symfs/srv/perfkit/queue /srv/perfkit/queue
	mv /srv/perfkit/truth.data spans/perf.data
	mv /srv/perfkit/log.txt spans/log.txt
	python3 ../bystanders.py spans/perf.data -- $(cat comms)
	python3 ../kallsyms.py spans/perf.data >spans/kallsyms
	chmod 644 spans/perf.data
	gzip -9n spans/perf.data
	echo 61 >spans/requests
fi
exit 0
