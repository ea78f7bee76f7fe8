#!/bin/sh
# elsewhere.sh [RELEASE...] - the README's two commands in bare roots of Debian releases, and of
# Ubuntu's where the mirror that this machine uses has them (default: bookworm trixie noble).
#
# Each root is made by debootstrap, gets a copy of the sources as committed, and is removed again.
# /proc, /sys and /dev are this machine's, so that tests may record. A release that cannot be had
# is skipped by name. With WASM=1 the page and the npm package are made and tested there, too. All
# tests run again under the sanitizers (SANITIZERS=, empty: not; asan, tsan, tsan-check).
# At the end: a line for each root and each of these, and the sum of all tests.
# Exit 0 when all of them passed, 1 when one failed, 77 when no root could be made.
set -u
SRC=$(cd "$(dirname "$0")/.." && pwd)
releases=${*:-bookworm trixie noble}
sanitizers=${SANITIZERS-asan tsan-check}
work=$(mktemp -d "${TMPDIR:-/var/tmp}/perfkit-roots.XXXXXX") || exit 1
# Nothing is mounted below it here: what is, is mounted in namespaces that have ended.
trap 'rm -rf --one-file-system "$work"' EXIT INT TERM
: >"$work/results"

cannot()
{
	echo "no root can be made: $1"
	exit 77
}

distribution_of()
{
	case $1 in
	bullseye | bookworm | trixie | forky | sid) echo debian ;;
	*) echo ubuntu ;;
	esac
}

# mirror DISTRIBUTION - the one that this machine's apt uses, else the public one
mirror()
{
	# shellcheck disable=SC2016
	used=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
		grep '^http' | sed 's,/*$,,' | sort -u)
	for d in "$1" debian; do
		echo "$used" | grep "/$d\$" | head -1 | sed "s,/$d\$,/$1,"
	done | grep . || echo "http://deb.debian.org/$1"
}

# make_root RELEASE DIR
make_root()
{
	from=$(mirror "$(distribution_of "$1")" | head -1)
	script=/usr/share/debootstrap/scripts/$1
	case $from in
	*/ubuntu) # one script for all releases; this debootstrap may be older than the release
		script=/usr/share/debootstrap/scripts/gutsy
		[ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ] ||
			apt-get install -y --no-install-recommends ubuntu-keyring >"$work/apt.log" 2>&1 ||
			{ echo "no package ubuntu-keyring, to check its signatures by"; return 1; }
		;;
	esac
	[ -e "$script" ] || { echo "debootstrap does not know it"; return 1; }
	timeout 60 /usr/lib/apt/apt-helper download-file "$from/dists/$1/Release" \
		"$work/release" >/dev/null 2>&1 || { echo "no mirror of it can be reached"; return 1; }
	mkdir "$2"
	debootstrap --variant=minbase "$1" "$2" "$from" "$script" >"$work/debootstrap.log" 2>&1 ||
		{ tail -1 "$work/debootstrap.log"; return 1; }
	echo force-unsafe-io >"$2/etc/dpkg/dpkg.cfg.d/unsafe-io"
	cp -L /etc/resolv.conf "$2/etc/resolv.conf" 2>/dev/null
	# what pip trusts here it trusts there: the mirror may be behind a certificate of this machine
	if [ -r /etc/ssl/certs/ca-certificates.crt ]; then
		mkdir -p "$2/etc/ssl"
		cp -L /etc/ssl/certs/ca-certificates.crt "$2/etc/ssl/outside.crt"
		printf '[global]\ncert = /etc/ssl/outside.crt\n' >"$2/etc/pip.conf"
	fi
	# chromedriver looks for the browser at this name
	printf '127.0.0.1\tlocalhost\n::1\tlocalhost\n' >"$2/etc/hosts"
	apt-config dump Acquire::http::Proxy >"$2/etc/apt/apt.conf.d/80proxy" 2>/dev/null
	case $from in */ubuntu) sed -i 's/ main$/ main universe/' "$2/etc/apt/sources.list" ;; esac
}

# inside DIR COMMAND - by the root's own shell, with this machine's /proc, /sys and /dev. The root
# is the root of a mount namespace, not of a process alone: tests make namespaces in it, and perf
# looks into those of others to read their build-ids.
inside()
{
	unshare -m sh -eu -c '
		mount --bind "$0" "$0"
		for d in proc sys dev; do mount --rbind /$d "$0/$d"; done
		# systemd mounts it at boot; a machine without systemd may not have it
		[ -e /sys/kernel/tracing/events ] || mount -t tracefs none "$0/sys/kernel/tracing" || :
		cd "$0"
		mkdir -p outside
		pivot_root . outside
		umount -l outside
		rmdir outside
		cd /src
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
			TERM=dumb CI="${CI:-}" sh -c "$1"' "$1" "$2" </dev/null
}

# step RELEASE DIR COMMAND - run and time it; its output goes here and to $work/log
step()
{
	echo "$1: $3"
	began=$(date +%s)
	{ inside "$2" "$3" 2>&1 && echo 0 >"$work/status" || echo $? >"$work/status"; } | tee "$work/log"
	took=$(($(date +%s) - began))
	rc=$(cat "$work/status")
	echo "$1: $3: exit $rc after $took s"
	return "$rc"
}

# result RELEASE WHAT - a line about the last step: its sum, or its status
result()
{
	sum=$(grep -e '^[0-9]* passed, [0-9]* failed, [0-9]* skipped$' -e '^tsan: [0-9]* commands' "$work/log" |
		tail -1)
	[ "$rc" = 0 ] || case $sum in *failed*) ;; *) sum= ;; esac
	echo "$1: $2 $took s: ${sum:-exit $rc}" >>"$work/results"
}

# Where the tools cannot be had, it is left out by name; what does not compile fails.
try_wasm()  # RELEASE
{
	if step "$1" "$root" './configure --install-deps=wasm && make wasm-libs'; then
		step "$1" "$root" 'make npm page && make check T=wasm' || :
		result "$1" "page and npm package"
	else
		echo "$1: page and npm package left out: no tools or sources for them" >>"$work/results"
	fi
}

try()  # RELEASE
{
	root=$work/$1
	began=$(date +%s)
	why=$(make_root "$1" "$root") || { echo "$1: skipped: $why" | tee -a "$work/results"; return; }
	made=$(($(date +%s) - began))
	mkdir "$root/src"
	copy_sources "$root/src"
	if step "$1" "$root" './configure --install-deps && make demo'; then
		demo=$took
		step "$1" "$root" './configure --install-deps=check && make check' || :
		result "$1" "root $made s, demo $demo s, check"
		[ -z "${WASM:-}" ] || try_wasm "$1"
		for again in $sanitizers; do
			step "$1" "$root" "make $again" || :
			result "$1" "$again"
		done
	else
		echo "$1: root $made s, demo FAILED after $took s" >>"$work/results"
	fi
	rm -rf --one-file-system "$root"
}

copy_sources()
{
	git -c safe.directory="$SRC" -C "$SRC" archive HEAD | tar -x -C "$1" && return
	cp -r "$SRC/." "$1" && rm -rf "$1/build" "$1/config.mk"
}

[ "$(id -u)" = 0 ] || cannot "not root"
command -v apt-get >/dev/null || cannot "no apt-get here"
command -v debootstrap >/dev/null || {
	apt-get update && apt-get install -y --no-install-recommends debootstrap
} >"$work/apt.log" 2>&1 || cannot "debootstrap cannot be installed"
unshare -m true 2>"$work/err" || cannot "$(cat "$work/err")"

for release in $releases; do
	try "$release"
done

echo
cat "$work/results"
awk '/ passed, / { sub(/.*: /, ""); p += $1; f += $3; s += $5; n++ }
/FAILED|: exit / { f++; n++ }
END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit n ? f > 0 : 77 }' "$work/results"
