#!/bin/sh
# perfkit help, --version, man pages and completions tell of every verb and option there is, and
# make install puts them where the shells and man look.
set -u
bad=0
wrong() { echo "$*"; bad=1; }

"$PERFKIT" help >all || wrong "perfkit help failed"
verbs=$("$PERFKIT" help --verbs)
declared=$(sed -n 's/^extern const struct verb verb_\([a-z]*\);/\1/p' "$SRC/cmd/verbs.h" | sort)
[ "$(echo "$verbs" | sort)" = "$declared" ] || wrong "cmd/verbs.h and the table in main.c differ"
for v in $verbs; do
	grep -q "^  $v  *[A-Za-z]" all || wrong "perfkit help lacks $v"
	"$PERFKIT" help "$v" >help.$v || wrong "perfkit help $v failed"
	"$PERFKIT" "$v" --help | cmp -s - help.$v || wrong "perfkit $v --help differs from help $v"
	"$PERFKIT" help "$v" --all >full.$v || wrong "perfkit help $v --all failed"
	"$PERFKIT" "$v" --help --all | cmp -s - full.$v || wrong "perfkit $v --help --all differs from help $v --all"
	[ "$(wc -l <help.$v)" -le 45 ] || wrong "perfkit help $v: $(wc -l <help.$v) lines"
	grep -q "^Examples:" help.$v && grep -q "^ *.*perfkit $v" help.$v ||
		wrong "perfkit help $v has no example"
	awk 'length > 80 { exit 1 }' help.$v full.$v || wrong "perfkit help $v is wider than 80 columns"
	sed '/^Shared/,$d' help.$v | cat - full.$v | grep -e '^ *\(-., \)\?--[a-z0-9-]* [^ ][^ ]* [^ ]' &&
		wrong "perfkit help $v: an argument runs into what it is"
	! grep -q -e '--state' full.$v || grep -A1 -e '--state STATE' full.$v | grep -q running ||
		wrong "perfkit help $v: --state takes running, too"
	"$PERFKIT" help --man "$v" >$v.1 || wrong "no man page of $v"
	for o in --force --strict; do # in EXIT STATUS, too
		grep -q -e "$o" full.$v || ! tr -d '\\' <$v.1 | grep -e "$o" || wrong "$v has no $o"
	done
	grep -o '^ *\(-.,\)\? *--[a-z0-9-]*' full.$v | grep -o -e '--[a-z0-9-]*' | sort -u >full.options
	cat full.options >>options
	tr -d '\\' <$v.1 | grep -o -e 'fB--[a-z0-9-]*fR' | sed 's/^fB//; s/fR$//' | sort -u >man.options
	comm -23 full.options man.options | grep . && wrong "man page of $v lacks these"
done

# every option has its reason, and there are not too many
sort -u options >exist
"$PERFKIT" help --all >reasons || wrong "perfkit help --all failed"
grep -o -e '^  --[a-z0-9-]*' reasons | tr -d ' ' | sort >named
comm -23 exist named | grep . && wrong "no reason in cmd/cli/options.c"
comm -13 exist named | grep . && wrong "no command has it: strike it from cmd/cli/options.c"
sort -c named || wrong "cmd/cli/options.c is not sorted"
sed '/^Rarely needed:/,$d' reasons | grep -o -e '^  --[a-z0-9-]*' | tr -d ' ' >usual
[ "$(wc -l <usual)" -le 120 ] || wrong "$(wc -l <usual) options, and $(wc -l <exist) with the rare ones"
cat help.* | grep -o -e '[ /]--[a-z0-9-]*' | tr -d ' /' | sort -u >seen
comm -23 usual seen | grep . && wrong "no help shows these"
grep -ho '^ *\(-., \)\?--[a-z0-9-]* ' help.* | grep -o -e '--[a-z0-9-]*' | sort -u >shown
comm -23 named usual | comm -12 - shown | grep . && wrong "these are rare, and help shows them"
"$PERFKIT" tail --p50 --no-cache --max-stack 99 -q --no-local "$SRC/testdata/waits/perf.data" >out ||
	wrong "rare options do not work"
sed '1,/EXIT STATUS/d' record.1 | grep -q COMMAND || wrong "record.1: whose status is it?"
"$PERFKIT" help --man perfkit >perfkit.1
if command -v mandoc >/dev/null; then
	mandoc -T lint -W warning ./*.1 | grep -v 'missing date' && wrong "mandoc warns"
elif command -v groff >/dev/null; then
	groff -man -Tutf8 -ww -z ./*.1 2>&1 | grep . && wrong "groff warns"
fi

# topics: what the docs promise, where only the program is installed
for topic in causes exit-status filters frames general mechanisms names stacks words; do
	grep -q "^  help $topic " all || wrong "perfkit help lacks the topic $topic"
	"$PERFKIT" help $topic >topic.$topic || wrong "perfkit help $topic failed"
	[ "$(wc -l <topic.$topic)" -gt 7 ] || wrong "perfkit help $topic is short"
done
awk 'length > 80 { exit 1 }' all reasons topic.exit-status topic.filters topic.general topic.names topic.stacks \
	topic.words || wrong "help is wider than 80 columns"
# the glossary is Markdown: as plain text it has no marks, its paragraphs are filled, and all words are there
grep '[*`|#]\(|\|[^0-9a-f]\|$\)\|](' topic.words && wrong "help words shows Markdown"
for line in '--time takes them; in pictures and JSON they count from the first record.' \
	'bundle: a recording packed with the binaries and symbols that name its frames,' '    in one .tar.zst.' \
	'running: on a CPU; colour: dark green #0f7a5a' 'io: a disk; colour: blue #668cd5'; do
	grep -qxF -e "$line" topic.words || wrong "help words has no line: $line"
done
[ "$(grep -c '^[a-zA-Z -]*: ' topic.words)" -ge \
	"$(grep -v '^| word ' "$SRC/docs/words.md" | grep -c -e '^[*][*]' -e '^| [a-z]')" ] || wrong "help words leaves words out"
cmp -s "$SRC/libtime/causes/causes.rules" topic.causes || wrong "help causes is not the table that is used"
# each cause that --cause knows is explained before the rules
named=$("$PERFKIT" tail --cause nosuch "$SRC/testdata/waits/perf.data" 2>&1 | sed 's/.*there are //; s/ (.*//; s/,//g')
[ "$(echo "$named" | wc -w)" -gt 20 ] || wrong "--cause lists: $named"
for c in $named; do
	sed '/^# One rule per line/,$d' topic.causes | grep -qE "^#   ([a-z]+, )?$c(,|  )" || wrong "help causes does not explain $c"
done
cmp -s "$SRC/libtime/causes/mechanisms.rules" topic.mechanisms ||
	wrong "help mechanisms is not the table that is used"
cmp -s "$SRC/libsym/name/frames.rules" topic.frames || wrong "help frames is not the table that is used"
"$PERFKIT" collapse -q --no-local --offcpu --causes topic.causes "$SRC/testdata/waits/perf.data" >own.folded &&
	"$PERFKIT" collapse -q --no-local --offcpu "$SRC/testdata/waits/perf.data" | cmp -s - own.folded ||
	wrong "the table of help causes does not work as --causes"
[ "$("$PERFKIT" -V)" = "$("$PERFKIT" --version)" ] || wrong "-V is not --version"
"$PERFKIT" flamegraph --help | cmp -s - help.svg || wrong "flamegraph is not svg"

# the order of help: usage, examples, then options in groups, each shown once
awk '/^Examples:/ { e = NR } /^[A-Z].*:$/ && !/^Examples:/ && !g { g = NR } END { exit !(e && g && e < g) }' help.tail ||
	wrong "help tail: examples come behind the options"
cat topic.* help.tail | tr -s ' ' '\n' | grep -x -e '--[a-z0-9-]*' | sort -u >explained
for v in collapse export html import report svg tail timeline; do
	for g in Filters Symbols General; do
		[ "$(grep -c "^$g:$" full.$v)" = 1 ] || wrong "help $v --all: group $g"
	done
	for g in filters names general; do
		grep -q "^  $g " help.$v || [ $v = import ] || wrong "help $v does not name the topic $g"
	done
	sed '1,/^Shared/d' help.$v | grep -o -e '--[a-z0-9-]*' | grep -vx -e --top | sort -u | comm -23 - explained |
		grep . && wrong "help $v: no topic explains these"
	grep -o '^  \(-., \|    \)--[a-z0-9-]*' full.$v | sort | uniq -d | grep . && wrong "help $v names an option twice"
done

# a slip of the finger: the word that was meant
meant()  # WORD ARGUMENTS... : the message offers WORD
{
	word=$1; shift
	"$PERFKIT" "$@" >out 2>err && wrong "$*: exit status 0"
	grep -q "did you mean '$word'?" err || wrong "$*: $(cat err)"
}
waits=$SRC/testdata/waits/perf.data
meant report reprot
meant tail TAIL
meant activation tail --by activaton "$waits"
meant hot svg --colors hott "$waits"
meant flamegraph flamegrph
meant --version --verison
meant causes help causse
meant --top tail --tpo 3 "$waits"
meant --offcpu svg --ofcpu "$waits"
meant root tail --group rot "$waits"
meant lock tail --cause locks "$waits"
meant runnable tail --state runable "$waits"
meant blocked collapse --offcpu --state bloked "$waits"
meant sched:sched_switch collapse -e sched:sched_swich "$waits"
meant offcpu doctor --for ofcpu "$waits"
meant us collapse --offcpu --unit uss "$waits"
# what perf or others call it
meant --stacks record cpu -g -- true
meant --pid pack -p 12 "$waits"
meant --pid tail --process 12 "$waits"
meant --tid svg --thread 12 "$waits"
meant --cgroup tail --container web "$waits"
meant --top report --limit 5 "$waits"
meant --comm html --name x "$waits"
"$PERFKIT" unpack -p 12 2>&1 | grep -q mean && wrong "unpack has nothing like -p"
"$PERFKIT" xyzzy 2>&1 | grep -q mean && wrong "xyzzy resembles nothing"

# percentiles as people write them
for p in "p99.9 p999" "p50.0 p50" "p99.99 p9999" "p95 p95.000"; do
	set -- $p
	"$PERFKIT" tail -q --no-local --$1 "$waits" >a && "$PERFKIT" tail -q --no-local --$2 "$waits" | cmp -s - a ||
		wrong "--$1 is not --$2"
done
"$PERFKIT" tail -q --no-local --p99.5 "$waits" >a
"$PERFKIT" tail -q --no-local --pct 99.5 "$waits" | cmp -s - a || wrong "--p99.5 is not --pct 99.5"
for p in p0 p101 p99.9999 p1.2.3; do
	"$PERFKIT" tail --$p "$waits" >out 2>err; [ $? = 2 ] || wrong "tail --$p: $(cat err)"
done

for lib in perfkit libtraceevent elfutils zstd SQLite xxHash; do
	"$PERFKIT" --version | grep -q "^$lib  *[0-9][0-9.]*$" || wrong "--version lacks $lib"
done
for words in "nosuchverb" "help nosuchverb" "help --man nosuchverb" "help --completion csh" ""; do
	# shellcheck disable=SC2086
	"$PERFKIT" $words >out 2>err
	[ $? = 2 ] || wrong "perfkit $words: exit status is not 2"
	[ -s err ] && [ ! -s out ] || wrong "perfkit $words: says what is wrong on stdout"
done

# an option of another way to ask is refused, never ignored
told() { text=$1; shift; "$PERFKIT" "$@" no.data >out 2>err; [ $? = 2 ] && grep -q -e "$text" err ||
	wrong "$*: $(cat err)"; }
told 'unit goes with --offcpu, --offwake or --tail' collapse --unit ns
for o in --idle --system --state=blocked --cause=lock --idle-frame=x --work-frame=x --causes=x; do
	told 'goes with' collapse $o
	told 'goes with' svg -o x.svg $o
done
for o in --p99 --by=wait --over=1ms --top=3 --open --pct=9; do
	told 'goes with --tail' collapse $o
	told 'goes with --tail' svg -o x.svg $o
done
for o in --p99 --by=wait --over=1ms --open --idle --state=blocked --cause=lock; do
	told 'goes with --tail' timeline -o x.svg $o
done
told 'weight does not go with --offcpu' collapse --offcpu --weight samples
told 'all-events does not go with --tail' collapse --tail --all-events
told 'event does not go with --offcpu' svg -o x.svg --offcpu -e cycles
told 'cause goes with --offcpu, --offwake, --tail or --tail-diff' svg -o x.svg --wall --cause lock
told 'cpus does not go with --tail' timeline -o x.svg --tail --cpus
told 'event has no meaning here' tail -e cycles
told 'recording is for stores' collapse --recording 2
for v in import doctor; do # they take or judge all of a recording
	for o in -ecycles --comm=x -cx --pid=1 --tid=1 -C0 --time=1,2; do
		told 'has no meaning here' $v $o
	done
	grep -q -e --comm -e --time "full.$v" "$v.1" && wrong "help $v tells of options that it refuses"
done

for shell in bash zsh fish; do
	"$PERFKIT" help --completion $shell >complete.$shell || wrong "no completion for $shell"
	if command -v $shell >/dev/null; then
		$shell -n complete.$shell || wrong "$shell does not take its completion"
	fi
done
completes()  # words... : what bash offers for the last of them
{
	bash -c '. ./complete.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _perfkit
		printf "%s\n" "${COMPREPLY[@]}"' - "$@"
}
if command -v bash >/dev/null; then
	[ "$(completes perfkit coll)" = collapse ] || wrong "bash: verb"
	[ "$(completes perfkit collapse --offw)" = --offwake ] || wrong "bash: option"
	[ "$(completes perfkit svg --split = ti)" = tid ] || wrong "bash: choice"
	: >some.data
	[ "$(completes perfkit report some)" = some.data ] || wrong "bash: file"
	[ "$(completes perfkit record of)" = offcpu ] || wrong "bash: mode"
	[ "$(completes perfkit record --dry)" = --dry-run ] || wrong "bash: option in place of a mode"
	[ "$(completes perfkit record cpu some)" = some.data ] || wrong "bash: command"
	[ "$(completes perfkit help --completion '' | xargs)" = 'bash zsh fish' ] || wrong "bash: shell"
	[ -z "$(completes perfkit tail --top '')" ] || wrong "bash: files for a number"
	for o in --by=wa,wait --state=r,runnable,running --cause=fut,futex; do
		[ "$(completes perfkit tail "${o%%=*}" "$(echo "${o#*=}" | cut -d, -f1)" | paste -sd,)" = "${o#*,}" ] ||
			wrong "bash: tail $o"
	done
fi
# Every word that is offered, the program takes. Where a wrong word is refused before the file is
# opened, none is needed; else all words of a list are asked about at once.
sed -n "s/^\t\([a-z]*\):\(--[a-z-]*\)[^)]*) words='\(.*\)' ;;/\1 \2 \3/p" complete.bash >offers
[ "$(wc -l <offers)" -gt 20 ] || wrong "few words are offered: $(cat offers)"
taken()  # WORD : the command takes it
{
	# shellcheck disable=SC2086
	"$PERFKIT" "$v" "$option" "$1" $with $file >out 2>err </dev/null
	[ $? != 2 ]
}
while read -r v option words; do
	case $v:$option in
	record:*) with='cpu --dry-run --no-estimate' ;;
	fleet:*) with=hosts ;;
	doctor:*) with= ;;
	compare:*) with="$SRC/testdata/sched/perf.data --" ;;
	export:--to) with='-o out.export' ;;
	export:*) with='--tail --to pprof -o out.export' ;;
	collapse:--unit) with=--offcpu ;;
	report:--state | report:--cause) with='--offcpu --by function' ;;
	tail:* | html:* | report:* | *:--weight | *:--split | *:--color | *:--for) with= ;;
	*) with=--tail ;;
	esac
	# time running is known to tail and what picks episodes like it
	case $v:$option in report:--state) words=${words% running} ;; esac
	case $v:$option in compare:--format) words=${words% junit} ;; esac # needs --fail-on
	file=no.data
	case $v in record | fleet) file= ;; esac
	if taken nosuchword; then
		file=$waits
		case $option in --state | --cause) words=$(echo "$words" | tr ' ' ,) ;; esac
	fi
	taken nosuchword && wrong "$v $option takes nosuchword"
	grep -q 'goes with' err && wrong "$v $option: $(cat err)"
	for w in $words; do
		taken "$w" || grep -q -e 'has no spans' -e 'name the folder' err || wrong "$v $option $w: $(cat err)"
	done
done <offers
for w in $(sed -n "s/.*record:.*words='\(cpu [a-z ]*\)'.*/\1/p" complete.bash); do
	"$PERFKIT" record "$w" --dry-run --no-estimate --begin f -x f >out 2>err
	! grep 'is not one of' err || wrong "record $w"
done

inst=$PWD/inst
make -s -C "$SRC" O="${O#"$SRC/"}" DESTDIR="$inst" PREFIX=/usr install >install.log 2>&1 || wrong "$(cat install.log)"
for f in bin/perfkit share/man/man1/perfkit.1 share/man/man1/perfkit-collapse.1 \
	share/doc/perfkit/README.md share/doc/perfkit/docs/store.md share/doc/perfkit/docs/schema/tail.json \
	share/bash-completion/completions/perfkit share/zsh/site-functions/_perfkit \
	share/fish/vendor_completions.d/perfkit.fish; do
	[ -s "$inst/usr/$f" ] || wrong "make install leaves out $f"
done
make -s -C "$SRC" O="${O#"$SRC/"}" DESTDIR="$inst" PREFIX=/usr uninstall >/dev/null 2>&1
[ -z "$(find "$inst" -type f)" ] || wrong "make uninstall leaves $(find "$inst" -type f)"
exit $bad
