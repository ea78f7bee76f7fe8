# Threads that wait in every way, each named after its cause (testdata/causes/ways.c): recorded
# without stacks but with system calls, and recorded now with stacks, and both.
# live: records now, on this machine
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }

# causes FILE LEAST [CAUSE=OTHER...]: each thread has at least LEAST waits of its own cause and few
# others; with CAUSE=OTHER waits of CAUSE must come out as OTHER.
causes()
{
	file=$1
	shift
	"$O/tests/prog/tldump" "$file" >intervals.txt 2>tldump.err
	python3 - "$@" <<'EOF'
import collections, re, sys
least, instead = int(sys.argv[1]), dict(a.split("=") for a in sys.argv[2:])
names = """lock rwlock semaphore cond join barrier futex sleep poll pipe net io fault child signal yield
preempt""".split()
got = collections.defaultdict(collections.Counter)
for line in open("intervals.txt", errors="replace"):
    m = re.match(r"\d+ (\S+) .*blocked=(\d+) .* state=(\S*) cause=(\S+)", line)
    if m and m[1] in names and "suspect" not in line and "open" not in line:
        got[m[1]][m[4], m[3][:1] == "R"] += 1
bad = []
for name in names:
    want = instead.get(name, name)
    if want == "skip":
        continue
    running = name in ("yield", "preempt")
    right = got[name][want, running]
    wrong = sum(n for (c, r), n in got[name].items() if r == running and c != want
                # until the lock is held; the address space's lock of other threads
                and not (name in ("lock", "rwlock") and c == "sleep") and not (c == "rwlock"))
    wrong -= got[name]["preempt", True] if name == "yield" else 0
    if right < least or right < 2 * wrong:
        bad.append(f"{name}: {right} as {want}, {wrong} as others: {dict(got[name])}")
print("\n".join(bad) or f"{len(names)} ways, each known")
sys.exit(bool(bad))
EOF
}

futex="lock=futex rwlock=futex cond=futex join=futex barrier=futex"
gunzip -c "$SRC/testdata/syscalls/perf.data.gz" >kept.data
# one semaphore waits by futex, the other by semop; read() does not say of what
causes kept.data 4 $futex semaphore=skip pipe=unknown fault=unknown

# of the store the same, also by rules given later
"$PERFKIT" import -q --no-local kept.data -o kept.db
mv intervals.txt own.txt
"$O/tests/prog/tldump" kept.db 2>/dev/null | cmp - own.txt
echo 'net syscall=futex:wait_bitset' >mine
for f in kept.data kept.db; do
	"$PERFKIT" collapse -q --offcpu --unit ns --causes mine --cause net $f >$f.folded
	grep -q '^cond' $f.folded
done
cmp kept.data.folded kept.db.folded

cc -O1 -g -pthread -o ways "$SRC/testdata/causes/ways.c"
dir=$(mktemp -d /var/tmp/perfkit-ways-XXXXXX)
trap 'rm -rf "$dir"' EXIT
record()
{
	perf record -q --switch-events -m 1024 -N -k CLOCK_MONOTONIC "$@" -o live.data -- ./ways "$dir" >/dev/null 2>err
}
record -e sched:sched_switch || {
	echo "of the kept recording each cause is known; none can be made here: $(tail -1 err)"
	exit 77
}
case $(stat -f -c %T "$dir") in
ext2/ext3 | xfs | btrfs) disk= ;;
*) disk="io=skip fault=skip" ;;
esac
# A machine that loses records or time gets further chances.
again() { "$@" || "$@" || "$@"; }
with_stacks() { record --call-graph dwarf,8192 -e sched:sched_switch && causes live.data 3 $disk; }
again with_stacks
# by frame pointer: glibc has none, so the callers of its waits are not seen (docs/recording.md)
by_frame_pointer()
{
	record -g -e sched:sched_switch &&
		causes live.data 3 rwlock=futex semaphore=skip cond=futex join=futex $disk
}
again by_frame_pointer
named()
{
	record -e sched:sched_switch -e syscalls:sys_enter_futex -e syscalls:sys_exit_futex \
		-e syscalls:sys_enter_epoll_wait -e syscalls:sys_exit_epoll_wait &&
		causes live.data 3 $futex lock=skip rwlock=skip semaphore=skip sleep=unknown pipe=unknown net=unknown \
			io=unknown fault=unknown child=unknown signal=unknown yield=preempt poll=skip
}
again named
