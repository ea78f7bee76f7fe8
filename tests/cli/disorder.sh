# Records that come late, in another order or with times that cannot be (tests/prog/disorder.c, by
# seed): a file whose records come late answers as if they had not; whatever is wrong, all verbs
# read it or refuse alike, what import writes is read back, and each thread's time is conserved
# (tldump checks it). PERFKIT_SEED=N tries others.
set -eu
seed=${PERFKIT_SEED:-1}
[ $# = 1 ] || echo "seed $seed"
made=$O/tests/prog/disorder

# said COMMAND...: run it; its status is 0, or 3 where it refuses
said()
{
	rc=0
	"$@" >out 2>err || rc=$?
	[ $rc = 0 ] || [ $rc = 3 ] || { echo "$*: exit $rc"; cat err; exit 1; }
}

# asked FILE: the answers of all verbs about waits into the file "answers"
asked()
{
	: >answers
	for verb in 'tail' 'tail --by wait --top 5 --open' 'collapse --offcpu --unit ns --idle --system' \
		'collapse --offwake' 'timeline --no-script -o -'; do
		said "$PERFKIT" $verb -q $local "$1"
		{
			echo "$verb: $rc"
			cat out
		} >>answers
	done
}

# conserved FILE: what any verb reads is in order and sums up
conserved()
{
	"$O/tests/prog/tldump" "$1" >intervals.txt 2>err || { echo "$1: $(cat err)"; exit 1; }
}

# tried NAME: the recording as it is, late, and in other orders
tried()
{
	name=$1
	mkdir plain late
	f=$SRC/testdata/$name/perf.data
	[ -f "$f" ] || gunzip -c "$f.gz" >unpacked.data
	[ -f "$f" ] || f=unpacked.data
	local=--no-local

	# the same bytes, but for the line that says it; the folders differ, the names do not
	"$made" "$f" plain/run.data 1 >/dev/null
	for n in 1 25; do
		changed=$("$made" "$f" late/run.data "$((seed + n))" late $n)
		(cd plain && asked run.data)
		(cd late && asked run.data)
		cmp plain/answers late/answers || { echo "$name: late $n: answers differ"; exit 1; }
		[ "${changed%% *}" = 0 ] && continue
		said "$PERFKIT" doctor -v --no-local --for offcpu late/run.data
		grep -q 'came too late' out || { echo "$name: late $n: nothing said"; cat out; exit 1; }
		grep -q -e 'late-records' out
	done
	said "$PERFKIT" doctor -v --no-local --for offcpu plain/run.data
	! grep -q -e 'late-records' -e 'cpu-clocks' out || { echo "$name: in order, and doctor says"; cat out; exit 1; }

	round=0
	for how in 'swap 50' 'move 20' 'skew 3000000' 'skew -250000' 'back 3' 'late 40 move 5' \
		'swap 200 skew -40000000 late 10'; do
		round=$((round + 1))
		"$made" "$f" run.data "$((seed + round))" $how >/dev/null
		"$made" "$f" pipe.data "$((seed + round))" $how pipe 0 >/dev/null
		conserved run.data
		"$PERFKIT" import -q --no-local run.data -o run.db
		conserved run.db
		local=--no-local
		asked run.data
		mv answers file.txt
		local=
		asked run.db
		sed 's/run\.db/run.data/g' answers | cmp file.txt - || { echo "$name: $how: file and store differ"; exit 1; }

		cat pipe.data | "$PERFKIT" import -q --no-local - -o pipe.db
		conserved pipe.db
		rc=0
		cat pipe.data | "$PERFKIT" tail -q --no-local - >a 2>err || rc=$?
		[ $rc = 0 ] || [ $rc = 3 ] || { echo "$name: $how: tail of a pipe: $rc"; cat err; exit 1; }
		said "$PERFKIT" tail -q pipe.db
		sed 's/pipe\.db/stdin/' out | cmp a - || { echo "$name: $how: pipe and store differ"; exit 1; }
	done
}

# one recording at a time on each CPU: this script with its name
if [ $# = 1 ]; then
	mkdir -p "$1"
	cd "$1"
	tried "$1"
	exit
fi
printf '%s\n' waits sched switch-events syscalls truth/migrate truth/pool truth/storm truth/spinner |
	xargs -P "$(nproc)" -n 1 sh "$0"

# a pipe is not read again: what is said of it is what it suffers, and the waits are suspect
# suspects FILE: how many waits are
suspects()
{
	cat "$1" | "$PERFKIT" import -q --no-local - -o pipe.db 2>/dev/null
	"$O/tests/prog/tldump" pipe.db | grep -c ' suspect'
}

"$made" "$SRC/testdata/waits/perf.data" plain.pipe 1 pipe 0 >/dev/null
"$made" "$SRC/testdata/waits/perf.data" late.pipe 1 late 25 pipe 0 >/dev/null
[ "$(suspects late.pipe)" -gt $((2 * $(suspects plain.pipe))) ] || { echo "late in a pipe, and not suspect"; exit 1; }
cat late.pipe | "$PERFKIT" doctor -v --no-local --for offcpu - >out 2>err || [ $? = 3 ]
grep -q 'came too late, by up to .* suspect' out
# switches that came late are not missing: larger buffers are not the remedy
[ "$(grep -c 'remedy: write the recording to a file' out)" = 2 ] || { echo "holes: not this remedy"; cat out; exit 1; }

# doctor says which clocks differ, and by no more than they do
gunzip -c "$SRC/testdata/truth/migrate/perf.data.gz" >unpacked.data
for ns in 3000000 -100000; do
	"$made" unpacked.data run.data 1 skew $ns >/dev/null
	said "$PERFKIT" doctor -v --no-local --for tail --json run.data
	least=$(sed -n 's/.*the clocks of CPU 0 and 1 differ by at least \([0-9.]*\) ms.*/\1/p' out)
	awk -v least="$least" -v ns=$ns 'BEGIN {
		most = (ns < 0 ? -ns : ns) / 1e6
		exit !(least > most / 10 && least <= most)
	}' || { echo "skew $ns: at least '$least' ms"; cat out; exit 1; }
	grep -q -e '-k CLOCK_MONOTONIC' out
done
