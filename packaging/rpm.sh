#!/bin/sh
# rpm.sh BUILD VERSION - the RPM package of what `make install` installs, into BUILD.
set -eu
O=$1 version=$2
command -v rpmbuild >/dev/null || { echo "rpm: skipped, no rpmbuild here (Debian: rpm)"; exit 0; }
case $O in /*) ;; *) O=$PWD/$O ;; esac
rm -rf "$O/rpm"
mkdir -p "$O/rpm"
${MAKE:-make} -s O="$O" DESTDIR="$O/rpm/root" PREFIX=/usr install >/dev/null
strip "$O/rpm/root/usr/bin/perfkit"
gzip -9n "$O"/rpm/root/usr/share/man/man1/*.1
rpmbuild -bb --quiet --define "_topdir $O/rpm" --define "version_here $version" \
	--define "installed_here $O/rpm/root" packaging/perfkit.spec
find "$O/rpm/RPMS" -name '*.rpm' -exec mv {} "$O" \;
ls "$O/perfkit-$version-1".*.rpm
