# Of every bundled recording with scheduler events: each thread's states sum up to its life in ns
# (tldump proves it), of the store made of it in SQL too, and collapse --offcpu adds up to the same
# to the nanosecond, as do the views.
set -eu
command -v sqlite3 >/dev/null || { echo "sqlite3 is not installed"; exit 77; }
checked=0
for f in "$SRC"/testdata/*/perf.data "$SRC"/testdata/*/perf.data.gz "$SRC"/testdata/*/*/perf.data.gz \
	"$SRC"/testdata/orders*/orders.tar.zst; do
	[ -f "$f" ] || continue
	case $f in
	*.gz) gunzip -c "$f" >some.data && file=some.data ;;
	*) file=$f ;;
	esac
	"$PERFKIT" import -q --no-local "$file" -o some.db 2>/dev/null || { echo "$f: not imported"; exit 1; }
	n=$(sqlite3 some.db "SELECT count(*) FROM offcpu")
	[ "$n" -gt 0 ] || continue
	"$O/tests/prog/tldump" some.db >intervals.txt 2>err || { echo "$f: $(cat err)"; exit 1; }
	[ "$(wc -l <intervals.txt)" = "$n" ]
	bad=$(sqlite3 some.db "SELECT count(*) FROM v_thread_time
		WHERE life_ns <> run_ns + blocked_ns + runnable_ns + unknown_ns OR run_ns < 0")
	[ "$bad" = 0 ] || { echo "$f: $bad threads whose parts do not sum up"; exit 1; }
	# a per-task recording without ins is refused; --force asks all the same
	sum=$("$PERFKIT" collapse -q --no-local --force --offcpu --unit ns --idle --system "$file" 2>/dev/null |
		awk '{ s += $NF } END { printf "%.0f", s }')
	want=$(sqlite3 some.db "SELECT sum(end_ns - start_ns) FROM offcpu")
	[ "$sum" = "$want" ] || { echo "$f: collapse says $sum ns, the timeline $want"; exit 1; }
	sum=$("$PERFKIT" collapse -q --no-local --force --offcpu --unit ns "$file" 2>/dev/null |
		awk '{ s += $NF } END { printf "%.0f", s }')
	want=$(sqlite3 some.db "SELECT coalesce(sum(ns), 0) FROM v_folded_offcpu")
	[ "$sum" = "$want" ] || { echo "$f: collapse says $sum ns, v_folded_offcpu $want"; exit 1; }
	checked=$((checked + 1))
done
echo "$checked recordings"
[ $checked -ge 20 ]
