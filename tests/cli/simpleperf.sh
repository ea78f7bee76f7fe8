# What Android's simpleperf adds: symbols that the recording has (sections FILE and FILE2), names of
# events, and waits whose sched:sched_switch has a stack but no fields (--trace-offcpu). The
# recordings are made by tests/tools/simpleperf.py; a section cut anywhere is read as far as it goes.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
make="python3 $SRC/tests/tools/simpleperf.py"

# folded COMMAND...: its folded stacks are what stands in "want"
folded()
{
	"$@" >got 2>err || { echo "$*"; cat err; exit 1; }
	diff -u want got || { echo "$*"; exit 1; }
}

for how in file file2; do
	$make $how >$how.data
	jit="app.Main.run"
	[ $how = file2 ] || jit="[app_cache:0-100]" # older ones had no symbols of generated code
	cat >want <<-END
		app;caller;$jit 3000000
		app;caller;app::hot 4000000
		app;caller;app::hot;do_work 3000000
	END
	folded "$PERFKIT" collapse --no-local $how.data
	"$PERFKIT" collapse --no-local - <$how.data 2>err | diff -u want -
	"$PERFKIT" import --no-local $how.data -o $how.db 2>err
	"$PERFKIT" collapse $how.db 2>err | diff -u want -
	"$PERFKIT" pack -q --no-local $how.data -o $how.tar.zst 2>err
	"$PERFKIT" collapse --no-local $how.tar.zst 2>err | diff -u want -
	echo "app;[state unknown];caller;app::hot 17970" >want # no wakeup was recorded
	folded "$PERFKIT" collapse --offcpu --no-local $how.data
	folded "$PERFKIT" collapse --offcpu $how.db
	"$PERFKIT" doctor -v --no-local $how.data >out 2>err || true
	! grep -i 'tracepoint 91\|no-event-names' out || { echo "$how: the event has a name"; exit 1; }
done

# the symbols are those of one file: which, is not said
$make twice >twice.data
"$PERFKIT" collapse --no-local twice.data >got 2>err
! grep -E 'hot|caller' got || { echo "names of one of two files"; exit 1; }
grep -q 'do_work' got

# no path is looked for in the whole list
$make many >many.data
timeout 20 "$PERFKIT" collapse -q --no-local many.data >got || { echo "many files: status $?"; exit 1; }
[ "$(wc -l <got)" = 6003 ] || { echo "many files: $(wc -l <got) stacks"; exit 1; }
grep -q 'app::hot' got || { echo "many files: no names"; exit 1; }

size=$($make file2 | wc -c)
for n in 0 1 3 4 5 20 40 41 60 100 150 170 200 210 240 250; do
	$make cut:$n >cut.data
	"$PERFKIT" collapse --no-local cut.data >got 2>err || { echo "cut at $n"; cat err; exit 1; }
	[ "$(awk '{ n += $NF } END { print n }' got)" = 10000000 ] || { echo "cut at $n: lost samples"; exit 1; }
	! grep wrong got || { echo "cut at $n: a symbol of another file"; exit 1; }
done
[ "$size" -gt 2000 ]
