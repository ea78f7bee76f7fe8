#!/bin/sh
# Standard input has one name in every answer and message: stdin.
set -u
failed=0
data=$SRC/testdata/sched/perf.data
for verb in doctor report "report --by thread" tail "html -o x" "svg -o x" "timeline -o x" "import -f -o x.db" \
	"collapse --comm nobody"; do
	rm -f x
	cat "$data" | "$PERFKIT" $verb --no-local - >out 2>err
	[ -e x ] && cat x >>out
	grep -q stdin out err || { echo "$verb: no stdin"; failed=1; }
	grep -nE '^(perfkit: )?-:|recording  -,' out err && { echo "$verb: -"; failed=1; }
done
exit $failed
