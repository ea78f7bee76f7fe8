#!/bin/sh
# perfkit doctor over the stored recordings: what each is known to lack, and nothing else of
# harm (but for names, whose files are not stored); exit statuses; the width of the text; JSON
# a parser takes; remedies sh takes.
failed=0 here=$PWD
say()
{
	echo "$*"
	failed=1
}

# folder, exit status, the ids of harm partial and wrong
while read -r name status ids; do
	dir=$SRC/testdata/$name
	[ -d "$dir" ] || dir=$SRC/testdata/$name
	(cd "$dir" && "$PERFKIT" doctor -v --no-local --buildid-dir "" $(cat args 2>/dev/null) perf.data) >out 2>err
	rc=$?
	[ $rc = "$status" ] || say "$name: exit $rc, not $status: $(cat err)"
	[ -s err ] && say "$name: $(cat err)"
	got=$(awk '/^(wrong|partial)/ { on = 1 } /^ *\[[a-z-]*\]$/ { if (on) print substr($1, 2, length($1) - 2); on = 0 }' out |
		grep -vx "missing-symbols\|no-build-ids\|unwind-stopped" | sort | xargs)
	[ "$got" = "$ids" ] || say "$name: found '$got', not '$ids'"
	# a word longer than the line may stand alone; a command to paste is one line
	awk -v name="$name" 'length($0) > 80 && NF > 2 && !/get it: / { print name ": too wide: " $0; bad = 1 } END { exit bad }' out || failed=1
	grep '[[:cntrl:]]' out && say "$name: control characters"
	# a store repeats it, whatever it is asked, but not what recording cost
	(cd "$dir" && "$PERFKIT" import -q --no-local --buildid-dir "" $(cat args 2>/dev/null) perf.data -o "$here/run.db") ||
		say "$name: import failed"
	for asked in '' '--for tail' '--for cpu --for offcpu --json'; do
		(cd "$dir" && "$PERFKIT" doctor -v $asked --no-local --buildid-dir "" $(cat args 2>/dev/null) perf.data) >full
		rc=$?
		sed -e '/^  cost    /d' -e '3{/^          /d;}' full >out
		"$PERFKIT" doctor -v $asked run.db >store.out
		[ $rc = $? ] || say "$name: doctor $asked: the store's exit status is another"
		sed 's/^run\.db:/perf.data:/; s/"file": *"run\.db"/"file":"perf.data"/' store.out |
			cmp -s - out || say "$name: doctor $asked: the store says something else"
	done
done <<'EOF'
demo 0
fp-threads 0
worst-names 0
system-wide 0
events 0 fp-ends-in-libc
group-read 0 no-inherit
pipe 0
zstd 0
threads-dir 0
switch-events 0 no-wakeups
pid-attach 0
cut 0 cut-off
no-callchain 0
dwarf 0
sched 0 holes
uprobe 0 tracepoint-sampled
exec-storm 0
dlclose 0
perf-map 0
EOF

# Real faults, and beside each what looks like it: NAME, the harm told under that id ("-": none).
# A third word is the recording, where another one has the fault; options follow.
td=$SRC/testdata shop=$SRC/testdata/demo/symfs/srv/perfkit/shop
mkdir -p alone/srv/perfkit && cp "$shop" alone/srv/perfkit || failed=1 # without libc
mkdir -p other/srv/perfkit && cp "$td/sched/symfs/srv/perfkit/pingpong" other/srv/perfkit/shop || failed=1
while read -r name harm file options; do
	if [ -n "$file" ]; then
		cat "$td/$file" >real.data || { failed=1; continue; }
	else
		gzip -dc "$td/doctor/$name.data.gz" >real.data || { failed=1; continue; }
	fi
	eval "set -- $options"
	"$PERFKIT" doctor -v --no-local --buildid-dir "" "$@" real.data >out 2>err
	got=$(awk -v id="[${name%-not}]" '/^(wrong|partial|advice)/ { harm = $1 }
		$1 == id { print harm; exit }' out)
	[ "${got:--}" = "$harm" ] || { say "testdata/doctor/$name: ${got:-not told}, not $harm"; cat out err; }
done <<'E2'
switch-sampled wrong
switch-sampled-not -
tracepoint-sampled partial
tracepoint-sampled-not advice
per-task wrong
per-task-not -
no-wakeups partial
no-wakeups-not -
clock advice
clock-not -
lost-records wrong
lost-records-not -
truncated-dumps partial
truncated-dumps-not -
fp-ends-in-libc partial
fp-ends-in-libc-not -
one-sided-stacks partial
one-sided-stacks-not -
no-stacks advice
no-stacks-not -
no-build-ids partial
no-build-ids-not -
no-inherit partial
no-inherit-not -
no-samples wrong
no-samples-not -
cut-off partial
cut-off-not -
holes wrong
holes-not -
wakeups-missing partial
wakeups-missing-not -
throttled partial
throttled-not -
no-times advice
no-times-not -
no-event-names wrong
no-event-names-not -
kptr-restrict partial
kptr-restrict-not -
mappings-missing partial doctor/switch-sampled.data.gz
mappings-missing-not - doctor/unmapped-frames.data.gz
unmapped-frames partial
unmapped-frames-not -
parted-group partial calls/parted.data.gz
parted-group-not - calls/grouped.data.gz
some-cpus partial doctor/holes-not.data.gz
some-cpus-not - waits/perf.data
no-switches wrong demo/perf.data --for offcpu
no-switches-not - waits/perf.data --for offcpu
missing-symbols partial demo/perf.data
missing-symbols-not advice demo/perf.data --symfs alone
unwind-stopped partial dwarf-static/perf.data
unwind-stopped-not - dwarf-static/perf.data --symfs $td/dwarf-static/symfs
build-id-mismatch partial demo/perf.data --symfs other
build-id-mismatch-not - demo/perf.data --symfs $td/demo/symfs
no-kernel-symbols partial system-wide/perf.data
no-kernel-symbols-not - system-wide/perf.data --kallsyms $td/system-wide/kallsyms
kernel-mismatch partial system-wide/perf.data --vmlinux $shop
kernel-mismatch-not - system-wide/perf.data --kallsyms $td/system-wide/kallsyms
E2

# of several recordings in a store one is asked
"$PERFKIT" import -q -f "$SRC/testdata/demo/perf.data" "$SRC/testdata/uprobe/perf.data" -o two.db
"$PERFKIT" doctor -v two.db >/dev/null 2>err
[ $? = 2 ] && grep -q -e '--recording 2' err || say "several recordings are judged as one"
"$PERFKIT" doctor -v --recording 2 two.db | grep -q tracepoint-sampled || say "--recording 2 is not uprobe's"
if command -v sqlite3 >/dev/null; then
	# facts, each by its name and unit, and no sentence: not one of doctor's lines is in the file
	sqlite3 two.db "SELECT text FROM findings f JOIN finding_facts a ON a.finding_id = f.id
		WHERE f.recording_id = 2 AND finding = 'tracepoint-sampled' AND name = 'option'
		AND unit = 'option' AND part = 'title' AND question = 'counts'" | grep -q '^-[cF] [0-9]' ||
		say "the store has no facts of a sampled tracepoint"
	[ "$(sqlite3 two.db "SELECT count(*) FROM v_findings WHERE question = 'made-for' AND facts LIKE
		'samples = % \%' ESCAPE '\'")" -gt 0 ] || say "v_findings has no shares"
	"$PERFKIT" doctor -v --json --recording 1 two.db | python3 -c '
import json, sys
for f in json.load(sys.stdin)["findings"]:
    print(f["title"], *f["details"], f["remedy"] or "", sep="\n")' | sed '/^.\{0,20\}$/d' >sentences
	sqlite3 two.db .dump >dump
	[ -s sentences ] && ! grep -q -F -f sentences dump || say "the store has sentences: $(grep -o -F -f sentences dump)"
	# what a newer perfkit found is shown by its facts
	cp two.db new.db
	sqlite3 new.db "UPDATE findings SET finding = 'newer' WHERE finding = 'missing-symbols';
		UPDATE finding_facts SET form = 'newer/some' WHERE form = 'missing-symbols'"
	"$PERFKIT" doctor -v --for counts --recording 2 new.db >out
	grep -q '^ *\[tracepoint-sampled\]$' out && grep -q '^ *\[newer\]$' out &&
		grep -q '^[a-z]*  *only a newer perfkit can explain newer/some: samples = [0-9]* of [0-9]*$' out ||
		say "a finding of a newer version: $(cat out)"
	"$PERFKIT" doctor -v --for counts --recording 2 --json new.db | python3 -c '
import json, sys
found = [f for f in json.load(sys.stdin)["findings"] if f["id"] == "newer"]
assert found and all(f["spoils"].startswith("What it does") and "counts" in f["touches"] for f in found), found' ||
		say "a finding of a newer version as JSON"
	# no share is more than all
	cp two.db share.db
	sqlite3 share.db "UPDATE finding_facts SET number = 5 * whole + 1 WHERE unit = 'share'"
	"$PERFKIT" doctor -v --recording 1 share.db >out 2>err
	[ $? = 1 ] && grep -q '^perfkit: share.db: a damaged store: finding_facts [0-9]*: a number out of range' err ||
		say "a share above its whole: $(cat err out)"
	# nothing is found is not what damage says
	sqlite3 two.db "DELETE FROM finding_facts WHERE part = 'title' AND finding_id =
		(SELECT max(id) FROM findings WHERE recording_id = 2)"
	"$PERFKIT" doctor -v --recording 2 two.db >out 2>err
	[ $? = 1 ] && grep -q '^perfkit: two.db: a damaged store: findings [0-9]*: it has no title$' err ||
		say "a finding without a title: $(cat err out)"
fi
"$PERFKIT" doctor -v "$SRC/testdata/uprobe/perf.data" >/dev/full 2>err
[ $? = 1 ] || say "a full disk is no failure"

# what was appended to a recording is told, and not read
for first in pipe demo; do
	cat "$td/$first/perf.data" "$td/demo/perf.data" >joined.data
	at=$(printf '0x%x' "$(wc -c <"$td/$first/perf.data")")
	"$PERFKIT" doctor -v --no-local joined.data >out
	grep -q "^partial *another recording begins at $at; it is not read" out ||
		say "$first and demo: nobody says that two recordings were joined: $(cat out)"
	"$PERFKIT" collapse -q --no-local "$td/$first/perf.data" >one.folded
	"$PERFKIT" collapse -q --no-local joined.data | cmp -s - one.folded ||
		say "$first and demo: the first of two joined recordings is read otherwise"
	cat joined.data | "$PERFKIT" doctor -v --no-local - | grep -q "another recording begins at $at" ||
		say "$first and demo: nobody says so of a pipe"
done
# names have a verdict of their own: nothing is not "nothing found"
"$PERFKIT" doctor -v --no-local --buildid-dir "" "$td/demo/perf.data" >out
grep -q '^  names   many are missing$' out && ! grep -q 'nothing found' out ||
	say "the verdict says nothing of names: $(head -4 out)"

cd "$SRC/testdata/uprobe" || exit 1
"$PERFKIT" doctor -v --for cpu perf.data >/dev/null || say "uprobe: CPU time can be answered"
"$PERFKIT" doctor -v --for sleep perf.data >/dev/null 2>&1
[ $? = 2 ] || say "--for takes any word"
cat perf.data | "$PERFKIT" doctor -v --for tail - >/dev/null
[ $? = 3 ] || say "a pipe is judged otherwise"
"$PERFKIT" doctor -v --for offcpu ../demo/perf.data | grep -q '^ *\[no-switches\]$' ||
	say "nobody says that demo holds no switches"
# The other verbs say what touches their own answer: once, not with -q, and --strict counts it.
cd ../cut || exit 1
"$PERFKIT" collapse --no-local perf.data 2>&1 >/dev/null | grep -c "perf did not finish" | grep -qx 1 ||
	say "collapse does not say once that the file was cut"
[ -z "$("$PERFKIT" collapse -q --no-local perf.data 2>&1 >/dev/null)" ] || say "-q does not silence"
"$PERFKIT" collapse -q --strict --no-local perf.data >/dev/null 2>&1
[ $? = 3 ] || say "--strict passes over a cut file"
# without its end a recording has its records, but not which of them are switches
data=$(od -An -td8 -j40 -N16 ../waits/perf.data | awk '{ print $1 + $2 }') # its section's end
head -c $((data - 100)) ../waits/perf.data >"$here/cut.data"
for verb in tail "collapse --offcpu" "svg --offcpu" timeline; do
	"$PERFKIT" $verb -q --no-local "$here/cut.data" >/dev/null 2>"$here/err.txt"
	[ $? = 3 ] && grep -q "cut.data: its tracepoints have no names, which perf writes at the end " "$here/err.txt" ||
		say "$verb does not say what a cut recording lacks: $(cat "$here/err.txt")"
done
"$PERFKIT" doctor -v --for offcpu --no-local "$here/cut.data" | grep -q '^ *\[no-event-names\]$' ||
	say "doctor does not say what a cut recording lacks"
cd ../sched || exit 1
"$PERFKIT" collapse --offcpu --no-local perf.data 2>&1 >/dev/null | grep -q "2 context switches are missing" ||
	say "collapse --offcpu does not tell of holes"
cd ../demo || exit 1
[ -z "$("$PERFKIT" collapse --no-local $(cat args) perf.data 2>&1 >/dev/null)" ] ||
	say "a sound recording is warned of"
# the line that the findings agree on; without any, the recorded one; never run, for a file chose it
"$PERFKIT" record --like ../waits/perf.data >"$here/like.txt" || say "record --like: exit status $?"
"$PERFKIT" doctor -v --json --no-local ../waits/perf.data | grep -qF "\"line\":\"$(cat "$here/like.txt")\"" ||
	say "record --like is not doctor's line: $(cat "$here/like.txt")"
"$PERFKIT" record --like perf.data | grep -qx 'perf record -N -F 797 -e cpu-clock:u -g -- [^ ]*/shop 4' ||
	say "record --like of a sound recording is not its own line"
cd ../uprobe || exit 1
if command -v python3 >/dev/null; then
	"$PERFKIT" doctor -v --json perf.data | python3 -c '
import json, sys, shlex
d = json.load(sys.stdin)
assert d["schema"] == 1 and d["worst"] == "partial", d
f = d["findings"][0]
assert f["id"] == "tracepoint-sampled" and f["harm"] == "partial" and f["touches"] == ["counts", "offcpu", "tail"], f
assert f["remedy"].startswith("-e EVENT/freq=N/ "), f
words = shlex.split(d["line"])
assert words[:2] == ["perf", "record"] and "-F" not in words, f
assert "perfkit_test:search_products,cpu-clock/freq=197/u" in words, f
assert not any((g["remedy"] or "").startswith("perf record") for g in d["findings"]), d
' || say "JSON"
fi
exit $failed
