#!/bin/sh
# One word for one thing: what docs/words.md says never to write stands in no pinned output, no string of
# the sources and no page, and its colours are those of the pictures.
set -u
bad=0
wrong() { echo "$*"; bad=1; }
cd "$SRC" || exit 1
sed -n 's/^|[^|]*|[^|]*|[^|]*| *\(.*[a-z]\) *|$/\1/p' docs/words.md | grep -v '^never$' | tr , '\n' |
	sed 's/^ *//' >"$OLDPWD/never"
# rows, columns and sentences that had several words for one thing
cat >>"$OLDPWD/never" <<'E2'
work and ?
settle with
marked ?
piece of work
none reported
which several threads had
only clock on which they
not only once
E2
[ "$(wc -l <"$OLDPWD/never")" -ge 12 ] || wrong "docs/words.md: where is what it says never to write?"
while IFS= read -r word; do
	grep -nF -e "$word" tests/exact/*.exact && wrong "pinned: $word"
	# a string, not a comment: between quotes on one line
	grep -rnF --include='*.[ch]' --include='*.js' -e "$word" cmd libparse libsym libtime render |
		grep -v ':[0-9]*:[[:space:]]*/\{0,1\}[*]' | grep -e "\"[^\"]*$(printf %s "$word" | sed 's/[?]/[?]/g')[^\"]*\"" && wrong "a string says: $word"
	grep -nF -e "$word" README.md docs/*.md cmd/cli/help/*.txt | grep -v '^docs/words.md:' && wrong "a page says: $word"
done <"$OLDPWD/never"

"$PERFKIT" help words >"$OLDPWD/words"
for meaning in running runnable preempted unknown lock cond net io memory sleep runqueue preempt; do
	color=$(sed -n "s/.*{\"$meaning\", 0x\([0-9a-f]*\).*/\1/p; s/.*{\"$meaning\", \([A-Z]*\),.*/\1/p" render/flame/palette.c)
	case $color in
	[A-Z]*) color=$(sed -n "s/^#define $color 0x//p" render/flame/palette.c) ;;
	esac
	[ -n "$color" ] || wrong "render/flame/palette.c has no $meaning"
	grep -q "#$color" docs/words.md || wrong "docs/words.md: $meaning is #$color"
done
exit $bad
