# What a stranger chooses (folders, links, stores, names in a recording) runs no code, brings no file
# into a bundle, replaces no table, and is in no command that perfkit prints.
fails=0
bad() { echo "$*"; fails=$((fails + 1)); }
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # impossible under strace
pack() { "$PERFKIT" pack --no-local "$@" 2>err; }
holds() { "$PERFKIT" unpack -q --force "$1" -C out >/dev/null 2>&1; grep -rlF SECRET out; }

# A folder of tables is no place for Python to look for modules, and . is none for programs.
mkdir -p tables/recordings elsewhere
for f in csv duckdb sys; do echo 'open("/tmp/perfkit-ran-'$$'", "w")' >tables/$f.py; done
printf '#!/bin/sh\n: >/tmp/perfkit-ran-%s\n' $$ >tables/duckdb && chmod +x tables/duckdb
mkdir open && cp tables/duckdb open/duckdb && chmod 777 open
(cd tables && PYTHONPATH=$PWD PATH=.::$PWD/../open:$PATH "$PERFKIT" fleet hosts .) >said 2>&1
[ ! -e /tmp/perfkit-ran-$$ ] || { rm -f /tmp/perfkit-ran-$$; bad "the tables' folder was run: $(cat said)"; }

# Whatever verb: what it starts is in this list, named absolutely, in a folder that no input chose; an
# engine has a clean environment. (Only base/child.c starts programs: check-house.)
children()  # ALLOWED VERB...: a pattern of programs; they may work in a folder that --git names
{
	allowed=$1
	shift
	PATH=$PWD/engines:/usr/local/bin:/usr/bin:/bin SECRET_OF_MINE=1 strace -v -f -s 8192 -e trace=execve,chdir,fchdir -o trace "$PERFKIT" "$@" >said 2>&1
	sed 1d trace | grep 'execve("' | grep -v ENOENT | sed 's/^[0-9]* *execve(\("[^"]*"\).*/\1/' | sort -u >started
	[ ! -s started ] || ! grep -qvE "$allowed" started || bad "$1 starts $(cat started)"
	! grep -q '^[0-9]* *f\{0,1\}chdir' trace || ! grep chdir trace | grep -vF "\"${TMPDIR:-/tmp}/perfkit." | grep -vF '"repo"' | grep -qF '= 0' ||
		bad "$1 works in $(grep chdir trace)"
}
cp "$SRC/testdata/demo/perf.data" demo.data
mkdir engines && printf '#!/bin/sh\nexit 126\n' >engines/duckdb && chmod +x engines/duckdb
# A commit whose repository is a stranger's: its config names programs for what an index and a
# partial clone lack, allows every way to reach them, and has a pager, hooks, filters and aliases.
if command -v git >/dev/null; then
	dir=$SRC/testdata/inlined
	git init -q repo && cp "$dir/inlined.cc" repo && printf '#!/bin/sh\n: >%s/ran\n' "$PWD" >act && chmod 755 act
	git -C repo add . && git -C repo -c user.name=a -c user.email=a commit -qm first && git -C repo tag first
	echo gone >repo/inlined.cc && git -C repo add . && git -C repo -c user.name=a -c user.email=a commit -qm second
	gone=$(git -C repo rev-parse HEAD:inlined.cc)
	rm -f "repo/.git/objects/${gone%"${gone#??}"}/${gone#??}"
	cp act repo/.git/hooks/reference-transaction && cp act repo/.git/hooks/post-index-change
	echo '* diff=x filter=x' >repo/.git/info/attributes
	cat >>repo/.git/config <<-END
		[core]
			repositoryformatversion = 1
			fsmonitor = $PWD/act
			pager = $PWD/act
			sshCommand = $PWD/act
			alternateRefsCommand = $PWD/act
		[extensions]
			partialClone = origin
		[remote "origin"]
			promisor = true
			url = ext::$PWD/act
		[protocol "ext"]
			allow = always
		[pager]
			cat-file = $PWD/act
		[alias]
			cat-file = !$PWD/act
		[diff "x"]
			textconv = $PWD/act
		[filter "x"]
			smudge = $PWD/act
	END
	for rev in first HEAD HEAD:./ :0:inlined.cc 'HEAD@{0}' '@{u}' ':/second'; do
		"$PERFKIT" source -q --no-local --symfs "$dir/symfs" --git "repo@$rev" power "$dir/perf.data" >said 2>&1
		[ "$rev" != first ] || grep -q '38 .*r = r \* base' said || bad "no text of the commit: $(cat said)"
	done
	"$PERFKIT" html -q --no-local --symfs "$dir/symfs" --git repo@HEAD "$dir/perf.data" -o git.html >said 2>&1 || bad "html --git: $(cat said)"
	[ ! -e ran ] || bad "the config of a repository was run"
	# a pipe in the place of a file is no reason to wait for ever, and no answer without that text
	cp -r repo piped
	for object in piped/.git/objects/??/*; do rm -f "$object" && mkfifo "$object"; done
	timeout 100 "$PERFKIT" source -q --no-local --symfs "$dir/symfs" --git piped@first power "$dir/perf.data" >said 2>&1
	[ $? = 1 ] && grep -q 'piped@first: no answer from git within 30 seconds' said || bad "pipes in a repository: $(cat said)"
else
	echo "left out: git"
fi

if command -v strace >/dev/null && strace -f true 2>/dev/null; then
	nothing='^$'
	if [ -d repo ]; then
		for rev in HEAD :0:inlined.cc; do
			children '^"/.*/git"$' source --no-local --symfs "$dir/symfs" --git "repo@$rev" power "$dir/perf.data"
			grep -q '/git"$' started || bad "git is not seen: $(cat said)"
			sed 1d trace | grep 'execve("' | grep -q SECRET_OF_MINE && bad "git has perfkit's environment"
		done
	fi
	for verb in collapse report doctor "svg -o a.svg" "pack -q -o a.tar.zst" "export --to pprof -o a.pb.gz"; do
		# shellcheck disable=SC2086
		children "$nothing" $verb --no-local demo.data
	done
	children "$nothing" import -q -f -o a.db demo.data
	children "$nothing" html -o a.html demo.data
	children "$nothing" symbols --to parquet -o a "$SRC/testdata/lbr/symfs/srv/perfkit/calls"
	children "$nothing" unpack -q --force a.tar.zst -C a
	children '^"/.*/(duckdb|python3)"$' fleet hosts tables
	sed 1d trace | grep 'execve("' | grep -q SECRET_OF_MINE && bad "an engine has perfkit's environment"
	(cd tables && children '^"/.*/(duckdb|python3)"$' fleet hosts .; exit $fails) || fails=$((fails + 1))
	children '^"/.*/(perf[^/]*|true)"$' record cpu -o c.data -- true
	perfs=$(grep -c '/perf' started)
	! command -v perf >/dev/null || [ "$perfs" -gt 0 ] || bad "perf is not seen: $(cat said)"
else
	echo "left out: strace"
fi

# A stranger's folder of a recording, with links to what the packer may read.
mkdir threads && cp "$SRC"/testdata/threads-dir/perf.data/* threads/ 2>/dev/null || cp -r "$SRC/testdata/threads-dir/perf.data/." threads/
echo SECRET >secret && ln -s "$PWD/secret" threads/extra && echo SECRET >threads/more
pack threads -o t.tar.zst >/dev/null || bad "threads: $(cat err)"
grep -q 'threads/extra: no part of a recording' err || bad "left out in silence: $(cat err)"
holds t.tar.zst && bad "a link in the recording's folder was packed"
rm threads/extra threads/more && mv threads/data.1 kept && mkfifo threads/data.1
"$PERFKIT" report threads >said 2>err && bad "a fifo as a part: $(head -2 said)"
rm threads/data.1
if [ -e threads/data.2 ]; then
	"$PERFKIT" report threads >said 2>err && bad "a missing part: $(head -2 said)"
	grep -q 'data.1: is missing' err || bad "a missing part: $(cat err)"
fi
ln -s "$PWD/kept" threads/data.1
pack threads -o t.tar.zst >/dev/null && bad "a part that is a link was packed"

# Beside the recording.
printf 'perfkit-gaps v1\nclock mono\ngap 0 1 2\nSECRET\n' >linked
for to in secret linked; do
	ln -sfn "$PWD/$to" demo.data.gaps
	pack demo.data -o g.tar.zst >/dev/null || bad "gaps: $(cat err)"
	grep -q 'left out: demo.data.gaps' err || bad "gaps: $(cat err)"
	holds g.tar.zst && bad "a link for the gaps was packed"
done
rm demo.data.gaps && cp linked demo.data.gaps
pack demo.data -o g.tar.zst >/dev/null || bad "own gaps: $(cat err)"
rm -rf out && holds g.tar.zst && bad "a line that is none of gaps was packed"
grep -q 'gap 0 1 2' out/perf.data.gaps || bad "own gaps were not packed"
rm -f demo.data.gaps

# Links in an unpacked bundle lead nowhere outside.
"$PERFKIT" pack -q --no-local --symfs "$SRC/testdata/demo/symfs" demo.data -o demo.tar.zst
"$PERFKIT" unpack -q demo.tar.zst -C demo >/dev/null 2>&1
file=$(cd demo && find symfs debug -type f | sed -n 1p)
mv "demo/$file" real && ln -s "$PWD/real" "demo/$file"
pack demo -o again.tar.zst >/dev/null || bad "again: $(cat err)"
rm -rf out && "$PERFKIT" unpack -q again.tar.zst -C out >/dev/null 2>&1
[ ! -e "out/$file" ] || bad "a bundle's link to another folder was packed"
rm "demo/$file" && cp real demo/moved && ln -s /moved "demo/$file"
pack demo -o again.tar.zst >/dev/null

# A store's temporary file cannot be made by anybody else beforehand, and has no name to guess.
if command -v strace >/dev/null && strace -f true 2>/dev/null; then
	strace -f -e trace=open,openat -o trace "$PERFKIT" import -q -f demo.data -o run.db 2>err
	grep 'run.db.tmp' trace | sed -n 1p | grep -q O_EXCL || bad "not made exclusively: $(grep run.db.tmp trace | sed -n 1p)"
fi

# What a killed import left is removed by the next one, unless somebody still writes it.
for left in 0123456789abcdef fedcba9876543210; do touch -d '-2 hours' run.db.tmp.$left; done
touch run.db.tmp.1111111111111111 run.db.tmp.other
if command -v flock >/dev/null; then
	flock run.db.tmp.fedcba9876543210 "$PERFKIT" import -q -f -o run.db demo.data 2>err || bad "import: $(cat err)"
	[ -e run.db.tmp.fedcba9876543210 ] || bad "a file that is being written was removed"
	rm -f run.db.tmp.fedcba9876543210
else
	"$PERFKIT" import -q -f -o run.db demo.data 2>err || bad "import: $(cat err)"
fi
[ ! -e run.db.tmp.0123456789abcdef ] || bad "what a killed import left stays"
[ -e run.db.tmp.1111111111111111 ] && [ -e run.db.tmp.other ] || bad "a file of another was removed"
rm -f run.db.tmp.*

# What is made of a recording is for those who may read it.
umask 022
for mode in 600 640 644; do
	cp demo.data mode.data && chmod $mode mode.data && rm -rf made && mkdir made
	"$PERFKIT" import -q -o made/run.db mode.data 2>err || bad "import: $(cat err)"
	"$PERFKIT" svg --no-local -o made/a.svg mode.data 2>err || bad "svg: $(cat err)"
	"$PERFKIT" html --no-local -o made/a.html made/run.db 2>err || bad "html: $(cat err)"
	"$PERFKIT" export -q --no-local --to pprof -o made/a.pb.gz mode.data 2>err || bad "pprof: $(cat err)"
	"$PERFKIT" export -q --no-local --to parquet -o made/tables mode.data 2>err || bad "parquet: $(cat err)"
	others=$(find made -type f ! -perm $mode)
	[ -z "$others" ] || bad "of a recording of mode $mode: $(ls -l $others)"
done

# A store that says it is another recording's does not replace that one's tables.
if command -v sqlite3 >/dev/null; then
	"$PERFKIT" import -q -f -o a.db "$SRC/testdata/sched/perf.data" 2>err
	"$PERFKIT" import -q -f -o b.db demo.data 2>err
	"$PERFKIT" export -q --to parquet -f -o tab a.db 2>err || bad "export: $(cat err)"
	"$PERFKIT" export -q --to parquet -o tab a.db 2>err || bad "the same again: $(cat err)"
	sqlite3 b.db "attach 'a.db' as a; update recordings set (host,hash,wall_ns)=(select host,hash,wall_ns from a.recordings)"
	find tab -type f -exec cksum {} + | sort >was
	"$PERFKIT" export -q --to parquet -o tab b.db 2>err && bad "another store's tables were replaced"
	grep -q 'other content; not replaced' err || bad "not said: $(cat err)"
	find tab -type f -exec cksum {} + | sort | cmp - was || bad "tables were replaced"
	"$PERFKIT" export -q --to parquet -f -o tab b.db 2>err || bad "--force: $(cat err)"
else
	echo "left out: sqlite3"
fi

# A path with a line break, which the kernel lists as it is, is no row of another's socket.
if command -v python3 >/dev/null && perf record -q -a -e sched:sched_switch -o try.data true 2>/dev/null; then
	python3 - >inode <<'END' &
import os, socket, time
other, evil = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW), socket.socket(socket.AF_UNIX)
inode = os.fstat(other.fileno()).st_ino
evil.bind("x\n0000000000000000: 00000002 00000000 00010000 0001 01 %d evil" % inode)
evil.listen()
print(inode, flush=True)
time.sleep(60)
END
	forger=$!
	while [ ! -s inode ] && kill -0 $forger; do sleep 0.2; done
	"$PERFKIT" record tail --no-lock-owner -p $forger --duration 1 -o forged.data >said 2>&1 || bad "record: $(cat said)"
	kill $forger
	grep -q "socket:\[$(cat inode)\]" forged.data.context || bad "no socket is seen: $(cat said)"
	grep "$(cat inode) evil" forged.data.context && bad "a path made a row of another's socket"
else
	echo "left out: a socket's path with a line break"
fi

# No command to paste leaves its folder, or has what ssh, or a shell at either end, would interpret.
spoilt()  # PATH of 21 characters, HOST
{
	LC_ALL=C sed "s|/srv/perfkit/pingpong|$1|g" "$SRC/testdata/sched/perf.data" >spoilt.data
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$SRC/tests python3 - "$2" <<'END' || bad "no room for $2"
import bench_fleet, struct, sys
data = bytearray(open("spoilt.data", "rb").read())
at = dict(bench_fleet.features(data))[bench_fleet.HOSTNAME]
room, = struct.unpack_from("<I", data, at)
assert len(sys.argv[1]) < room
struct.pack_into(f"{room}s", data, at + 4, sys.argv[1].encode())
open("host.data", "wb").write(data)
END
	"$PERFKIT" doctor -v --no-local host.data >said 2>&1
	"$PERFKIT" report -v --no-local -q host.data >>said 2>&1
	grep -E '(scp|ssh|mkdir) ' said
}
if command -v python3 >/dev/null; then
	spoilt /srv/perfkit/pingpong web-17.example | grep -qF 'scp -- web-17.example:/srv/perfkit/pingpong symfs/srv/perfkit/' ||
		bad "no command for an honest path: $(cat said)"
	for path in '/a/../../.ssh/au_keys' '/srv/perfkit/pingp/..' '/srv/`touch ~/x`/pong' '/srv/$(reboot)/ingpon' '/srv/perf kit/pingpon'; do
		spoilt "$path" vm | grep -E '/\.\.|`|\$\(|perf kit' && bad "$path is in a command"
	done
	for host in -oProxyCommand=x 'vm;reboot' .. 'a b' 'root@vm' "$(printf 'v\033m')"; do
		spoilt /srv/perfkit/pingpong "$host" >lines
		grep -F -e "$host" lines && bad "$host is in a command"
		grep -q 'HOST' lines || bad "no placeholder for $host: $(cat lines)"
	done
fi

# A store's commands are perf record's, and nothing a shell would run besides.
if command -v sqlite3 >/dev/null; then
	"$PERFKIT" import -q -f -o waits.db "$SRC/testdata/waits/perf.data" 2>err
	"$PERFKIT" doctor waits.db 2>err | grep -q '^all together: perf record ' || bad "no command: $(cat err)"
	for sql in "findings SET command = command || ' ; reboot' WHERE command <> ''" \
		"findings SET command = 'reboot' WHERE command <> ''" \
		"findings SET command = 'perf record \$(reboot)' WHERE command <> ''" \
		"findings SET command = 'perf record -e ''x'' \`reboot\`' WHERE command <> ''" \
		"finding_facts SET text = text || '; reboot' WHERE unit = 'option'"; do
		cp waits.db spoilt.db && sqlite3 spoilt.db "UPDATE $sql" || bad "sqlite3: $sql"
		"$PERFKIT" doctor spoilt.db >said 2>&1 && bad "$sql: status 0"
		grep 'reboot' said && bad "$sql is in a command"
		grep -q 'a damaged store' said || bad "$sql: $(cat said)"
	done
fi

# What is opened although nobody named it is a file, or it is not opened: a fifo has no end.
"$PERFKIT" import -q -f -o beside.db demo.data 2>err
for end in journal wal shm; do
	mkfifo beside.db-$end
	timeout 60 "$PERFKIT" report -q beside.db >said 2>&1
	[ $? = 1 ] && grep -q "beside.db-$end: not a regular file" said || bad "a fifo beside a store ($end): $(cat said)"
	rm beside.db-$end
done
mkfifo palette.map && echo 'a;b 1' >x.folded
timeout 60 "$PERFKIT" svg -q --cp -o x.svg x.folded >said 2>&1
[ $? = 1 ] && grep -q 'palette.map: not a regular file' said || bad "a fifo as a palette: $(cat said)"
rm palette.map

# What nobody typed as an output's name is made anew: a link of that name is replaced, not followed.
made()  # NAME VERB...: replaces a link at NAME by a file
{
	name=$1
	shift
	for to in kept.txt nothing.txt; do
		echo KEPT >kept.txt
		rm -f nothing.txt "$name" && ln -s "$PWD/$to" "$name"
		"$PERFKIT" "$@" >said 2>&1 || bad "$*: $(cat said)"
		[ "$(cat kept.txt)" = KEPT ] && [ ! -e nothing.txt ] || bad "$* writes through a link at $name"
		[ ! -L "$name" ] && [ -s "$name" ] || bad "$* does not replace the link at $name: $(cat said)"
	done
}
rm -rf own && mkdir own && cp demo.data own/perf.data && echo 'a;b 1' >own/x.folded && cd own
made perf.data.tar.zst pack -q --no-local perf.data
made palette.map svg --cp -o x.svg x.folded
made jitter.gaps record jitter --gaps-only -c 0 -d 1
# of this file inode, generation and age are known, which images of machines may not have
cp "$(command -v sleep)" asleep
! perf record -q -e cpu-clock -o try.data true 2>/dev/null || made rec.data.context record cpu -o rec.data -- ./asleep 0.1
"$PERFKIT" symbols --to parquet -o tab "$SRC/testdata/lbr/symfs/srv/perfkit/calls" >said 2>&1
for f in tab/symbols/*; do made "$f" symbols -f --to parquet -o tab "$SRC/testdata/lbr/symfs/srv/perfkit/calls"; done
"$PERFKIT" export -q --no-local --to parquet -o tab perf.data 2>said
for f in tab/recordings/*/*/*; do made "$f" export -q -f --no-local --to parquet -o tab perf.data; done
"$PERFKIT" import -q perf.data -o kept.db 2>said
cp kept.db was.db && ln -s kept.db perf.db && "$PERFKIT" import -q "$SRC/testdata/sched/perf.data" 2>said
cmp -s kept.db was.db && [ ! -L perf.db ] || bad "import writes through a link: $(cat said)"
mkdir elsewhere && ln -s elsewhere perf.data.x && cp perf.data.tar.zst perf.data.x.tar.zst
"$PERFKIT" unpack -q perf.data.x.tar.zst >said 2>&1 && bad "unpack follows a link"
[ -z "$(ls elsewhere)" ] || bad "unpack writes through a link: $(ls elsewhere)"
"$PERFKIT" unpack -q perf.data.x.tar.zst -C perf.data.x >said 2>&1 || bad "unpack -C to a link: $(cat said)"
# but one that was typed is followed
ln -s typed.zst typed && "$PERFKIT" pack -q --no-local -o typed perf.data 2>said
[ -L typed ] && [ -s typed.zst ] || bad "-o does not follow a link: $(cat said)"
cd ..
[ $fails = 0 ]
