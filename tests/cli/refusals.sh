#!/bin/sh
# What doctor calls wrong, the verb that answers the question refuses (exit status 3) unless
# --force; what doctor does not call wrong it answers. A store and --json agree.
set -u
bad=0 refused=0 answered=0
wrong() { echo "$*"; bad=1; }

# verdict FILE QUESTION: doctor's exit status
verdict() { "$PERFKIT" doctor -q --no-local --for "$2" "$1" >doctor.out 2>&1; echo $?; }

# ask FILE OPTIONS...: the status of the verb that answers
ask_cpu() { "$PERFKIT" collapse --no-local "$@" >out 2>err; }
ask_offcpu() { "$PERFKIT" collapse --no-local --offcpu "$@" >out 2>err; }
ask_tail() { "$PERFKIT" tail --no-local --top 3 "$@" >out 2>err; }

check()  # QUESTION FILE NAME
{
	"ask_$1" "$2"; rc=$?
	case $(verdict "$2" "$1")-$rc in
	3-3)
		refused=$((refused + 1))
		[ ! -s out ] || wrong "$3: $1 is refused, but something is on stdout"
		[ "$(wc -l <err)" = 1 ] || wrong "$3: $1 is refused in more than one line: $(cat err)"
		"ask_$1" --force "$2" || wrong "$3: --force does not answer $1: $(cat err)" ;;
	0-0) answered=$((answered + 1)) ;;
	*) wrong "$3: doctor --for $1 ends with $(verdict "$2" "$1"), the verb with $rc: $(cat err)" ;;
	esac
}

for f in "$SRC"/testdata/doctor/*.data.gz "$SRC"/testdata/waits/perf.data "$SRC"/testdata/demo/perf.data; do
	name=$(basename "$f" .data.gz)
	check offcpu "$f" "$name"
	check tail "$f" "$name"
	case $name in
	# of a tracepoint, or of no event that has a name: counts
	*tracepoint-sampled* | *no-event-names* | *per-task* | *no-wakeups* | *wakeups-missing* | *switch-sampled* | *holes* | clock* | waits) ;;
	*) check cpu "$f" "$name" ;;
	esac
	"$PERFKIT" import -q --no-local -o one.db "$f" || continue
	for q in offcpu tail; do
		"ask_$q" "$f"; rc=$?
		"$PERFKIT" doctor -q --for $q one.db >/dev/null 2>&1; from_store=$?
		[ "$(verdict "$f" $q)" = $from_store ] || wrong "$name: doctor --for $q of the store ends with $from_store"
		case $q in offcpu) set -- collapse --offcpu ;; *) set -- tail --top 3 ;; esac
		"$PERFKIT" "$@" one.db >out.db 2>err.db
		[ $? = $rc ] || wrong "$name: $1 of the store ends otherwise than $rc: $(cat err.db)"
	done
done
[ $refused -ge 15 ] || wrong "only $refused refused"
[ $answered -ge 40 ] || wrong "only $answered answered"

# Every verb that answers about waits refuses what doctor calls wrong, and writes nothing.
ways="collapse --offcpu|collapse --offwake|collapse --tail --top 3|svg --offcpu|svg --offwake|svg --wall
svg --chain|svg --tail --top 3|timeline|timeline --tail --top 3|tail --json --top 3|tail --csv --top 3
export --to pprof --offcpu|export --to pprof --wall|export --to pprof --tail --top 3|export --to perfetto
export --to speedscope --by-time"
echo "$ways" | tr '|' '\n' >ways
for name in lost-records holes per-task switch-sampled no-event-names; do
	while read -r way; do
		# shellcheck disable=SC2086
		"$PERFKIT" $way --no-local "$SRC/testdata/doctor/$name.data.gz" >out 2>err
		[ $? = 3 ] && [ ! -s out ] || wrong "$name: $way is not refused: $(cat err)"
	done <ways
done

# Without kernel symbols each answer says what that spoils, of a store, too: in the answer itself
# where it is text or a picture, else on standard error.
f=$SRC/testdata/waits/perf.data
spoilt='no kernel symbols for 100 % of waits'
"$PERFKIT" import -q --no-local -o two.db "$f"
{ cat ways; echo 'report --by site'; } >all-ways
for x in "--no-local $f" two.db; do
	while read -r way; do
		"$PERFKIT" $way $x >out 2>err && grep -q "$spoilt" err || wrong "$way $x does not say what is spoilt"
		case $way in svg*) grep -q "$spoilt" out || wrong "$way $x: the picture does not say it" ;; esac
	done <all-ways
	for way in tail report; do
		verbose=; [ $way = tail ] || verbose=-v # the short one says nothing of causes
		"$PERFKIT" $way -q $verbose $x | tr -s ' \n' '  ' | grep -q "$spoilt: their causes are unknown" ||
			wrong "$way $x does not say what is spoilt"
	done
	"$PERFKIT" tail -q --json $x >spoilt.json
	python3 - spoilt.json "$spoilt: their causes are unknown" <<'PY' || wrong "tail --json $x does not say what is spoilt"
import json, sys
said = json.load(open(sys.argv[1]))["no_kernel_symbols"]
assert said["count"] == said["of"] > 0 and said["spoils"].startswith(sys.argv[2]), said
PY
done
"$PERFKIT" tail -q "$SRC/testdata/orders/orders.tar.zst" | grep -q 'no kernel symbols' && wrong "orders: there are kernel symbols"
"$PERFKIT" tail -q --json "$SRC/testdata/orders/orders.tar.zst" | grep -q '"no_kernel_symbols": *null' || wrong "orders: JSON"

# At most three findings are said, and where the rest is; what is missing of other threads is not.
"$PERFKIT" tail --no-local "$f" >out 2>err
[ "$(wc -l <err)" = 4 ] && grep -q "1 more finding, and remedies: perfkit doctor" err || wrong "waits: $(cat err)"
"$PERFKIT" tail --comm front-0,front-1 "$SRC/testdata/orders/orders.tar.zst" >out 2>err
! [ -s err ] || wrong "front-0 and front-1 lack nothing: $(cat err)"
"$PERFKIT" import -q -o orders.db "$SRC/testdata/orders/orders.tar.zst"
"$PERFKIT" tail --comm front-0,front-1 orders.db >out 2>err
! [ -s err ] || wrong "front-0 and front-1 of the store lack nothing: $(cat err)"
"$PERFKIT" tail "$SRC/testdata/orders/orders.tar.zst" 2>&1 >out | grep -q 'context switches are missing' || wrong "orders: no word of its missing switches"
exit $bad
