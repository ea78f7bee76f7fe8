#!/bin/sh
# recipe.sh [DIR]: what threads waiting in known ways (ways.c) look like when they go off a CPU.
# stacks.txt has a line for each switch-out: the thread's name, which is the cause; the state;
# the stack as perf script names it, root first, kernel frames marked _[k]. Run as root.
set -e
cd "$(dirname "$0")"
tmp=$(mktemp -d "${1:-/var/tmp}/ways.XXXXXX")
cc -O1 -g -pthread -o "$tmp/ways" ways.c
perf record -q --call-graph dwarf,8192 -m 4096 -e sched:sched_switch -o "$tmp/perf.data" \
	-- "$tmp/ways" "$tmp"
perf script -i "$tmp/perf.data" -F comm,trace,ip,sym,dso 2>/dev/null | perl -e '
	$/ = "";
	while (<>) {
		my ($head, @frames) = split /\n/;
		my ($comm, $state) = $head =~ /prev_comm=(\S+) .*prev_state=(\S+) ==>/
			or next;
		next if $comm eq "helper" || $comm eq "ways" || $comm eq "perf-exec";
		my @out;
		for (@frames) {
			my ($sym, $dso) = /^\s*[0-9a-f]+ (.*) \((.*)\)$/ or next;
			$sym =~ s/\+0x[0-9a-f]+$//;
			unshift @out, $sym . ($dso =~ /^\[(kernel|guest)/ ? "_[k]" : "");
		}
		print "$comm $state ", join(";", @out), "\n" if @out;
	}' | sort | uniq -c | sort -k2,3 -k1,1nr >stacks.txt
rm -r "$tmp"
