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
for f in switch-sampled switch-sampled-not no-wakeups no-wakeups-not clock clock-not; do
	python3 ../bystanders.py $f.data -- patient
done
gzip -9n ./*.data
