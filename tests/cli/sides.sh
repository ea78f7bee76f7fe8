# Which side of a socket a thread waits at, from its registers and the host's descriptors: in the
# recording, and the same in its bundle and its store.
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
"$PERFKIT" record tail --recorder perf --no-lock-owner --duration 1 -o live.data 2>err ||
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
sed 's/^of .*/of 1/' live.data.context >other
mv other live.data.context
"$PERFKIT" import -q live.data -o other.db --force 2>/dev/null
kinds other.db | grep -E 'accepted|connected|listening' && { echo "another recording's descriptors are believed"; exit 1; }
exit 0
