#!/bin/sh
# Recordings with a fault that doctor names, and beside each one that looks like it and has not:
# FAULT.data.gz and FAULT-not.data.gz; tests/cli/doctor.sh says what doctor has to find. Made by perf 6.1,
# Linux 6.18, x86-64, two CPUs; run as root. Names of bystanders are made anonymous; mappings of
# other processes are not recorded.
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit
cc -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o /srv/perfkit/patient patient.c
patient=/srv/perfkit/patient
rm -f ./*.data ./*.data.gz
made()  # NAME perf record arguments
{
	name=$1
	shift
	perf record -N -q -o "$name.data" "$@" >/dev/null
	chmod 644 "$name.data"
}
sched='-e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup -e sched:sched_wakeup_new'
all='-a --synth no'

made switch-sampled $all -g -F 99 -e sched:sched_switch -- $patient sleep 60
made switch-sampled-not $all -g -e sched:sched_switch -e cpu-clock/freq=99/ -- $patient sleep 60
made tracepoint-sampled -F 99 -e syscalls:sys_enter_clock_nanosleep -- $patient sleep 397
# with a period of its own in each sample the kernel divides nothing
made tracepoint-sampled-not -c 10 -e syscalls:sys_enter_clock_nanosleep -- $patient sleep 97
made per-task -e sched:sched_switch -- $patient sleep 29
made per-task-not --switch-events -e sched:sched_switch -- $patient sleep 29
made no-wakeups $all -e sched:sched_switch -- $patient sleep 29
made no-wakeups-not $all $sched -- $patient sleep 29
made clock $all $sched -- $patient sleep 29
made clock-not -k CLOCK_MONOTONIC $all $sched -- $patient sleep 29
made lost-records -m 1 -c 20000 -e cpu-clock:u --call-graph dwarf,2048 -- $patient deep 9000
made lost-records-not -m 64 -F 199 -e cpu-clock:u --call-graph dwarf,2048 -- $patient deep 9000
made truncated-dumps -F 499 -e cpu-clock:u --call-graph dwarf,512 -- $patient deep 40000
made truncated-dumps-not -F 49 -e cpu-clock:u --call-graph dwarf,16384 -- $patient deep 40000
made fp-ends-in-libc -g -F 997 -e cpu-clock:u -- $patient printf 4000
made fp-ends-in-libc-not -g -F 997 -e cpu-clock:u -- $patient deep 40000
made one-sided-stacks -g --kernel-callchains -F 997 -e cpu-clock:u -- $patient deep 40000
made one-sided-stacks-not -g --user-callchains -F 997 -e cpu-clock:u -- $patient deep 40000
made no-stacks -F 499 -e cpu-clock:u -- $patient deep 40000
made no-stacks-not -g -F 499 -e cpu-clock:u -- $patient deep 40000
made no-build-ids -B -g -F 499 -e cpu-clock:u -- $patient deep 40000
made no-build-ids-not --buildid-all -g -F 499 -e cpu-clock:u -- $patient deep 40000
made no-inherit -F 997 -e '{cpu-clock:u,page-faults:u}:S' -- $patient deep 40000
made no-inherit-not -F 997 -e '{cpu-clock:u,page-faults:u}' -- $patient deep 40000
made no-samples -c 1000000 -e page-faults:u -- $patient deep 1
made no-samples-not -c 1 -e page-faults:u -- $patient deep 1
made cut-off-not -g -F 997 -e cpu-clock:u -- $patient deep 40000
head -c 9000 cut-off-not.data >cut-off.data
# a filter passes over some switches, as if they had been lost; on one CPU alone, what comes from
# the other and goes there again was not
made holes $all -C 1 -e sched:sched_switch --filter 'next_pid & 3' -e sched:sched_waking -- taskset -c 1 $patient sleep 29
# (virtual machines lose switches by themselves: again until none is missing)
made holes-not $all -C 1 -e sched:sched_switch -e sched:sched_waking -- taskset -c 1 $patient sleep 29
made wakeups-missing $all -e sched:sched_switch -e sched:sched_waking --filter 'prio < 100' -- taskset -c 1 $patient sleep 29
made wakeups-missing-not $all -e sched:sched_switch -e sched:sched_waking --filter 'prio < 200' -- taskset -c 1 $patient sleep 29
# at most 20 samples a tick of 4 ms; nobody else's rate is above
most=$(sysctl -n kernel.perf_event_max_sample_rate)
sysctl -q kernel.perf_event_max_sample_rate=5000
made throttled -g -c 50000 -e cpu-clock:u -- $patient deep 5000
sysctl -q kernel.perf_event_max_sample_rate="$most"
made throttled-not -g -c 50000 -e cpu-clock:u -- $patient deep 500
made no-times --no-timestamp -g -F 499 -e cpu-clock:u -- $patient deep 9000
made no-times-not -g -F 499 -e cpu-clock:u -- $patient deep 9000
# /proc/kallsyms is all zeroes for who has not CAP_SYSLOG
setpriv --bounding-set -syslog perf record -N -q -o kptr-restrict.data -g -F 499 -e cpu-clock:k -- $patient sleep 2000 2>/dev/null
setpriv --bounding-set -syslog perf record -N -q -o kptr-restrict-not.data -g -F 499 -e cpu-clock:u -- $patient deep 9000 2>/dev/null
made unmapped-frames -g -F 499 -e cpu-clock:u -- $patient astray 20
made unmapped-frames-not -g -F 499 -e cpu-clock:u -- $patient bottom 20
head -c 20000 no-wakeups-not.data >no-event-names.data
# in a pipe the formats come first
perf record -N -q -o - $all $sched -- $patient sleep 29 | head -c 30000 >no-event-names-not.data
for f in holes holes-not wakeups-missing wakeups-missing-not no-event-names no-event-names-not; do
	python3 ../bystanders.py $f.data -- patient
done
for f in switch-sampled switch-sampled-not no-wakeups no-wakeups-not clock clock-not; do
	python3 ../bystanders.py $f.data -- patient
done
gzip -9n ./*.data
