#!/bin/sh
# bench_diverse.sh - perfkit beside perf on a recording as a busy host makes it: system-wide, at
# 20 kHz, of databases, a web server, interpreters and compilers at the same time.
#
#	BENCH_DIR     where the recording is kept and reused (default $O/bench)
#	BENCH_FILE    measure this recording instead
#	BENCH_SECONDS how long to record (120: some 5 million samples, 0.8 GB)
#	BENCH_QUICK=1 leave perf out: perfkit and the floors only
#
# What cannot be run here is left out, by name. Aims are multiples of the bare record walk and of
# perf on the same file; a recording of fewer than 100,000 folded stacks and 500,000 callchains a
# GB, 4 million samples or 200 processes is marked "not diverse". Commands take turns; the best and
# the median of their runs are printed.
set -eu
. "$(dirname "$0")/benchlib.sh"
file=${BENCH_FILE:-$dir/diverse.data}
seconds=${BENCH_SECONDS:-120}
turns=5

# --- the load: each line of it runs until it is killed ----------------------------------------

have()
{
	for tool; do
		command -v "$tool" >/dev/null 2>&1 || { echo "left out: no $tool here" >&2; return 1; }
	done
}

pgbin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
PATH=$PATH:$pgbin
loads=

load()  # COMMAND: again and again
{
	setsid sh -c "while :; do $1; done" >/dev/null 2>&1 </dev/null &
	loads="$loads $!"
}

stop_loads()
{
	for p in $loads; do kill -- "-$p" 2>/dev/null || true; done
	[ -z "${pgdata:-}" ] || as_postgres pg_ctl -D "$pgdata" -m immediate stop >/dev/null 2>&1 || true
	rm -rf "$work"
}

as_postgres()  # COMMAND...
{
	if [ "$(id -u)" = 0 ]; then setpriv --reuid postgres --regid postgres --clear-groups "$@"; else "$@"; fi
}

load_redis()
{
	have redis-server redis-benchmark || return 0
	load "redis-server --port 0 --unixsocket $work/redis.sock --save ''"
	load "redis-benchmark -q -s $work/redis.sock -n 200000 -P 4 -t set,get,lpush,zadd,hset,mset"
}

load_postgres()
{
	have initdb pgbench pg_ctl || return 0
	pgdata=$work/pg
	mkdir "$pgdata" && chmod 755 "$work"
	[ "$(id -u)" != 0 ] || chown postgres "$pgdata"
	as_postgres initdb -D "$pgdata" -A trust -U bench >/dev/null &&
		as_postgres pg_ctl -D "$pgdata" -l "$pgdata/log" -w -o "-k $pgdata -c listen_addresses=" start >/dev/null &&
		pgbench -q -i -s 5 -h "$pgdata" -U bench postgres >/dev/null 2>&1 || return 0
	load "pgbench -c 4 -T 30 -h $pgdata -U bench postgres"
	load "psql -h $pgdata -U bench postgres -c 'select sum(sqrt(abalance + aid)) from pgbench_accounts group by bid'"
}

load_nginx()
{
	have nginx curl || return 0
	mkdir -p "$work/www" && head -c 300000 /dev/urandom >"$work/www/page"
	cat >"$work/nginx.conf" <<-END
		daemon off; worker_processes 2; error_log $work/error.log; pid $work/nginx.pid; user root;
		events { }
		http { access_log off; gzip on; gzip_types *; server { listen unix:$work/nginx.sock; root $work/www; } }
	END
	load "nginx -c $work/nginx.conf"
	load "curl -s --compressed --unix-socket $work/nginx.sock http://x/page http://x/page http://x/page"
}

load_interpreters()
{
	have node && load "node -e 'for (let r = 0; r < 40; r++) { const m = new Map(); for (let i = 0; i < 60000; i++) m.set(\"k\" + i * r % 9973, [i, String(i)]); JSON.parse(JSON.stringify([...m].sort())); }'"
	have python3 && load "python3 -c 'import json, re, ast, zlib, random, inspect, textwrap
s = inspect.getsource(textwrap)
for i in range(60): ast.unparse(ast.parse(s)); json.loads(json.dumps([random.random() for _ in range(9999)])); re.findall(r\"(\\w+)\\s*=\\s*(.*)\", s); zlib.compress(s.encode())'"
	have perl && load "perl -e 'for (1..30) { my %h; \$h{\$_ % 977} .= \$_ for 1..50000; join \",\", sort { \$h{\$a} cmp \$h{\$b} } keys %h }'"
}

load_compilers()
{
	cc=${CC:-cc}
	load "for f in $SRC/lib*/*.c $SRC/lib*/*/*.c; do $cc -std=gnu11 -O2 -g -D_GNU_SOURCE -I$SRC -c -o /dev/null \$f; done"
	have g++ && load "g++ -std=c++17 -O2 -g -c -o /dev/null $SRC/tests/bench_deep.cc"
	have g++ && g++ -std=c++17 -O1 -fno-omit-frame-pointer -w -o "$work/deep" "$SRC/tests/bench_deep.cc" &&
		load "$work/deep 20"
	load "find $SRC -name '*.[ch]' -exec grep -c static {} + | sort | awk -F: '{ n += \$2 } END { print n }'; tar cf - $SRC/docs $SRC/libsym | gzip -9 | sha256sum"
}

record()
{
	need_perf "set BENCH_FILE"
	work=$(mktemp -d)
	trap stop_loads EXIT INT TERM
	for l in redis postgres nginx interpreters compilers; do load_$l; done
	sleep 3
	echo "recording a busy host for $seconds s ..." >&2
	perf record -q -N -a -m 2048 -F 19999 -e cpu-clock -g -o "$file.tmp" -- sleep "$seconds" 2>/dev/null
	mv "$file.tmp" "$file"
	stop_loads
	trap - EXIT INT TERM
}

# --- what it is like --------------------------------------------------------------------------

describe()
{
	bytes=$(wc -c <"$file")
	said=$("$prog/diversity" "$file")
	folded=$("$O/perfkit" collapse -q --no-inline "$file" | wc -l)
	echo "$file: $((bytes / 1000000)) MB; $said; $folded folded stacks"
	echo "$said" | tr -d , | awk -v folded="$folded" -v gb="$(echo "$bytes" | awk '{ print $1 / 1e9 }')" '
		{ samples = $1; processes = $5; chains = $7 }
		samples < 4e6 || processes < 200 || folded < 1e5 * gb || chains < 5e5 * gb {
			print "not diverse: no aim is judged on it" }'
	echo "$(uname -m), $(nproc) CPUs, Linux $(uname -r), $(perf --version 2>/dev/null || echo no perf)"
}

# --- in turns ---------------------------------------------------------------------------------

# once LABEL COMMAND...: a row "LABEL<tab>wall cpu private status" more
once()
{
	label=$1
	shift
	measure 1 "$@"
	printf '%s\t%s %s %s %s\n' "$label" "$wall" "$cpu" "$private" "$status" >>"$dir/diverse.rows"
}

# The best and the median wall of each label, in the order in which they came first, and how many
# times the floor's, and perfkit's, best that is.
table()
{
	awk -F'\t' '
		!($1 in n) { order[++labels] = $1 }
		{ split($2, v, " "); l = $1; w[l, ++n[l]] = v[1]; if (n[l] == 1 || v[1] < best[l]) {
			best[l] = v[1]; cpu[l] = v[2]; private[l] = v[3]; status[l] = v[4] } }
		function median(l,  i, j, t) {
			for (i = 2; i <= n[l]; i++) for (j = i; j > 1 && w[l, j] < w[l, j - 1]; j--) {
				t = w[l, j]; w[l, j] = w[l, j - 1]; w[l, j - 1] = t }
			return w[l, int((n[l] + 1) / 2)] }
		END {
			printf "%-34s %8s %8s %8s %10s %8s %9s\n", "", "best s", "median", "CPU s", "private MB", "x walk", "x perfkit"
			for (i = 1; i <= labels; i++) { l = order[i]
				printf "%-34s %8.3f %8.3f %8.2f %10.1f %8.1f %9.2f%s\n", l, best[l], median(l), cpu[l], private[l],
					best[l] / best["walk over record headers"], best[l] / best["perfkit collapse --no-inline"],
					status[l] ? "  (exit " status[l] ")" : "" }
		}' "$dir/diverse.rows"
}

[ -f "$file" ] || record
describe
: >"$dir/diverse.rows"
cat "$file" >/dev/null
i=0
while [ $i -lt $turns ]; do
	once 'cat' cat "$file"
	once 'walk over record headers' "$prog/walk" "$file"
	once 'perfkit collapse --no-inline' "$O/perfkit" collapse -q --no-inline "$file"
	once 'perfkit collapse' "$O/perfkit" collapse -q "$file"
	once 'perfkit report' "$O/perfkit" report -q "$file"
	once 'perfkit svg' "$O/perfkit" svg -q --no-inline -o /dev/null "$file"
	i=$((i + 1))
done
once 'perfkit import' "$O/perfkit" import -q -o "$dir/diverse.db" "$file"
once 'perfkit collapse STORE' "$O/perfkit" collapse -q "$dir/diverse.db"
if [ -z "${BENCH_QUICK:-}" ] && command -v perf >/dev/null 2>&1; then
	once 'perf report -g folded' perf report --no-inline --stdio -g folded,0,caller -i "$file"
	once 'perf script --no-inline' perf script --no-inline -i "$file"
fi
table
echo "store: $(($(wc -c <"$dir/diverse.db") * 100 / bytes)) % of the recording"
rm -f "$dir/diverse.db"
