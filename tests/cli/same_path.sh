#!/bin/sh
# Three builds of a plugin had one path, one after the other (testdata/same-path); perf took the
# last one's build-id. Each function marks the build by its name: none may have another's.
t=$SRC/testdata/same-path fails=0
bad() { echo "$@"; fails=$((fails + 1)); }
cp "$t/reload.data" "$t/reload.data.context" . || exit 1
cp reload.data alone.data
ask() { "$PERFKIT" collapse -q --no-local "$@"; }
# the samples of each frame called by main
builds() { sed -n 's/.*;main;\([^; ]*\);\([^; ]*\).* \([0-9]*\)$/\1;\2 \3/p' | awk '{ n[$1] += $2 } END { for (i in n) print i, n[i] }' | sort; }
ask --symfs "$t/symfs" --weight samples reload.data | builds >listed
ask --symfs "$t/symfs" --weight samples alone.data | builds >alone
# 0.3 s of each build at 97 Hz
awk '$1 == "run;third_build" && $2 > 24 && $2 < 34 { ok++ }
     $1 == "[plugin.so];[plugin.so]" && $2 > 50 && $2 < 66 { ok++ }
     END { exit !(ok == 2 && NR == 2) }' listed || bad "listed: $(cat listed)"
awk '$1 == "[plugin.so];[plugin.so]" && $2 > 75 { ok++ } END { exit !(ok == 1 && NR == 1) }' alone ||
	bad "without a list: $(cat alone)"
ask --symfs "$t/symfs" alone.data | grep -q 'main;' || bad "the program that loads them has no names"
# a file of another recording
cp alone.data other.data
sed 's/^of .*/of 1/' reload.data.context >other.data.context
ask --symfs "$t/symfs" other.data >other
ask --symfs "$t/symfs" alone.data | cmp - other || bad "another recording's list was used"
for f in reload alone; do
	ask --symfs "$t/symfs" $f.data >$f.txt
	"$PERFKIT" pack -q --no-local --symfs "$t/symfs" $f.data -o $f.tar.zst || bad "pack $f"
	ask $f.tar.zst | cmp - $f.txt || bad "the bundle of $f differs"
	ask --symfs "$t/symfs" - <$f.tar.zst | cmp - $f.txt || bad "its stream differs"
	"$PERFKIT" import -q --no-local --symfs "$t/symfs" $f.data -o $f.db || bad "import $f"
	"$PERFKIT" collapse -q $f.db | cmp - $f.txt || bad "the store of $f differs"
	"$PERFKIT" doctor --no-local --symfs "$t/symfs" $f.data >doctor 2>&1
	grep -q 'shared-path' doctor || bad "doctor says nothing of $f: $(cat doctor)"
	grep -q -- '--buildid-mmap' doctor || bad "doctor has no remedy for $f"
	"$PERFKIT" collapse --no-local --symfs "$t/symfs" $f.data 2>&1 >/dev/null |
		grep -q 'of files whose path several files had' || bad "no warning: $f"
done
zstd -dcq alone.tar.zst | tar tf - | grep -q "$(sed -n 's/^file [^ ]* [^ ]* [^ ]* \(..\)\([^ ]*\) .*plugin.so$/\1.\2/p' reload.data.context | head -n 1)" &&
	bad "the bundle has a plugin that may be another one"
exit $((fails > 0))
