#!/bin/sh
# The completions in the shells themselves: fish offers every verb and every option, zsh (on a
# terminal of its own) completes verbs, options, choices and files.
set -u
bad=0 asked=
wrong() { echo "$*"; bad=1; }
for tool in fish zsh; do command -v $tool >/dev/null || echo "left out: $tool"; done
for shell in zsh fish; do
	"$PERFKIT" help --completion $shell >complete.$shell
done
: >some.data

# what fish offers for a command line
offered() { fish --no-config -c "source complete.fish; complete -C '$1'" </dev/null | cut -f1; }
if command -v fish >/dev/null; then
	asked="fish"
	offered 'perfkit ' >verbs
	for v in $("$PERFKIT" help --verbs); do
		grep -qx "$v" verbs || wrong "fish does not offer $v"
		"$PERFKIT" help "$v" | grep -o -e '^ *\(-.,\)\? *--[a-z0-9-]*' | grep -o -e '--.*' | sort -u >want
		offered "perfkit $v --" | grep -o -e '^--[a-z0-9-]*' | sort -u >got
		left=$(comm -23 want got | xargs)
		[ -z "$left" ] || wrong "fish: perfkit $v lacks $left"
	done
	[ "$(offered 'perfkit svg --split t')" = tid ] || wrong "fish: choice: $(offered 'perfkit svg --split t')"
	offered 'perfkit report some' | grep -qx some.data || wrong "fish: file"
	for ask in 'record =>calls cpu jitter offcpu requests tail watch' 'record --stacks =>auto dwarf fp lbr none' 'tail --top =>' \
		'tail --by =>activation span wait window' 'help --completion =>bash fish zsh' 'record tail --hist=>'; do
		got=$(offered "perfkit ${ask%%=>*}" | sort | xargs)
		[ "$got" = "${ask##*=>}" ] || wrong "fish: ${ask%%=>*} gives $got"
	done
fi

# what zsh makes of a line when Tab is pressed, in zsh -i on a pseudo terminal
cat >tab.zsh <<'E2'
zmodload zsh/zpty || exit 1
zpty z zsh -f -i
zpty -w z "PS1='> '; fpath=($PWD/site \$fpath); autoload -Uz compinit; compinit -u -d $PWD/dump
bindkey '^I' complete-word; print READY_\$((1+1))"
zpty -r -m z out '*READY_2*' || exit 1
for ask in "$@"; do
	line=${ask%%=>*} want=${ask##*=>}
	zpty -w -n z "$line"$'\t'
	zpty -r -m z out "*$want*" && print -r -- "ok $line"
	zpty -w -n z $'\C-u'
done
zpty -d z
E2
if command -v zsh >/dev/null && zsh -f -c 'zmodload zsh/zpty' 2>/dev/null; then
	asked="$asked zsh"
	mkdir site && cp complete.zsh site/_perfkit
	set -- 'perfkit coll=>collapse' 'perfkit svg --offc=>--offcpu' 'perfkit svg --split t=>tid' \
		'perfkit report som=>some.data' 'perfkit tail --p9=>--p999' 'perfkit help tim=>timeline' \
		'perfkit record off=>offcpu' 'perfkit record cpu --stacks dw=>dwarf' 'perfkit tail --by act=>activation' \
		'perfkit help --completion fi=>fish' 'perfkit tail --cause run=>runqueue'
	timeout 120 zsh -f tab.zsh "$@" </dev/null >tab.out 2>tab.err
	for ask in "$@"; do
		grep -qx "ok ${ask%%=>*}" tab.out || wrong "zsh: ${ask%%=>*} is not completed: $(cat tab.err)"
	done
fi
[ -n "$asked" ] || { echo "neither fish nor zsh here"; exit 77; }
echo "asked: $asked"
exit $bad
