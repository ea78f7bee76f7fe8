# perfkit source: sums equal report --by function; lines equal addr2line -i and instructions equal
# objdump's at every address of the functions shown; a store answers alike, also of a bundle; what a recording names
# outside of the roots is not read.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
dir=$SRC/testdata/inlined
set -- --no-local --symfs "$dir/symfs"

cat >check.py <<'PY'
import json, re, shutil, subprocess, sys
perfkit, src = sys.argv[1:]
data, program = f"{src}/testdata/inlined/perf.data", f"{src}/testdata/inlined/symfs/srv/perfkit/inlined"
names = ["--no-local", "--symfs", f"{src}/testdata/inlined/symfs"]

def run(*args):
    return subprocess.run([perfkit, *args], stdout=subprocess.PIPE, check=True).stdout.decode()

def source(*args):
    d = json.loads(run("source", "-q", "--json", *names, *args))
    assert d["schema"] == 1
    return d

# functions are those of report
rows = json.loads(run("report", "-q", "--json", "--by", "function", "--top", "0", *names, data))["rows"]
d = source("--rows", "0", data)
want = {(r["function"], r["module"]): (r["self_ns"], r["total_ns"], r["samples"]) for r in rows}
got = {(f["name"], f["module"]): (f["self"], f["total"], f["samples"]) for f in d["functions"]}
assert got == want and len(got) > 40, set(got.items()) ^ set(want.items())
assert sum(f["self"] for f in d["functions"]) == d["of"]["weight"]
selves = [f["self"] for f in d["functions"]]
assert selves == sorted(selves, reverse=True)

def lines(shown):
    return [l for f in shown["files"] for l in f["lines"]]

# lines and copies add up to their function
for name in {f["name"] for f in d["functions"]}:
    if "[" in name:
        continue
    s = source("--inlines", name, data)["shown"]
    for key in "self", "inlined":
        assert sum(l[key] for l in lines(s)) >= s[key], (name, key)
    assert sum(l["self"] for l in lines(s)) == s["self"] == sum(p["self"] for p in s["places"]), name
    assert all(max(l["self"], l["inlined"]) <= l["total"] <= s["total"] for l in lines(s)), name

    def below(l):
        inner = l.get("inlined_calls", [])
        assert sum(i["self"] + i["inlined"] for i in inner) == l["inlined"], (name, l)
        assert all(i["total"] <= l["total"] for i in inner)
        for i in inner:
            below(i)
    for l in lines(s):
        below(l)

# the code of main is one copy, also where it is the caller of what was inlined in it
assert sum("address" in p for p in source("main", data)["shown"]["places"]) == 1

# a file's lines: each once, whatever function has them
s = source("inlined.cc", data)["shown"]
numbers = [l["line"] for l in lines(s)]
assert numbers == sorted(set(numbers)), numbers
near = source("inlined.cc:38", data)["shown"]
assert [l["line"] for l in lines(near)] == [n for n in numbers if 28 <= n <= 48]

# instructions: objdump's boundaries, addr2line's lines
s = source("--asm", "main", data)["shown"]
if "no_instructions" in s:
    assert "without Capstone" in s["no_instructions"], s["no_instructions"]
else:
    code = s["instructions"]
    at = [int(i["address"]) for i in code]
    # but for what main inlined from elsewhere, its own weight and that of its inlined calls
    assert sum(i["self"] for i in code) == s["self"] + s["inlined"], s["self"]
    assert any(i.get("target") for i in code) and all(int(i["target"]) for i in code if "target" in i)
    if shutil.which("objdump"):
        out = subprocess.run(["objdump", "-d", "-w", "--no-show-raw-insn", program],
                             stdout=subprocess.PIPE, check=True).stdout.decode()
        theirs = [int(a, 16) for a in re.findall(r"^ +([0-9a-f]+):\t", out, re.M)]
        assert at == [a for a in theirs if at[0] <= a <= at[-1]], "boundaries"
    if shutil.which("addr2line"):
        out = subprocess.run(["addr2line", "-a", "-i", "-e", program], input="\n".join(map(hex, at)),
                             stdout=subprocess.PIPE, text=True, check=True).stdout
        outer, i = {}, None
        for line in out.splitlines():
            if line.startswith("0x"):
                i = int(line, 16)
            else:  # the last one is the function's own
                n = re.match(r"\d+", line.rsplit(":", 1)[1])
                outer[i] = int(n.group()) if n else 0
        wrong = [(i["address"], i.get("line", 0), outer[int(i["address"])]) for i in code
                 if i.get("line", 0) != outer[int(i["address"])]]
        assert not wrong, wrong
PY
python3 check.py "$PERFKIT" "$SRC"

# without a root the text stays away; with one it is there, and its lines fit into 80 columns
"$PERFKIT" source -q "$@" power "$dir/perf.data" >out
grep -q 'its text is not below' out
! grep -q 'r \* base' out || exit 1
COLUMNS=80 "$PERFKIT" source -q "$@" --source-dir "$dir" power "$dir/perf.data" >out
grep -q '38 .*r = r \* base % 1000000007;' out
[ "$(awk 'length > 110' out | wc -l)" -eq 0 ] # the file's path is a line of its own
"$PERFKIT" source -q "$@" --source-map "/=$dir" power "$dir/perf.data" | grep -q 'r = r \* base'
"$PERFKIT" source -q "$@" --source-dir "$dir" --inlines main "$dir/perf.data" | grep -q '> sorted inlined.cc:'

# without a name, a function that has a text is shown; without any text, the nearest one
"$PERFKIT" source -q "$@" --source-dir "$dir" "$dir/perf.data" >out
grep -q '^words (inlined)' out
grep -q 'next() % 800' out
"$PERFKIT" source -q "$@" "$dir/perf.data" | grep -q '^point::length'

# a commit of git: its text, not what is checked out; no name is an option or leads out of it
if command -v git >/dev/null; then
	git() { command git -c user.name=a -c user.email=a -C repo "$@"; }
	mkdir -p repo/src && cp "$dir/inlined.cc" repo
	echo hidden >repo/.secret.cc
	git init -q . && git add . && git commit -qm first && git tag first
	sed 's/r \* base/r * moved/' "$dir/inlined.cc" >repo/src/inlined.cc
	git rm -q inlined.cc && git add . && git commit -qm second
	at() { "$PERFKIT" source -q --no-local --symfs "$dir/symfs" --git "$1" power "$dir/perf.data" >out 2>err; }
	while read -r spec text; do
		at "$spec" || { cat err; exit 1; }
		grep -q "$text" out || { echo "--git $spec: no $text:"; cat out; exit 1; }
	done <<-'END'
		repo@first ^repo@first:inlined.cc (not checked
		repo@first 38 .*r = r \* base
		repo@HEAD its text is not below
		repo@HEAD:src 38 .*r = r \* moved
		repo@HEAD@{0} its text is not below
	END
	"$PERFKIT" html -q "$@" --git repo@first --functions power "$dir/perf.data" -o git.html
	"$PERFKIT" html -q "$@" --source-dir "$dir" --functions power "$dir/perf.data" -o dir.html
	[ "$(wc -c <git.html)" -gt "$(($(wc -c <dir.html) - 200))" ]
	for wrong in repo@nothing repo@--all repo@first:nothing repo repo@ nowhere@HEAD "repo@first
HEAD" "$PWD@HEAD"; do
		! at "$wrong" && grep -q -e '^perfkit: --git ' err || { echo "--git $wrong:"; cat out err; exit 1; }
	done
	mkdir fake && printf '#!/bin/sh\necho run >%s/ran\n' "$PWD" >fake/git && chmod 755 fake/git
	(PATH=fake:$PATH; at repo@first)
	[ ! -e ran ]
	(PATH=/nonexistent; at repo@first) 2>/dev/null && exit 1
	grep -q 'repo@first: git is not installed' err
	# a stranger's repository that lacks a text, and configures what fetches it: nothing is run
	cp -R repo trap
	blob=$(git rev-parse first:inlined.cc)
	rm -f "trap/.git/objects/$(echo "$blob" | cut -c1-2)/$(echo "$blob" | cut -c3-)"
	cat >>trap/.git/config <<CONFIG
[core]
	repositoryformatversion = 1
[extensions]
	partialClone = origin
[remote "origin"]
	url = $PWD/repo
	promisor = true
	uploadpack = "echo run >$PWD/ran; git-upload-pack"
[protocol "file"]
	allow = always
CONFIG
	echo "first:inlined.cc" | command git -C trap cat-file --batch >/dev/null 2>&1 || :
	[ -e ran ] || { echo "the trap does not work"; exit 1; }
	rm ran
	at trap@first
	[ ! -e ran ]
	unset -f git
fi

# a link must not lead out of the root
mkdir root secret
echo "secret text" >secret/inlined.cc
ln -s ../secret/inlined.cc root/inlined.cc
"$PERFKIT" source -q "$@" --source-dir root power "$dir/perf.data" >out
grep -q 'its text is not below' out
! grep -q 'secret text' out || exit 1
# a changed file is said to be one
cp "$dir/inlined.cc" secret/inlined.cc
"$PERFKIT" source -q "$@" --source-dir secret power "$dir/perf.data" | grep -q 'changed after the recording'

# a bundle: the same text from it alone, also where only the file's time says that it changed; what
# is outside of the roots stays out
cp "$dir/inlined.cc" secret/inlined.cc
mkdir old && cp "$dir/inlined.cc" old && touch -d 2001-01-01 old/inlined.cc
for root in old secret; do
	"$PERFKIT" pack -q "$@" --with-source $root "$dir/perf.data" -o $root.tar.zst
	"$PERFKIT" source -q --inlines main $root.tar.zst >bundle
	"$PERFKIT" source -q "$@" --inlines --source-dir $root main "$dir/perf.data" >recording
	sed 's,^[^ ]*inlined.cc ,inlined.cc ,' recording >a
	sed 's,^[^ ]*inlined.cc ,inlined.cc ,' bundle >b
	diff a b
done
"$PERFKIT" unpack -q old.tar.zst -C unpacked
[ "$(find unpacked -name '*.cc' | wc -l)" -eq 1 ]
[ ! -e unpacked/source-changed ]
"$PERFKIT" unpack -q secret.tar.zst -C changed
[ "$(find changed/source-changed -name inlined.cc | wc -l)" -eq 1 ]
"$PERFKIT" pack "$@" --with-source root "$dir/perf.data" -o none.tar.zst >out
grep -q 'no source file of a sampled line is below --with-source' out

# a store: the same lines, texts and instructions, also of a bundle's, and through another store; what
# it does not keep is said
"$PERFKIT" import -q "$@" "$dir/perf.data" -o run.db
"$PERFKIT" import -q run.db -o again.db
for asked in --asm "--asm --inlines --json"; do
	"$PERFKIT" source -q $asked "$@" --rows 0 --source-dir "$dir" main "$dir/perf.data" >recording
	for db in run.db again.db; do
		"$PERFKIT" source -q $asked --no-local --rows 0 --source-dir "$dir" main $db >store
		sed 's/ changed after.*//; s/ (not checked.*//; s/"newer"/"unchecked"/; s,"file":"[^"]*perf.data","file":"'$db'",' recording >a
		sed 's/ changed after.*//; s/ (not checked.*//; s/"newer"/"unchecked"/' store | cmp - a
	done
done
"$PERFKIT" import -q secret.tar.zst -o bundle.db
for what in power main; do
	"$PERFKIT" source -q --asm --inlines --no-local $what bundle.db >store
	"$PERFKIT" source -q --asm --inlines $what secret.tar.zst | cmp - store
done
grep -q 'changed after the recording' store
python3 - <<'PY'
import sqlite3
with sqlite3.connect("bundle.db") as db:
    db.execute("UPDATE function_code SET function = 'other'")
    db.execute("UPDATE source_texts SET text = x'00'")
PY
! "$PERFKIT" source -q --asm --no-local power bundle.db >/dev/null 2>err || exit 1
grep -q 'a damaged store: the text of' err
python3 -c 'import sqlite3; db = sqlite3.connect("bundle.db"); db.execute("DELETE FROM source_texts"); db.commit()'
"$PERFKIT" source -q --asm --no-local power bundle.db | grep -q 'a store keeps those of the hottest functions only'

# what waits, and the time in the worst episodes
orders=$SRC/testdata/orders/orders.tar.zst
"$PERFKIT" source -q --offcpu --rows 0 "$orders" | grep -q '__lll_lock_wait'
"$PERFKIT" source -q --tail --top 3 "$orders" | grep -q '^time inside the 3 worst of'
# the line that costs the worst answers: where the thread that held their lock was, whose time is that of
# the wait; in two commands, the second of which the first names, from the bundle alone
mkdir elsewhere
(cd elsewhere && "$PERFKIT" tail -q --p999 "$orders" >tail)
sed -n 's/^which lines: perfkit //p' elsewhere/tail >next
grep -qx 'source --tail --p99.9 FILE' next
(cd elsewhere && sed "s,FILE\$,$orders," ../next | xargs "$PERFKIT" >lines)
grep -q '^write_pages (orders): self 0.0 %' elsewhere/lines
grep -Eq '^ +[67][0-9]\.[0-9] %    61      pause_ns\(8700000\); /\* the disk is slow \*/$' elsewhere/lines
"$PERFKIT" source -q --tail pause_ns "$orders" | grep -q 'inlined into write_pages, orders.c:61'
"$PERFKIT" tail -q --by activation --comm front-0,front-1 --p99.5 --system "$orders" >tail
grep -q '^which lines: perfkit source --tail --p99.5 --by activation .*--comm front-0,front-1.* FILE$' tail
python3 - "$PERFKIT" "$orders" <<'PY'
import json, subprocess, sys
perfkit, orders = sys.argv[1:]
ask = lambda *args: json.loads(subprocess.run([perfkit, *args], stdout=subprocess.PIPE, check=True).stdout)
pick = ["-q", "--no-local", "--by", "activation", "--comm", "front-0,front-1", "--over", "2ms"]
episodes = ask("tail", *pick, "--json", orders)["episodes"]
d = ask("source", *pick, "--tail", "--rows", "0", "--json", orders)
assert d["of"]["weight"] == sum(e["duration_ns"] for e in episodes)
assert sum(f["self"] for f in d["functions"]) == d["of"]["weight"]
total = {f["name"]: f["total"] for f in d["functions"]}
# what the root did, by tail's own account; it slept, and then waited for a CPU
did = {"sleep": 0, "runqueue": 0}
for s in (s for e in episodes for s in e["shares"] if s["comm"] == "snapshot"):
    if s["cause"] in did:
        did[s["cause"]] += s["ns"]
assert did["sleep"] > 0.6 * d["of"]["weight"], did
assert did["sleep"] <= total["__clock_nanosleep"] <= did["sleep"] + did["runqueue"], (total, did)
PY
# a recording against itself: the same before and after
"$PERFKIT" source -q "$@" --source-dir "$dir" --against "$dir/perf.data" --json power "$dir/perf.data" >both.json
python3 - <<'PY'
import json
lines = [l for f in json.load(open("both.json"))["shown"]["files"] for l in f["lines"]]
assert lines and all(l["before"] == {k: l[k] for k in ("self", "inlined", "total")} for l in lines), lines
PY

# counters of a group: those of report --by function; their IPC, where it counts cycles and instructions
# (attributes of a copy say so)
group=$SRC/testdata/group-read
python3 - "$PERFKIT" "$group" <<'PY'
import json, struct, subprocess, sys
perfkit, group = sys.argv[1:]
names = ["-q", "--no-local", "--symfs", group + "/symfs", "--kallsyms", group + "/kallsyms"]
ask = lambda *args: subprocess.run([perfkit, *args], stdout=subprocess.PIPE, check=True).stdout.decode()
b = bytearray(open(group + "/perf.data", "rb").read())
size, attrs = struct.unpack_from("<QQ", b, 16)
for i in 0, 1:
    struct.pack_into("<I", b, attrs + i * size, 0)      # PERF_TYPE_HARDWARE
    struct.pack_into("<Q", b, attrs + i * size + 8, i)  # cycles, instructions
open("group.data", "wb").write(b)
d = json.loads(ask("source", *names, "--rows", "0", "--json", "touch_pages", "group.data"))
assert len(d["counters"]) == 2, d["counters"]
for event, whole in d["counters"].items():
    rows = json.loads(ask("report", *names, "--json", "--by", "function", "--top", "0", "--event", event, "group.data"))["rows"]
    own = {r["function"]: r["self"] for r in rows if r["self"]}
    assert sum(own.values()) == whole > 0
    f = d["functions"][0]
    assert f["counters"][event] == own["touch_pages"] > 0, (event, f, own)
    lines = [l for f in d["shown"]["files"] for l in f["lines"]]
    assert sum(l["counters"][event] for l in lines) == own["touch_pages"]
ipc = "%.2f" % (f["counters"]["page-faults"] / f["self"])
head, row = [l.split() for l in ask("source", *names, "touch_pages", "group.data").splitlines()][-2:]
assert head[:4] == ["self", "total", "IPC", "context-switches"] and row[4] == ipc, (head, row, ipc)
assert "IPC" not in ask("source", *names, "touch_pages", group + "/perf.data")
PY

# the kernel's instructions: of a vmlinux with the recorded build-id, wherever this boot had put it
kernel() { "$PERFKIT" source -q --no-local --symfs "$group/symfs" --asm "$@" exc_page_fault "$group/perf.data" >out; }
kernel --kallsyms "$group/kallsyms"
grep -q "^no instructions: it is the kernel's: name its vmlinux" out
if command -v objcopy >/dev/null && [ "$(uname -m)" = x86_64 ]; then
	cat >vmlinux.s <<'END'
		.globl _text, exc_page_fault, after
		.type exc_page_fault, @function
	_text:	nop
		.org 0x11f2ed0, 0x90
	exc_page_fault:
		.fill 4096, 1, 0x90
		.size exc_page_fault, . - exc_page_fault
	after:	ret
END
	${CC:-cc} -nostdlib -static -Wl,--build-id=0x48dc540c8b76393804ca8088dbfa7d42911a9444 \
		-Wl,-Ttext=0xffffffff80000000 -Wl,-e,_text -o vmlinux vmlinux.s
	kernel --vmlinux vmlinux
	if ! grep -q 'without Capstone' out; then
		grep -q '^instructions at 0xffffffff811f2ed0, as vmlinux has them: what the kernel patches' out
		kernel --vmlinux vmlinux --json
		python3 - <<'PY'
import json
s = json.load(open("out"))["shown"]
code = s["instructions"]
at = [int(i["address"]) for i in code]
assert at == list(range(0xffffffff811f2ed0, 0xffffffff811f2ed0 + 4096)), (hex(at[0]), len(at))
assert sum(i["self"] for i in code) == s["self"] > 0
# perf script: 262 of 300 samples of this function are at 0xffffffff821f2fa7
assert max(code, key=lambda i: i["self"])["address"] == str(0xffffffff811f2fa7)
PY
	fi
	# another build-id, another kernel
	objcopy --remove-section .note.gnu.build-id vmlinux other
	kernel --vmlinux other || :
	! grep -q '^instructions at' out || exit 1
fi

# branch records: how often a jump was taken, how many of these were mispredicted, cycles before it; with
# --comm, only of its samples
cat >branches <<'END'
500 401157 40116b>401150/30 40116b>401150/m/12 401143>40116d/7
400 40115b 40116b>401150/m/20 40102b>401170/5
100 401170 40102b>401170
END
"$O/tests/prog/lbrgen" /srv/perfkit/calls 401000 1000 1000 any <branches >branches.data
branches() { "$PERFKIT" source -q --no-local --symfs "$SRC/testdata/lbr/symfs" --asm target "$@" branches.data; }
if ! branches | grep -q 'without Capstone'; then
	branches | grep -Eq ' 3 +66.7 % +20.7 +40116b .*jne'
	branches | grep -Eq ' 1 +7.0 +401143 .*je '
	branches --json | grep -q '"taken":3,"mispredicted":2,"cycles":62,"timed":3'
	branches --time 0.000003,1 | grep -Eq ' 1 +100.0 % +20.0 +40116b '
	# between two taken jumps: twice 401150 to 40116b in 10 and 30 cycles; not what begins after it ends, where
	# records are missing, nor what leaves the function
	cat >branches <<'END'
500 401157 40116b>401150/30 40116b>401150/m/12 401143>40116d/7
400 401157 40116b>401150/10 40116b>401150/9 40102b>401140/5
300 40116f 40116f>40102f/4 401143>40116d/5
END
	"$O/tests/prog/lbrgen" /srv/perfkit/calls 401000 1000 1000 any <branches >branches.data
	branches | sed -n '/^hot paths/,$p' >out
	sed 's/^ *//; s/  */ /g' out | diff - /dev/fd/3 3<<'END' || exit 1
hot paths: what ran between two taken jumps
time times cycles instructions address lines
81.6 % 2 20.0 7 401150-40116b 13
18.4 % 1 9.0 12 401140-40116b 13
END
	branches --json | grep -q '"paths":\[{"first":"4198736","last":"4198763","times":2,"cycles":40,"timed":2},'
	# a call stack is none
	"$PERFKIT" source -q --no-local --symfs "$SRC/testdata/lbr/symfs" --asm main "$SRC/testdata/lbr/perf.data" >out
	! grep -q taken out || exit 1
fi

refused()
{
	want=$1
	shift
	rc=0
	"$PERFKIT" source "$@" >out 2>err || rc=$?
	[ $rc = "$want" ] && [ "$(wc -l <err)" -le 3 ] || { echo "source $*: status $rc"; cat err; exit 1; }
}
refused 2 --tail --offcpu "$orders"
refused 2 --inlines --against "$orders" "$orders"
refused 2 --source-map nowhere "$orders"
refused 1 nothing.data
grep -q 'nothing.data: no recording, and there is no perf.data' err
refused 1 -q "$@" no_such_function "$dir/perf.data"
grep -q 'no_such_function: no function or source file' err
