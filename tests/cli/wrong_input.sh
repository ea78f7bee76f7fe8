#!/bin/sh
# What is given by mistake is recognised, before the work is done, with what to give instead.
set -u
bad=0
says()  # STATUS TEXT COMMAND...
{
	status=$1 text=$2; shift 2
	"$PERFKIT" "$@" >out 2>err </dev/null; rc=$?
	[ $rc = "$status" ] || { echo "$*: exit $rc, not $status: $(cat err)"; bad=1; }
	[ "$(wc -l <err)" = 1 ] && grep -q -e "$text" err || { echo "$*: $(cat err)"; bad=1; }
	[ ! -s out ] || { echo "$*: something on stdout"; bad=1; }
}

cat >script.txt <<'END'
# captured on: Sun Nov 22 2026
swapper     0 [001]  3456.789012:     250000 cpu-clock:
	ffffffff81a01234 default_idle+0x14 ([kernel.kallsyms])

END
printf 'Attaching 2 probes...\n@[\n    do_syscall_64+92\n    read+14\n, comm]: 12\n' >bpf.txt
printf '@us[\n  a\n]: 3\n' >bpf2.txt
gzip -c script.txt >script.gz
printf 'no recording\n' | gzip -c >strange.gz
for v in "collapse" "svg -o x.svg" "export --to pprof -o x.pb.gz" "tail" "report" "doctor" "import -o x.db"; do
	# shellcheck disable=SC2086
	says 1 'output of perf script; give the perf.data' $v script.txt
	# shellcheck disable=SC2086
	says 1 'output of bpftrace; give folded stacks' $v bpf.txt
done
says 1 'output of bpftrace' svg -o x.svg bpf2.txt
says 1 'output of perf script' collapse script.gz
says 1 'neither a recording nor a bundle' collapse strange.gz
says 1 'no such file: name a recording, or make one (perfkit record' tail
says 1 '/nosuch/x: cannot write: No such file' svg -o /nosuch/x "$SRC/testdata/demo/perf.data"
says 1 '/nosuch/x: cannot write: No such file' timeline -o /nosuch/x "$SRC/testdata/waits/perf.data"
says 1 'nosuch: cannot open' import -o x.db "$SRC/testdata/demo/perf.data" nosuch
says 1 'cannot write' import -o /nosuch/x "$SRC/testdata/demo/perf.data"
says 1 'cannot write' import -q -o /dev/full "$SRC/testdata/demo/perf.data"
[ ! -e x.svg ] && [ ! -e x.db ] || { echo "something was written"; bad=1; }
# what resembles it is read: folded stacks with times and at-signs in their names
printf 'a;b 12.345678: 3\n@x;y 4\n' >near.folded
"$PERFKIT" svg -o near.svg near.folded || bad=1
if [ -w /dev/full ]; then
	for v in "collapse" "report" "doctor" "tail"; do
		"$PERFKIT" $v -q --no-local "$SRC/testdata/waits/perf.data" >/dev/full 2>err
		[ $? = 1 ] && grep -q 'No space left' err || { echo "$v >/dev/full: $(cat err)"; bad=1; }
	done
fi
exit $bad
