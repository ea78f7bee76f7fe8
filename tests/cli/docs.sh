#!/bin/sh
# What README.md and docs/ tell a reader to type works as written. Fenced blocks marked
#	```sh run	are run, in one empty directory a page, with perfkit in PATH
#	```sh perf	too, in docs_live.sh, where perf may record
#	```sql	in store.md are asked of a store
# What is quoted below a "run" block (indented) is in that page's output, line by line; a line of
# dots stands for what is left out.
# and every other `perfkit VERB --option` in a page names a verb and options that exist.
# docs.sh live: the pages that record, in the order of the page, and nothing else.
set -u
live=${1:-no}
here=$PWD
mkdir bin && ln -s "$PERFKIT" bin/perfkit
PATH=$here/bin:$PATH
export PATH
command -v sqlite3 >/dev/null || { echo "no sqlite3 here"; exit 77; }

# blocks PAGE LIVE: the lines of its "run" blocks, and of its "perf" blocks where LIVE is "live"
blocks()
{
	awk -v live="$2" '
		/^```/ && inside { inside = 0; next }
		/^```sh run$/ { inside = 1; next }
		/^```sh perf$/ { inside = live == "live"; skip = !inside; next }
		/^```/ && skip { skip = 0; next }
		inside' "$1"
}

# quoted PAGE: the indented lines that follow a "run" block
quoted()
{
	awk '
		/^```sh run$/ { fence = 1; next }
		/^```/ { after = fence; fence = 0; next }
		/^    / && after { print substr($0, 5); next }
		/./ { after = 0 }' "$1"
}

# the options that each verb has
for verb in $(perfkit help --verbs); do
	perfkit help "$verb" --all | grep -o -e '--[a-z][a-z0-9-]*' | sort -u >help.$verb
done
cat help.record help.watch >help.record-watch

ran=0 bad=0 quotes=0
for page in "$SRC"/README.md "$SRC"/docs/*.md "$SRC"/contrib/skill/*.md; do
	[ "$live" = no ] || grep -q '^```sh perf$' "$page" || continue
	name=$(echo "${page#"$SRC"/}" | tr / -)
	mkdir "$here/$name" && cd "$here/$name" || exit 1
	ln -s "$SRC/testdata" "$SRC/tests" .
	blocks "$page" $live >commands
	if [ -s commands ]; then
		if ! sh -eux commands >out 2>err; then
			tail -12 err
			echo "$name: a command failed"
			bad=1
		fi
		ran=$((ran + $(wc -l <commands)))
	fi
	if [ "$live" != no ]; then
		cd "$here" || exit 1
		continue
	fi
	quoted "$page" | grep -v '^ *[.][.][.]$' >quoted
	while IFS= read -r line; do
		grep -qxF -e "$line" out || { echo "$name: not in the output: $line"; bad=1; }
	done <quoted
	quotes=$((quotes + $(wc -l <quoted)))
	# The pictures a page shows are those its commands make.
	for picture in "$SRC"/docs/pictures/*.svg; do
		[ -e "${picture##*/}" ] || continue
		cmp -s "$picture" "${picture##*/}" ||
			{ echo "$name: docs/pictures/${picture##*/} is not what its command makes"; bad=1; }
		: >"$here/shown.${picture##*/}"
	done
	# Names: perfkit VERB and its --options, on one line, up to the next | or ; or `
	grep -o 'perfkit [a-z][a-z]* [^|;`>)]*' "$page" | sort -u >named
	while read -r _ verb words; do
		case "$verb $words" in "record watch "*) verb=record-watch ;; esac
		[ -s "$here/help.$verb" ] || continue
		for w in $words; do
			case $w in
			--[a-z]*) echo "$verb ${w%%=*}" ;;
			esac
		done
	done <named | sed 's/[^a-z0-9]*$//' | sort -u >options
	while read -r verb option; do
		grep -qx -e "$option" "$here/help.$verb" || { echo "$name: perfkit $verb has no $option"; bad=1; }
	done <options
	cd "$here" || exit 1
done
if [ "$live" != no ]; then
	echo "$ran lines run"
	[ $ran -ge 5 ] || { echo "no page records anything"; bad=1; }
	exit $bad
fi
# The weights of collapse are what the picture of its lines calls them.
grep -q ' before [0-9.]* s[),]' docs-getting-started.md/diff.svg || { echo "diff.svg is not in seconds"; bad=1; }
for picture in "$SRC"/docs/pictures/*.svg; do
	[ -e "shown.${picture##*/}" ] || { echo "no page makes docs/pictures/${picture##*/}"; bad=1; }
done
# The queries of docs/store.md and the file beside it, on a store.
awk '/^```sql$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$SRC/docs/store.md" >queries.sql
cat "$SRC/docs/store-questions.sql" >>queries.sql
perfkit import -q "$SRC/testdata/waits/perf.data" -o run.db &&
	sqlite3 -bail run.db <queries.sql >answers || { echo "store.md: a query failed"; bad=1; }
[ "$(grep -c ';$' queries.sql)" -ge 10 ] || { echo "store.md: where are its queries?"; bad=1; }

# The tables of a store are described as they are declared.
"$O/tests/prog/schemadoc" | diff "$SRC/docs/schema.md" - ||
	{ echo "docs/schema.md is not what make schema writes"; bad=1; }
"$O/tests/prog/toldforms" | diff "$SRC/docs/tail-forms.json" - ||
	{ echo "docs/tail-forms.json is not what make schema writes"; bad=1; }

# The index lists every page, and links between pages lead somewhere.
for page in "$SRC"/docs/*.md; do
	grep -q "($(basename "$page"))" "$SRC/docs/README.md" || [ "$(basename "$page")" = README.md ] ||
		{ echo "docs/README.md does not list $(basename "$page")"; bad=1; }
done
for page in "$SRC"/README.md "$SRC"/docs/*.md "$SRC"/testdata/README.md; do
	for link in $(grep -o '](\([^):]*\))' "$page" | sed 's/](\([^#)]*\).*/\1/'); do
		[ -e "$(dirname "$page")/$link" ] || { echo "$page: $link is not there"; bad=1; }
	done
done

echo "$ran lines run"
[ $quotes -ge 20 ] || { echo "the pages quote only $quotes lines of output"; exit 1; }
[ $ran -ge 5 ] || { echo "the pages hold too few runnable commands"; exit 1; }
exit $bad
