#!/bin/sh
# make deb: a package that holds what make install installs, and that lintian (if here) takes.
set -u
for tool in dpkg-deb dpkg-shlibdeps; do
	command -v $tool >/dev/null || { echo "no $tool here"; exit 77; }
done
(cd "$SRC" && sh packaging/deb.sh "$O" 0.0.1) >log 2>&1 || { cat log; exit 1; }
deb=$O/perfkit_0.0.1_$(dpkg --print-architecture).deb
dpkg-deb -c "$deb" | awk '{ print $6 }' >held
bad=0
for f in bin/perfkit share/man/man1/perfkit.1.gz share/man/man1/perfkit-svg.1.gz \
	share/doc/perfkit/copyright share/doc/perfkit/changelog.gz share/doc/perfkit/README.md \
	share/zsh/vendor-completions/_perfkit share/perfkit/causes.rules \
	share/perfkit/testdata/orders/orders.tar.zst share/perfkit/testdata/demo/demo.tar.zst share/perfkit/testdata/demo/perf.data; do
	grep -qx "./usr/$f" held || { echo "the package lacks $f"; bad=1; }
done
dpkg-deb -f "$deb" Depends | grep -q 'libtraceevent1 .*libzstd1' || { echo "dependencies are wrong"; bad=1; }
if command -v lintian >/dev/null; then
	lintian --fail-on error,warning --allow-root "$deb" || bad=1
else
	echo "left out: lintian"
fi
rm -f "$deb"
exit $bad
