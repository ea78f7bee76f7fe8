# Processes choose the paths that `perfkit pack` reads as root: nothing gets into
# the bundle that they could not have read themselves.
# live: records now, on this machine, and sets fs.protected_symlinks meanwhile
perf=$(command -v perf) || { echo "perf is not installed"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "not root"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "its workload is for x86-64"; exit 77; }
command -v setpriv >/dev/null || { echo "setpriv is not installed"; exit 77; }
mallory=54321 alice=54322
fails=0
bad() { echo "$@"; fails=$((fails + 1)); }
top=$(mktemp -d /tmp/perfkit-attack.XXXXXX) || exit 1
links=$(cat /proc/sys/fs/protected_symlinks) hard=$(cat /proc/sys/fs/protected_hardlinks)
swapper= inmate=
end()
{
	for pid in $swapper $inmate; do kill "$pid" 2>/dev/null; done
	echo "$links" >/proc/sys/fs/protected_symlinks
	echo "$hard" >/proc/sys/fs/protected_hardlinks
	if [ -n "${own_map:-}" ]; then rm -f "$own_map"; fi
	rm -rf "$top"
}
trap end EXIT
trap 'exit 1' HUP INT TERM
echo "$links" >/proc/sys/fs/protected_symlinks 2>/dev/null || { echo "sysctls cannot be set"; exit 77; }
chmod 755 "$top"
HOME=$PWD/home
export HOME
mkdir "$HOME"

# What nobody but root may read, in the form that each reader expects.
secret=SECRET$$OF_ROOT
mkdir "$top/root" "$top/mallory" "$top/alice"
{ echo "root:\$6\$$secret"; } >"$top/root/shadow"
echo "1000 1000 $secret" >"$top/root/map"
# a jitdump with one piece of code, which has the secret as its name
python3 - "$secret" >"$top/root/dump" <<'END' || { echo "no python3 here"; exit 77; }
import struct, sys
name = sys.argv[1].encode() + b"\0"
body = struct.pack("<IIQQQQ", 1, 1, 4096, 4096, 16, 0) + name + b"\xc3" * 16
sys.stdout.buffer.write(struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 1, 0, 0) +
	struct.pack("<IIQ", 0, 16 + len(body), 1) + body)
END
echo "const char secret[] = \"$secret\"; int main(void) { return secret[0]; }" >secret.c
${CC:-gcc} -g -Wl,--build-id=sha1 secret.c -o "$top/root/program" || exit 1
chmod 600 "$top"/root/* && chmod 700 "$top/root/program"
chown $mallory "$top/mallory" && chown $alice "$top/alice"
chmod 711 "$top/mallory" && chmod 700 "$top/alice"

build() { ${CC:-gcc} -O1 -g -DPLANTED="\"$top/mallory\"" "$SRC/tests/workload/planter.c" -o "$1" && chmod 755 "$1"; }
build "$top/planter" || exit 1
as() { uid=$1 && shift && setpriv --reuid "$uid" --regid "$uid" --clear-groups "$@"; }
record()  # data uid dir how
{
	"$perf" record -q -e cpu-clock -F 999 -g -o "$1" setpriv --reuid "$2" --regid "$2" --clear-groups \
		"$top/planter" "$3" 1 "$4" "$top/root/$5" "$top/root/$6" "$top/root/$7" >said 2>err
}
pack()  # data bundle options
{
	data=$1 to=$2
	shift 2
	"$PERFKIT" pack --top 0 "$data" -o "$to.tar.zst" "$@" >said.pack 2>told || bad "$to: pack: $(tail -1 told)"
	tr -s '\n ' ' ' <said.pack >>told
	rm -rf "$to"
	mkdir "$to" && zstd -qdc "$to.tar.zst" | tar xf - -C "$to" || bad "$to: not a bundle"
}
holds_no_secret()  # bundle what
{
	rm -f "$1/perf.data"
	found=$(grep -rlF "$secret" "$1") && bad "$2: root's secret is in the bundle: $found"
	found=$(find "$1" ! -type f ! -type d) && [ -n "$found" ] && bad "$2: neither file nor folder: $found"
}

# An honest user's files, which only he may read, are there, while his process tells whose its map is.
setpriv --reuid $alice --regid $alice --clear-groups "$top/planter" "$top/alice" 60 honest x x x >said &
inmate=$!
for i in 1 2 3 4 5 6 7 8 9 10; do [ -s said ] && break; sleep 0.2; done
"$perf" record -q -e cpu-clock -F 999 -g -o alice.data -p $inmate -- sleep 1 2>err ||
	{ cat err; echo "perf may not record here"; exit 77; }
own_map=$(sed -n '/^.tmp.perf-/p' said)
pack alice.data alice
[ -f "alice/symfs$top/alice/jit-1.dump" ] || bad "alice's jitdump was not packed: $(cat told)"
grep -q own_code "alice/symfs$own_map" || bad "alice's perf map was not packed: $(cat told)"
# mallory's map for her process
cp "$own_map" map && rm -f "$own_map" && as $mallory sh -c "umask 0; cat >$own_map" <map
pack alice.data alice
[ ! -e "alice/symfs$own_map" ] && grep -q "belongs to user $mallory, the process to another" told ||
	bad "another user's perf map was packed: $(cat told)"
rm -f "$own_map" && as $alice sh -c "umask 077; cat >$own_map" <map
kill $inmate
wait $inmate 2>/dev/null
inmate=
pack alice.data alice
[ -f "alice/symfs$top/alice/jit-1.dump" ] || bad "an ended process's jitdump was not packed: $(cat told)"
[ ! -e "alice/symfs$own_map" ] && grep -q 'which would tell whose it must be, has ended' told ||
	bad "an ended process's perf map: $(cat told)"
pack alice.data alice --trust-paths
grep -q own_code "alice/symfs$own_map" || bad "--trust-paths: $(cat told)"
# root's own, if it is nothing but a map
for line in 'password: none' ''; do
	rm -f "$own_map" && (umask 077; cat map >"$own_map"; [ -z "$line" ] || echo "$line" >>"$own_map")
	pack alice.data alice
	grep -qs own_code "alice/symfs$own_map" && had=yes || had=no
	[ $had:"$line" = yes: ] || [ $had = no -a -n "$line" ] || bad "root's own map ($line) $had: $(cat told)"
done
rm -f "$own_map"

# perf's cache has copies that everybody may read of programs that not everybody could.
cat >spin.c <<END
#include <time.h>
const char secret[] = "$secret";
int main(void)
{
	while (clock() < CLOCKS_PER_SEC / 2)
		for (int i = 0; i < 1000000; i++)
			__asm__ volatile("" : : "r"(secret));
}
END
${CC:-gcc} -O1 -g -Wl,--build-id=sha1 spin.c -o spin || exit 1
sed 's/SECRET/PUBLIC/' spin.c >public.c && ${CC:-gcc} -O1 -g -Wl,--build-id=sha1 public.c -o public || exit 1
mkdir "$top/bin" && chmod 755 "$top/bin"
for how in run-only replaced moved forged; do
	for ids in '' --buildid-mmap; do
		rm -rf "$HOME/.debug" "$top/bin/spin" && cp spin "$top/bin/spin" && chmod 711 "$top/bin/spin"
		# shellcheck disable=SC2086
		"$perf" record -q $ids -e cpu-clock -F 999 -g -o spin.data setpriv --reuid $mallory --regid $mallory \
			--clear-groups "$top/bin/spin" 2>err || continue
		# not every perf fills it with --buildid-mmap
		"$perf" buildid-cache -a "$top/bin/spin" 2>err
		grep -rqF "$secret" "$HOME/.debug" || bad "$how $ids: perf has no copy"
		case $how in
		replaced) rm "$top/bin/spin" && cp public "$top/bin/spin" && chmod 755 "$top/bin/spin" ;;
		moved) rm "$top/bin/spin" ;;
		forged) # another program of the same id, for everybody
			id=$(readelf -n spin | sed -n 's/.*Build ID: //p')
			rm "$top/bin/spin"
			${CC:-gcc} -O1 -g -Wl,--build-id=0x"$id" public.c -o "$top/bin/spin" && chmod 755 "$top/bin/spin" ;;
		esac
		pack spin.data spin.bundle
		holds_no_secret spin.bundle "perf's cached copy ($how $ids)"
		[ $how = forged ] || grep -q "$top/bin/spin: unreadable .*--trust-paths" told ||
			bad "perf's cached copy ($how $ids): $(cat told)"
		[ $how != moved ] && continue
		pack spin.data spin.bundle --trust-paths
		grep -rqF "$secret" spin.bundle || bad "perf's cached copy is not packed with --trust-paths: $(cat told)"
		pack spin.data spin.bundle --buildid-dir "$HOME/.debug"
		grep -rqF "$secret" spin.bundle || bad "perf's cached copy is not packed with --buildid-dir: $(cat told)"
	done
done
rm -rf "$HOME/.debug"

# Links in the place of all that was mapped, of the perf map, and where the binary's strings lead.
secrets='shadow shadow shadow'
for kind in shadow match; do
	for protected in 0 1; do
		echo $protected >/proc/sys/fs/protected_symlinks
		echo $protected >/proc/sys/fs/protected_hardlinks
		[ $kind = shadow ] || secrets='map dump program'
		for name in dwz x.debug y.dwo; do
			as $mallory ln -sfn "$top/root/${secrets##* }" "$top/mallory/$name"
		done
		# shellcheck disable=SC2086
		record mallory.data $mallory "$top/mallory" links $secrets
		own_map=$(sed -n '/^.tmp.perf-/p' said)
		[ -L "$own_map" ] || bad "no link was planted: $(cat said err)"
		pack mallory.data bundle
		holds_no_secret bundle "$kind, protected_symlinks $protected"
		rm -f "$own_map"
	done
done
echo 0 >/proc/sys/fs/protected_symlinks

# A hard link in place of the perf map.
record mallory.data $mallory "$top/mallory" honest map dump program
own_map=$(sed -n '/^.tmp.perf-/p' said)
rm -f "$own_map"
ln "$top/root/map" "$own_map" 2>/dev/null && { pack mallory.data bundle; holds_no_secret bundle "hard link"; }
rm -f "$own_map"

# Folders that are links lead to the same files.
mv "$top/mallory" "$top/moved"
mkdir "$top/decoy" && cp "$top/root/dump" "$top/decoy/jit-1.dump" && cp "$top/root/program" "$top/decoy/nobid.bin"
chmod 700 "$top/decoy" && chown -h $mallory "$top/moved"
ln -s "$top/decoy" "$top/mallory" && chown -h $mallory "$top/mallory"
pack mallory.data bundle
holds_no_secret bundle "a folder that is a link"
rm "$top/mallory" && mv "$top/moved" "$top/mallory"

# A name that means another file in the process's own mount namespace: root's program.
if as $mallory unshare -Urm true 2>/dev/null; then
	chmod 711 "$top/root"
	cat >ns.sh <<END
mount -t tmpfs none "$top/root" && cp "$top/planter" "$top/root/program" &&
	exec "$top/root/program" "$top/mallory" 1 honest x x x
END
	chmod 755 . && cp ns.sh "$top/ns.sh" && chmod 644 "$top/ns.sh"
	for ids in '' -BN; do
		"$perf" record -q $ids -e cpu-clock -F 999 -g -o ns.data setpriv --reuid $mallory --regid $mallory \
			--clear-groups unshare -Urm sh "$top/ns.sh" >said 2>err
		own_map=$(sed -n '/^.tmp.perf-/p' said)
		pack ns.data bundle
		holds_no_secret bundle "a mount namespace ($ids)"
		rm -f "$own_map"
	done
	chmod 700 "$top/root"
else
	echo "left out: user namespaces"
fi

# A container's perf map: an absolute link in it leads into the container, not into this machine, also
# when its user is root.
ldd "$top/planter" | sed -n 's/.*[ 	]\(\/[^ ]*\) (.*/\1/p' >libs
for who in $mallory 0; do
	rm -rf "$top/jail" && mkdir -p "$top/jail/tmp" "$top/jail/own" && cp "$top/planter" "$top/jail/planter"
	chmod 1777 "$top/jail/tmp" && chown $who "$top/jail/own"
	while read -r lib; do
		mkdir -p "$top/jail${lib%/*}" && cp -L "$lib" "$top/jail$lib"
	done <libs
	unshare -mpf --kill-child chroot --userspec=$who:$who "$top/jail" /planter /own 60 honest x x x >/dev/null 2>&1 &
	inmate=$!
	for i in 1 2 3 4 5 6 7 8 9 10; do
		inside=$(pgrep -P $inmate) && grep -q ^/planter "/proc/$inside/cmdline" && break
		inside=
		sleep 0.3
	done
	[ -z "$inside" ] || "$perf" record -q -e cpu-clock -F 499 -g -o jail.data -p "$inside" -- sleep 2 2>/dev/null
	if [ -n "$inside" ]; then
		rm -f "/tmp/perf-$inside.map"
		pack jail.data bundle
		grep -q own_code "bundle/symfs/tmp/perf-$inside.map" || bad "the container's perf map was not packed: $(grep map told)"
		# the process's own code, as a file of this machine that only root may read names it
		sed "s/own_code/$secret/" "$top/jail/tmp/perf-1.map" >"$top/root/map"
		for step in file folder; do
			if [ $step = file ]; then
				mv "$top/jail/tmp/perf-1.map" "$top/jail/own/map" && ln -s "$top/root/map" "$top/jail/tmp/perf-1.map"
			else
				rm -rf "$top/jail/tmp" && cp "$top/root/map" "$top/root/perf-1.map" && ln -s "$top/root" "$top/jail/tmp"
			fi
			pack jail.data bundle
			holds_no_secret bundle "a container's $step that is a link ($who)"
		done
		rm "$top/jail/tmp" && mkdir "$top/jail/tmp" && ln -s /own/map "$top/jail/tmp/perf-1.map"
		pack jail.data bundle
		grep -qs own_code "bundle/symfs/tmp/perf-$inside.map" || bad "a link in the container ($who): $(grep map told)"
	fi
	kill $inmate 2>/dev/null
	inmate=
done
echo "1000 1000 $secret" >"$top/root/map"

# What was a file when it was looked at is a link when it is opened.
cat >swap.c <<'END'
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **v)
{
	for (;;)
		for (int i = 1; i + 1 < argc; i += 2) {
			char t[4096];
			snprintf(t, sizeof(t), "%s.link", v[i]);
			symlink(v[i + 1], t);
			rename(v[i], "/proc/self/cwd/kept");
			rename(t, v[i]);
			rename("/proc/self/cwd/kept", v[i]);
		}
}
END
${CC:-gcc} -O1 swap.c -o "$top/swap" 2>/dev/null && chmod 755 "$top/swap"
record mallory.data $mallory "$top/mallory" honest map dump program
own_map=$(sed -n '/^.tmp.perf-/p' said)
(cd "$top/mallory" && exec setpriv --reuid $mallory --regid $mallory --clear-groups "$top/swap" \
	"$top/mallory/jit-1.dump" "$top/root/dump" "$top/mallory/nobid.bin" "$top/root/program" \
	"$top/mallory/x.debug" "$top/root/program") &
swapper=$!
for i in 1 2 3 4; do
	pack mallory.data bundle
	holds_no_secret bundle "a process that swaps them (try $i)"
done
kill $swapper 2>/dev/null
swapper=
[ $fails = 0 ]
