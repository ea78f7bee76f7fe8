# Recordings of which events are removed at random, by kind and by CPU: what is said of a wait is
# true of the whole recording's wait. Each line: how many waits are still there, how many of them
# known, and how wide the bounds of the others are.
set -eu
forget=$O/tests/prog/forget inside=$O/tests/prog/inside
"$PERFKIT" unpack -q "$SRC/testdata/orders-one-cpu/orders.tar.zst" -C orders
failed=0
check() # FILE NAME EVENTS PERCENT SEED [CPU]
{
	file=$1 name=$2
	shift 2
	cp "$file" part.data
	chmod u+w part.data
	removed=$("$forget" part.data "$@")
	wakings=whole
	case $1 in sched | sched_wak*) wakings= ;; esac
	said=$("$inside" "$file" part.data $wakings) || failed=1
	echo "$name: without $removed ($*): $said"
}
for name in orders sched waits; do
	file=$SRC/testdata/$name/perf.data
	[ $name = orders ] && file=$(find orders -name perf.data)
	check "$file" $name idle 100 1
	for events in sched_switch sched_waking sched_wakeup sched; do
		for percent in 1 10 50; do
			check "$file" $name $events $percent 7
			check "$file" $name $events $percent 8 0
		done
	done
done
exit $failed
