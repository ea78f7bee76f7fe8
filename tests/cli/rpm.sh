#!/bin/sh
# make rpm: a package that holds what make install installs.
command -v rpmbuild >/dev/null || { echo "rpmbuild is not installed"; exit 77; }
(cd "$SRC" && sh packaging/rpm.sh "$O" 0.0.1) >log 2>&1 || { cat log; exit 1; }
rpm=$(echo "$O"/perfkit-0.0.1-1.*.rpm)
rpm -qpl "$rpm" >held || exit 1
bad=0
for f in bin/perfkit share/man/man1/perfkit.1.gz share/doc/perfkit/README.md share/perfkit/causes.rules \
	share/zsh/site-functions/_perfkit; do
	grep -qx "/usr/$f" held || { echo "the package lacks $f"; bad=1; }
done
rpm -qp --requires "$rpm" | grep -q '^libtraceevent.so' || { echo "dependencies are wrong"; bad=1; }
if command -v rpm2cpio >/dev/null && command -v cpio >/dev/null; then
	mkdir root && (cd root && rpm2cpio "$rpm" | cpio -idm 2>/dev/null)
	[ "$(root/usr/bin/perfkit --version)" = "$("$PERFKIT" --version)" ] || { echo "its perfkit does not run"; bad=1; }
else
	echo "left out: cpio"
fi
rm -f "$rpm"
exit $bad
