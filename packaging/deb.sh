#!/bin/sh
# deb.sh BUILD VERSION - the Debian package of what `make install` installs, into BUILD.
#
# The maintainer is DEB_MAINTAINER ("Name <address>"), else DEBFULLNAME and DEBEMAIL as for dch,
# else the author of the last commit.
set -eu
O=$1 version=$2
maintainer=${DEB_MAINTAINER:-}
[ -n "$maintainer" ] || [ -z "${DEBEMAIL:-}" ] || maintainer="${DEBFULLNAME:-perfkit developers} <$DEBEMAIL>"
[ -n "$maintainer" ] || maintainer=$(git log -1 --format='%an <%ae>' 2>/dev/null) ||
	maintainer="perfkit developers <root@$(uname -n)>"
case $O in /*) ;; *) O=$PWD/$O ;; esac
root=$O/deb/root
rm -rf "$O/deb"
mkdir -p "$root/DEBIAN" "$O/deb/debian"
${MAKE:-make} -s O="$O" DESTDIR="$root" PREFIX=/usr install >/dev/null
strip --remove-section=.comment --remove-section=.note "$root/usr/bin/perfkit"

# where packages put zsh completions
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root/usr/share/zsh/site-functions/_perfkit" "$root/usr/share/zsh/vendor-completions/"
rmdir "$root/usr/share/zsh/site-functions"
gzip -9n "$root"/usr/share/man/man1/*.1

doc=$root/usr/share/doc/perfkit
rm -f "$doc/LICENSE"
{
	echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
	echo "Upstream-Name: perfkit"
	echo
	echo "Files: *"
	sed -n 's/^Copyright (c)/Copyright:/p' LICENSE
	echo "License: Expat"
	sed '1,/^Copyright/d' LICENSE | sed '/./,$!d; s/^$/./; s/^/ /'
} >"$doc/copyright"
{
	echo "perfkit ($version) unstable; urgency=medium"
	echo
	echo "  * Built from source by make deb."
	echo
	echo " -- $maintainer  $(date -u -R -d "@${SOURCE_DATE_EPOCH:-$(date -r LICENSE +%s)}")"
} | gzip -9n >"$doc/changelog.gz"

# The tutorials' binaries are data: what a recording is read with.
mkdir -p "$root/usr/share/lintian/overrides"
for tag in arch-dependent-file-in-usr-share binary-with-bad-dynamic-table unstripped-binary-or-object \
	shared-library-lacks-prerequisites 'elf-error *'; do
	echo "perfkit: $tag [usr/share/perfkit/testdata/*]"
done >"$root/usr/share/lintian/overrides/perfkit"

# The libraries it needs, as dpkg-shlibdeps finds them.
arch=$(dpkg --print-architecture)
printf 'Source: perfkit\n\nPackage: perfkit\nArchitecture: %s\n' "$arch" >"$O/deb/debian/control"
depends=$(cd "$O/deb" && dpkg-shlibdeps -O root/usr/bin/perfkit 2>/dev/null |
	sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { echo "deb: dpkg-shlibdeps (dpkg-dev) found no dependencies" >&2; exit 1; }
cat >"$root/DEBIAN/control" <<EOF
Package: perfkit
Version: $version
Architecture: $arch
Maintainer: $maintainer
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: $depends
Suggests: linux-perf, libdebuginfod1
Section: devel
Priority: optional
Description: where CPU time and waiting went, from perf recordings
 perfkit reads what perf record wrote, on any machine and without perf, and
 says where CPU time and waiting went and what happened in the worst cases:
 folded stacks, interactive flame graphs and timelines as single SVG files,
 ranked waits with their causes, and an SQLite store.
EOF
(cd "$root" && find usr -type f | sort | xargs md5sum) >"$root/DEBIAN/md5sums"
find "$root" -type d -exec chmod 755 {} +
dpkg-deb --root-owner-group --build "$root" "$O/perfkit_${version}_$arch.deb"
