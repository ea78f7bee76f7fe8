#!/bin/sh
# release.sh OUT - what is handed out, into OUT: perfkit-ARCH (static, stripped), its documents,
# LIBRARIES (what was linked in, with versions) and SHA256SUMS.
# release.sh check - two releases of copies of these sources in folders of different names, compared
# byte for byte.
#
# The bytes depend on the sources, the compiler and the libraries alone: no path (-ffile-prefix-map),
# no time (SOURCE_DATE_EPOCH, here the last commit's), no build-id, no order of a folder.
set -eu
MAKE=${MAKE:-make} CC=${CC:-cc}

sources()  # what a clone has, or what lies here where this is none
{
	git ls-files 2>/dev/null | grep . || find . -type f ! -path './build*' ! -path './.git*'
}

# The archives that the linker took, with the package and version where dpkg knows them.
libraries()  # linker's trace
{
	echo "compiler: $($CC --version | head -1)"
	echo "libc: $(getconf GNU_LIBC_VERSION 2>/dev/null || echo unknown)"
	grep -o '/[^ ()]*\.a' "$1" | grep -v "^$PWD/" | sort -u | while read -r archive; do
		real=$(readlink -f "$archive")
		package=$(dpkg -S "$archive" "$real" 2>/dev/null | head -1 | cut -d: -f1)
		version=$([ -z "$package" ] || dpkg-query -W -f '${Version}' "$package" 2>/dev/null | head -c 60)
		echo "${archive##*/}: ${package:-package unknown} ${version:-} sha256 $(sha256sum <"$real" | cut -c1-64)"
	done
}

release()  # OUT
{
	mkdir -p "$1"
	out=$(cd "$1" && pwd)
	here=$(pwd)
	arch=$(uname -m)
	: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || echo 0)}"
	export SOURCE_DATE_EPOCH LC_ALL=C
	rm -rf "$out/build" && mkdir "$out/build"
	$MAKE -s O="$out/build" CC="$CC" CFLAGS="-ffile-prefix-map=$here=. -ffile-prefix-map=$out/build=build" \
		LDFLAGS='-Wl,--build-id=none -Wl,--trace' static >"$out/build/trace" 2>"$out/build/warnings" ||
		{ tail -5 "$out/build/warnings" >&2; exit 1; }
	cp "$out/build/perfkit-static" "$out/perfkit-$arch"
	cp README.md LICENSE "$out/"
	libraries "$out/build/trace" >"$out/LIBRARIES"
	rm -rf "$out/build"
	(cd "$out" && sha256sum "perfkit-$arch" LIBRARIES LICENSE README.md >SHA256SUMS)
	(cd "$out" && cat SHA256SUMS)
}

check()
{
	two=$(mktemp -d)
	trap 'rm -rf "$two"' EXIT
	sources >"$two/list"
	SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
	export SOURCE_DATE_EPOCH
	for place in a another/and-deeper; do
		mkdir -p "$two/$place"
		tar cf - -T "$two/list" | tar xf - -C "$two/$place"
		(cd "$two/$place" && ./configure CC="$CC" >/dev/null && $MAKE -s release O=build) >"$two/sums-${place%%/*}"
	done
	cmp "$two/sums-a" "$two/sums-another" || { diff "$two/sums-a" "$two/sums-another"; exit 1; }
	cat "$two/sums-a"
	echo "two builds in different folders: the same bytes"
}

case $1 in
check) check ;;
*) release "$1" ;;
esac
