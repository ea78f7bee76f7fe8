#!/bin/sh
# house.sh layers|headers|code|externs|hostile... - rules about the sources themselves; part of make check.
#
#	layers	  what each folder includes lies below it, and so do the symbols its library needs; the
#		  same of the rooms in a library
#	headers	  each header compiles alone; a public one says something about each prototype
#	externs	  what other files could call, one calls
#	hostile	  SQL is never put together from texts; one place escapes for XML, JSON, CSV; one starts
#		  programs
#	recipes	  the files and names in docs/architecture.md and docs/adding.md exist
#	asserts	  no test under `set -e` asserts what the shell does not look at: `! X`, or X of `X && Y`
#	lines	  says how large each room is and how long functions are
#	code	  memory goes through base/mem.c, machines are told apart in libsym/unwind/arch_*.c, no
#		  file is too long, the format is clang-format's
#
# O is the build folder; CC and HEADER_CFLAGS compile a header.
set -u
cd "$(dirname "$0")/.." || exit 1
O=${O:-build}
CC=${CC:-cc}
bad=0
wrong()
{
	echo "$*"
	bad=1
}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
libraries="base libparse libsym libtime render"
folders="$libraries cmd"

archive()
{
	echo "$O/lib$1.a"
}

# An #include of a folder that does not lie below.
layers_include()
{
	below=
	for d in $folders; do
		below="$below $d"
		for inc in $(sed -n 's/^#include "\([^"/]*\)\/.*/\1/p' "$d"/*.[ch] "$d"/*/*.[ch] 2>"$tmp/none" | sort -u); do
			case " $below " in
			*" $inc "*) ;;
			*) wrong "$(grep -l "^#include \"$inc/" "$d"/*.[ch] "$d"/*/*.[ch] 2>"$tmp/none" | tr '\n' ' ')include $inc, which is not below $d" ;;
			esac
		done
	done
}

# A symbol that only a library above has.
layers_link()
{
	for d in $libraries; do
		[ -f "$(archive "$d")" ] || { wrong "$(archive "$d") is not built"; return; }
		nm -g --defined-only "$(archive "$d")" | awk 'NF == 3 { print $3 }' | sort -u >"$tmp/$d"
	done
	cat "$tmp"/* | sort -u >"$tmp/all"
	: >"$tmp/below"
	for d in $libraries; do
		sort -u "$tmp/below" "$tmp/$d" -o "$tmp/below"
		nm -g --undefined-only "$(archive "$d")" | awk 'NF == 2 { print $2 }' | sort -u |
			comm -12 - "$tmp/all" | comm -23 - "$tmp/below" >"$tmp/up"
		[ -s "$tmp/up" ] && wrong "$d needs from above: $(tr '\n' ' ' <"$tmp/up")"
	done
}

# The rooms of each library, lowest first; "." is its top. A room may use those before it.
rooms_of()
{
	case $1 in
	base) echo "os . text" ;;
	libparse) echo ". archive" ;;
	libsym) echo "name elf dwarf source unwind jit process ." ;;
	libtime) echo "sched spans side join build causes population explain tables watch store record doctor" ;;
	render) echo "text tail parquet export svg flame timeline html" ;;
	cmd) echo "cli input query jitter record export answer ." ;;
	*) echo "." ;;
	esac
}

# What is known to point up, as "ROOM HEADER":
#	process fills the names of a stack ahead of need, and a stack's entry is the aggregate's
allowed_up="libsym/process libsym/aggregate.h"

rooms()
{
	for d in $folders; do
		order=$(rooms_of "$d")
		for room in $(find "$d" -name '*.[ch]' -exec dirname {} + | sort -u | sed "s|^$d\$|.|; s|^$d/||"); do
			case " $order " in *" $room "*) ;; *) wrong "$d/$room is no room that $0 knows" ;; esac
		done
		above=$order
		for room in $order; do
			above=${above#"$room"} above=${above# }
			[ "$room" = . ] && in=$d || in=$d/$room
			for up in $above; do
				[ "$up" = . ] && header="$d/[^/]*" || header="$d/$up/[^/]*"
				grep -o "^#include \"$header\.h\"" "$in"/*.[ch] | while IFS= read -r line; do
					case "$allowed_up" in *"$in $(echo "$line" | cut -d'"' -f2)"*) ;;
					*) echo "$line: $up stands above $room" ;;
					esac
				done
			done
		done
	done >"$tmp/rooms"
	[ ! -s "$tmp/rooms" ] || wrong "$(cat "$tmp/rooms")"
}

layers()
{
	layers_include
	layers_link
	rooms
}

compile_header()
{
	printf '#include "%s"\n' "$1" >"$tmp/$2.c"
	# shellcheck disable=SC2086
	$CC -std=gnu11 -D_GNU_SOURCE -I. ${HEADER_CFLAGS:-} -Wall -Wextra -Werror -fsyntax-only \
		"$tmp/$2.c" 2>"$tmp/$2.err" || {
		grep -m 1 error "$tmp/$2.err"
		return 1
	}
}

# Prototypes at file scope without a comment above them, above their group (lines without a blank
# one between), or behind them.
undocumented()
{
	awk '
		FNR == 1 { said = comment = depth = 0 }
		comment { if (/\*\//) comment = 0; next }
		/^[ \t]*\/\*/ { said = 1; if (!/\*\//) comment = 1; next }
		/^$/ { if (!depth) said = 0; next }
		/^#/ { next }
		{
			if (!depth && /^[a-z_].*\(/ && !/^typedef|^static inline/ && !/\/\*/ && !said)
				print FILENAME ":" FNR ": no comment: " $0
			if (/\/\*/ && !/\*\//) comment = 1
			depth += gsub(/{/, "{") - gsub(/}/, "}")
		}' "$@"
}

headers()
{
	set -- $(for d in $folders; do find "$d" -name '*.h' | sort; done)
	i=0
	for h; do
		compile_header "$h" "$i" >"$tmp/$i.out" &
		i=$((i + 1))
		[ $((i % 4)) = 0 ] && wait
	done
	wait
	cat "$tmp"/*.out | grep . && wrong "headers do not compile alone"
	# shellcheck disable=SC2046
	undocumented $(echo "$@" | tr ' ' '\n' | grep -v '_internal\.h') | grep . && wrong "prototypes without a comment"
}

code()
{
	grep -nE '(^|[^_a-zA-Z0-9>.])(malloc|calloc|realloc|reallocarray|free|strdup|strndup|asprintf|vasprintf|getline|getdelim|open_memstream)\(' \
		$(for d in $folders; do find "$d" -name '*.[ch]'; done) | grep -vE '^base/(mem\.[ch]|os/lacking\.c):' |
		grep -vE ':[0-9]+:[ \t]*(/?\*|//)' && wrong "memory goes through base/mem.h"
	grep -nE '(^|[^A-Z_])EM_[A-Z0-9_]+|__(x86_64|aarch64|riscv)' $(for d in $folders; do find "$d" -name '*.[ch]'; done) |
		grep -vE '^libsym/(elf/|unwind/arch_|source/disassemble)' && wrong "an architecture is a file: libsym/unwind/arch.h"
	grep -nE '__linux__|__EMSCRIPTEN__|__APPLE__|_WIN32|include <(linux/|sys/(prctl|syscall|auxv|vfs|random)\.h|malloc\.h)' \
		$(for d in $folders; do find "$d" -name '*.[ch]'; done) | grep -v '^base/os/' |
		grep -vE '^cmd/(fleet|answer/watch_run|jitter/spin)\.c:[0-9]+:#include <sys/prctl.h>' &&
		wrong "systems are told apart in base/os"
	grep -nE '(==|!=|case)[^;]*[^A-Z_a-z](E(PERM|NOENT|SRCH|INTR|IO|NXIO|BADF|CHILD|AGAIN|NOMEM|ACCES|FAULT|BUSY|EXIST|INVAL|NOSYS|OPNOTSUPP|CONN[A-Z]+|TIMEDOUT|WOULDBLOCK)|SIG[A-Z]+|PAGE_SIZE)\b' $(find libparse libsym/unwind libtime render -name '*.c') |
		grep -vE 'errno|ERR_|ELF|failed|EM_|rc [!=]=' && wrong "a recorded number is compared with this system's constant"
	grep -nwE '(PROT|MAP)_[A-Z]+' $(find libparse libsym libtime render -name '*.c') && wrong "a recorded number is compared with this system's constant (libparse/linux_mmap.h)"
	find $folders tests configure Makefile -type f \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' \
		-o -name '*.js' -o -name configure -o -name Makefile \) -exec wc -l {} + |
		awk '$1 > 1000 && $2 != "total"' | grep . && wrong "files of more than 1000 lines"
	grep -rnIE '/home/[a-z]|/Users/[a-zA-Z]' --include='*.[ch]' --include='*.sh' --include='*.py' \
		--include='*.md' --include=Makefile --exclude-dir=sysroot --exclude-dir=readers . | grep -v '^./tests/house.sh' &&
		wrong "paths of a developer's machine"
	case $PWD in
	/*/*) grep -rlF --exclude-dir=__pycache__ -e "$PWD/" $folders tests testdata docs README.md && wrong "the path of this checkout" ;;
	esac
	find $folders -name '*.[ch]' -exec grep -nE '^ \*[A-Za-z(]' {} + &&
		wrong "a blank follows the star of a comment's line"
	find $folders -name '*.[ch]' -exec env LC_ALL=C.UTF-8 grep -nE '^[[:space:]]*(/\*|\*).{97,}$' {} + &&
		wrong "comments of more than 96 columns"
	v=$(clang-format --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p')
	if [ "$v" = 14 ]; then
		find $folders tests/lib tests/prog tests/tools tests/fuzz tests/unit -name '*.[ch]' |
			xargs -P 2 -n 40 clang-format --dry-run 2>&1 |
			sed -n 's/:[0-9:]* warning: code should be.*//p' | sort -u | grep . &&
			wrong "make format would change these"
	else
		echo "format not checked: it needs clang-format 14, here is ${v:-none}"
	fi
}

# What tests alone ask for, and why it is there:
#	faults to inject, inputs that are in memory, states that no command prints
test_doors="mem_fail_after mem_fail_once source_open_pieces
jitdump_open_mem kallsyms_parse perfmap_parse
causes_parse mechanisms_parse fd_context_parse side_file_read
build_id_parse kallsyms_find debuginfo_line debuginfo_stats cfi_damage cfi_memory
unwind_end_name unwind_get_stats tracepoints_damage frame_role_name causes_classify
causes_missing finding_kinds side_clock_map tl_paint_sums tl_segs_init
tl_segs_next"

# Each symbol that another object could use is used by one, or is a door for tests.
externs()
{
	[ -f "$O/libbase.a" ] || { wrong "$O is not built"; return; }
	# of sources that are gone, objects may still lie there
	objects=$(for d in $libraries; do archive "$d"; done
		find cmd -name '*.c' ! -name '*.bpf.c' | sed "s|^|$O/|; s|c\$|o|" | xargs ls 2>/dev/null)
	# shellcheck disable=SC2086
	nm -A -g $objects | awk 'NF > 2 { print $NF, $(NF - 1) }' >"$tmp/externs"
	# a sanitizer adds symbols, and its builds do not bound their memory
	! grep -qE '^__[at]san_' "$tmp/externs" || return 0
	awk '$2 == "U" { print $1 }' "$tmp/externs" | sort -u >"$tmp/externs.used"
	awk '$2 ~ /^[TDRB]$/ { print $1 }' "$tmp/externs" | sort -u | comm -23 - "$tmp/externs.used" |
		grep -vx main >"$tmp/externs.alone"
	# shellcheck disable=SC2086
	printf '%s\n' $test_doors | sort -u >"$tmp/doors"
	comm -23 "$tmp/externs.alone" "$tmp/doors" | grep . && wrong "only its own file uses it: static, or nothing"
	comm -13 "$tmp/externs.alone" "$tmp/doors" | grep . && wrong "no longer a door for tests alone: strike it from $0"
	for s in $test_doors; do
		grep -rqw --include='*.[ch]' "$s" tests || wrong "$s: no test uses it either"
	done
}

# What a stranger wrote is never part of a statement, and is escaped in one place for each form.
hostile()
{
	sources=$(for d in $folders; do find "$d" -name '*.c' | sort; done)
	# of the store's own declarations (schema.h), SQL is made from names that are compiled in
	# shellcheck disable=SC2086
	{
		grep -nE 'sqlite3_(v?mprintf|v?snprintf|get_table|str_append|complete)' $sources
		grep -nE '"[^"]*(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ATTACH|PRAGMA) [^"]*%[-0-9.*]*(l*[dus]|ll[dux])' $sources
		grep -nE '(snprintf|buf_fmt|buf_str)\([^;]*"(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ATTACH|PRAGMA) ' $sources
		grep -nE 'sqlite3_exec\(' $sources | grep -vE 'sqlite3_exec\([a-z>-]+, ("|sql,)'
	} | grep -vE '^libtime/store/(schema_sql|store_feed|store_rows)\.c:' | grep . && wrong "SQL is prepared, with values bound to it"
	# shellcheck disable=SC2086
	grep -nE '&(lt|gt|amp|quot);' $sources | grep -v '^render/text/escape\.c:' && wrong "XML is escaped in render/text/escape.c"
	# shellcheck disable=SC2086
	grep -nE '[^a-z_](exec[lv]p?e?|execvpe|fexecve|popen|system|posix_spawnp?)\(' $sources | grep -vE '^base/(child|os/lacking)\.c:' &&
		wrong "programs are started by base/child.c"
	# shellcheck disable=SC2086
	grep -nF '\\u%04x' $sources | grep -v '^render/text/json\.c:' && wrong "JSON is escaped in render/text/json.c"
	# shellcheck disable=SC2086
	grep -nE "memchr\(s, ',', n\)" $sources | grep -v '^render/text/csv\.c:' && wrong "CSV is quoted in render/text/csv.c"
}

# NAME and LIB stand for any; a bare file or room is in any folder.
recipes()
{
	grep -ohE '`[a-zA-Z_./*-]+`' docs/architecture.md docs/adding.md | tr -d '`' | sort -u | while read -r word; do
		case $word in
		*NAME* | *LIB* | [._-]* | include/* | config.*) ;;
		*/* | *.c | *.h | *.rules | *.sh)
			# shellcheck disable=SC2086
			find $folders tests testdata Makefile configure \( -path "$word" -o -path "*/$word" \
				-o -path "$word.[ch]" -o -path "*/$word.[ch]" -o -path "tests/$word.sh" \
				-o -path "tests/${word%/*}/test_${word##*/}.c" \) | grep -q . ||
				echo "docs: no file $word" ;;
		*_*)
			grep -rqw --include='*.[ch]' "$word" $folders tests ||
				echo "docs: nothing is called $word" ;;
		esac
	done >"$tmp/recipes"
	[ ! -s "$tmp/recipes" ] || wrong "$(cat "$tmp/recipes")"
}

# `set -e` ends a script neither for `! X` nor for X of `X && Y`.
asserts()
{
	for t in tests/cli/*.sh; do
		grep -q '^set -[a-z]*e' "$t" || continue
		awk -v checks='^(\\[|grep|cmp|diff|has|refused|refuses|store|pk|"\\$PERFKIT"|! *grep|! *cmp) ' '
			{ line = $0; sub(/^[ \t]*/, "", line); gsub(/\047[^\047]*\047/, "quoted", line) }
			line ~ /[|][|]/ || line ~ /(\\|[|]|&&|[{])$/ || before ~ /(\\|[|]|&&)$/ { before = line; next }
			{ before = line }
			line ~ /^! / { print FILENAME ":" FNR ": " line; next }
			line !~ checks || line !~ / && / { next }
			{ then = line; sub(/.* && /, "", then) }
			then !~ /^(continue|return|exit|break|bad|wrong|say|echo|[{]|[a-zA-Z_]+=)/ { print FILENAME ":" FNR ": " line }
		' "$t"
	done >"$tmp/asserts"
	[ ! -s "$tmp/asserts" ] || wrong "$(cat "$tmp/asserts")
    this may fail, and the test passes: write each check as a line of its own, \`! X || exit 1\`"
}

# Product lines and files of each room, and how long functions are.
lines()
{
	find $folders \( -name '*.[ch]' -o -name '*.js' -o -name '*.css' -o -name '*.rules' \) | sort |
		xargs awk '
			FNR == 1 { room = FILENAME; sub("/[^/]*$", "", room); files[room]++; open = 0 }
			{ n[room]++ }
			/^{/ { open = FNR }
			/^}/ && open { print "function", FNR - open - 1; open = 0 }
			END { for (room in n) print "room", room, files[room], n[room] }' >"$tmp/lines"
	printf '%-20s %5s %7s\n' room files lines
	sort "$tmp/lines" | awk '$1 == "room" { printf "%-20s %5d %7d\n", $2, $3, $4; f += $3; n += $4 }
		END { printf "%-20s %5d %7d\n", "all", f, n }'
	awk '$1 == "function" { print $2 }' "$tmp/lines" | sort -n | awk '{ v[NR] = $1 } END {
		printf "%d functions: median %d lines, 90 %% at most %d, the longest %d\n",
			NR, v[int((NR + 1) / 2)], v[int(NR * 0.9)], v[NR] }'
}

for what; do
	$what
done
exit $bad
