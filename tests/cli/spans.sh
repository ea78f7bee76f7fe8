# Spans: pairs of the user's own probes are found by themselves, across threads by their key; --span
# names others; the parts of each come from the threads' states. From a kept recording and, where
# probes are allowed, from one made now.
# live: probes are recorded here, too, where that is allowed, and the lengths of waits compared
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
kept=$SRC/testdata/truth/spans
gunzip -c "$kept/perf.data.gz" >kept.data
"$O/tests/prog/tldump" kept.data -s >spans.txt 2>/dev/null
python3 "$SRC/tests/truth/check_spans.py" "$kept/log.txt" spans.txt "$(cat "$kept/requests")"

# the same by name; through the store; and kernel or foreign pairs only when named
"$O/tests/prog/tldump" kept.data -s again=perfkit:req_start..req_end key=key 2>/dev/null |
	sed -n 's/^again //p' | cut -d' ' -f1-8 >again.txt
sed -n 's/^req //p' spans.txt | cut -d' ' -f1-8 >req.txt
[ -s req.txt ]
cmp req.txt again.txt
"$PERFKIT" import -q --no-local kept.data -o kept.db
"$O/tests/prog/tldump" kept.db -s | cmp - spans.txt
"$PERFKIT" import -q --no-local --span 'turn=sched:sched_waking..sched_wakeup,key=pid' kept.data -o named.db
"$O/tests/prog/tldump" named.db -s | grep -c '^turn ' >n
[ "$(cat n)" -gt 100 ]
grep -c '^turn' spans.txt && exit 1

# people see the key of a request
"$PERFKIT" tail -q --no-local --by span:req --details 1 kept.data | grep -Eq '^#1  .*/[0-9]+ .* key=[0-9]+  ' ||
	{ echo "tail: no key"; exit 1; }
# a recording without spans: which events there are, and what to type
gunzip -c "$SRC/testdata/syscalls/perf.data.gz" >none.data
rc=0
"$PERFKIT" tail -q --no-local --by span none.data 2>err || rc=$?
[ $rc = 3 ] && grep -q -e '--span work=raw_syscalls:sys_enter..raw_syscalls:sys_exit$' err || { cat err; exit 1; }

# what cannot be is a usage error that names it
refused()
{
	rc=0
	"$PERFKIT" import -q --no-local "$@" kept.data -o bad.db 2>err || rc=$?
	[ $rc = 2 ] || { echo "$*: exit $rc"; cat err; exit 1; }
	[ "$(wc -l <err)" = 1 ]
	[ ! -e bad.db ]
}
refused --span 'x=perfkit:req_start..nowhere'
grep -q 'no event nowhere' err
refused --span 'x=req_start..req_end,key=colour'
grep -q 'no field colour' err
refused --span req
grep -q 'NAME=BEGIN..END' err
refused --span syscalls
grep -q 'no such system call' err
rc=0
"$PERFKIT" report --span 'x=req_start..req_end' kept.db 2>err >/dev/null || rc=$?
[ $rc = 2 ]
grep -q 'import' err

queue=$O/tests/truth/queue
perf probe -q -d 'perfkit_t:*' 2>/dev/null || true
perf probe -q -x "$queue" 'perfkit_t:req_start=begin_request key=%di:s32' 2>err &&
	perf probe -q -x "$queue" 'perfkit_t:req_end=end_request key=%di:s32' 2>err &&
	perf probe -q -x "$queue" 'perfkit_t:handle_request=handle_request' 2>err &&
	perf probe -q -x "$queue" 'perfkit_t:handle_request=handle_request%return' 2>err || {
	perf probe -q -d 'perfkit_t:*' 2>/dev/null || true
	echo "the kept recording agrees; no probes here: $(tail -1 err)"
	exit 77
}
rc=0
perf record -q -a -N -k CLOCK_MONOTONIC -m 1024 -e 'perfkit_t:*' -e sched:sched_switch \
	-e sched:sched_waking -e sched:sched_wakeup -o live.data -- \
	taskset -c 0 chrt -f 50 "$queue" log.txt --requests 101 2>err || rc=1
perf probe -q -d 'perfkit_t:*' 2>/dev/null || true
[ $rc != 1 ] || { echo "the kept recording agrees; none can be made here: $(tail -1 err)"; exit 77; }
"$O/tests/prog/tldump" live.data -s >spans.txt 2>/dev/null
python3 "$SRC/tests/truth/check_spans.py" log.txt spans.txt 101
