# Which side of a socket a thread waits at, from its registers and the host's descriptors: in the
# recording, and the same in its bundle and its store. What pack --script finds afterwards is less.
# live: records now, on this machine
set -eu
command -v sqlite3 >/dev/null || { echo "sqlite3 is not installed"; exit 77; }
for p in remote server; do
	${CC:-cc} -D_GNU_SOURCE -O1 -g -o $p "$SRC/tests/requests/$p.c" "$SRC/tests/requests/log.c" -lpthread ||
		{ echo "no compiler here"; exit 77; }
done
./remote remote.log --seconds 150 >/dev/null 2>&1 &
remote=$!
./server server.log --how epoll --seconds 150 >/dev/null 2>&1 &
server=$!
trap 'kill $remote $server 2>/dev/null || :' EXIT
sleep 0.5
"$PERFKIT" pack --script >pack.sh
sh pack.sh --before early.data 2>err || { cat err; exit 1; }
[ "$(stat -c %a early.data.context-before)" = 600 ] || { echo "others may read what was before"; exit 1; }
"$PERFKIT" record tail --no-lock-owner --duration 1 -o live.data 2>err ||
	{ echo "nothing can be recorded here: $(tail -1 err)"; exit 77; }
[ -s live.data.context ] || { echo "no context was written"; exit 1; }
[ "$(stat -c %a live.data.context)" = 600 ] || { echo "others may read the context"; exit 1; }
kinds()
{
	sqlite3 "$1" "SELECT c.comm || ' ' || o.cause || ' ' || o.arg0_kind || ' ' ||
			CASE WHEN count(*) >= 10 THEN 'often' ELSE 'seldom' END
		FROM offcpu o JOIN comms c ON c.id = o.comm_id WHERE c.comm IN ('apiclient', 'dbserver', 'client', 'server')
		AND o.cause IN ('net', 'poll') AND o.arg0_kind IS NOT NULL GROUP BY c.comm, o.cause, o.arg0_kind ORDER BY 1"
}
"$PERFKIT" import -q live.data -o live.db 2>/dev/null
kinds live.db >kinds
cat kinds
for want in 'apiclient net connected' 'dbserver net accepted' 'client net connected' 'server poll epoll-accepted'; do
	grep -q "^$want often" kinds || { echo "not seen: $want"; exit 1; }
done
grep -E '^(apiclient|client) net (accepted|listening)|^dbserver net connected' kinds && { echo "the wrong side"; exit 1; }
"$PERFKIT" pack -q live.data -o live.tar.zst
"$PERFKIT" import -q live.tar.zst -o packed.db 2>/dev/null
kinds packed.db | cmp - kinds
# A context of another recording says nothing.
sed 's/^of .*/of 1/' live.data.context >other && mv other live.data.context
"$PERFKIT" import -q live.data -o other.db --force 2>/dev/null
kinds other.db | grep -E 'accepted|connected|listening' && { echo "another recording's descriptors are believed"; exit 1; }
# The script looks when all is over: who connected is still told, but nothing that hides a wait.
# perf unwinds for it, which takes long with stack copies.
[ "$(uname -m)" = x86_64 ] || exit 0
perf record -q -a -k CLOCK_MONOTONIC -m 2048 -g --user-regs=di,si,dx,ax -o late.data \
	-e sched:sched_switch,sched:sched_waking,sched:sched_wakeup -- sleep 0.5 >/dev/null 2>err || { cat err; exit 1; }
asks() { # NAME: the script's bundle of late.data
	sh pack.sh late.data -o $1.tar.zst 2>err || { cat err; exit 1; }
	tar --zstd -xOf $1.tar.zst perf.data.context >$1.context
	"$PERFKIT" import -q $1.tar.zst -o $1.db 2>/dev/null
	kinds $1.db | sed 's/ [a-z]*$//' >$1
}
asks late
cat late
grep -q '^late [0-9]*$' late.context
grep -qx 'apiclient net connected' late && grep -qx 'client net connected' late
grep accepted late && { echo "a late look is believed"; exit 1; }
# Where it has looked before, too, and all is as it was, it is as good as perfkit record.
mv early.data.context-before late.data.context-before
asks early
for want in 'apiclient net connected' 'dbserver net accepted' 'client net connected' 'server poll epoll-accepted'; do
	grep -qx "$want" early || { echo "not seen by two looks: $want"; cat early; exit 1; }
done
# A process that began since, with the number of one that was recorded, is another one.
rm late.data.context-before
touch -d '1 hour ago' late.data
asks new
grep -E "^process ($remote|$server) " late.context >/dev/null
grep -E "^process ($remote|$server) " new.context && { echo "later processes are believed"; exit 1; }
exit 0
