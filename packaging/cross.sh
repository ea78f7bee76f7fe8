#!/bin/sh
# cross.sh ARCH TARGET...|run - make TARGETs for another Debian architecture, into build/ARCH;
# or print the command in front of which its programs run here.
#
#	sh packaging/cross.sh arm64 static
#	$(sh packaging/cross.sh s390x run) build/s390x/tests/unit/base/test_base
#
# The compiler is Debian's cross gcc, the libraries are those of sysroot/ARCH (sysroot.sh), which
# is made when it is not there.
set -eu
cd "$(dirname "$0")/.."
arch=$1 flags=
shift
case $arch in
arm64) cc=aarch64-linux-gnu libs=$cc qemu=aarch64 ;;
i386) cc=i686-linux-gnu libs=i386-linux-gnu qemu=i386 flags='-msse2 -mfpmath=sse' ;; # doubles of 64 bits
armhf) cc=arm-linux-gnueabihf libs=$cc qemu=arm ;;
*) cc=$arch-linux-gnu libs=$cc qemu=$arch ;;
esac
root=${SYSROOT:-$PWD/sysroot}/$arch
if [ "$1" = run ]; then
	# An x86-64 kernel runs i386 itself, and its threads better than qemu.
	loader=/usr/$cc/lib/ld-linux.so.2
	if [ "$arch" = i386 ] && [ "$(uname -m)" = x86_64 ] && $loader --version >/dev/null 2>&1; then
		echo "$loader --library-path $root/usr/lib/$libs:/usr/$cc/lib"
		exit
	fi
	command -v qemu-$qemu >/dev/null || { echo "cross: no qemu-$qemu (Debian: qemu-user)" >&2; exit 1; }
	echo "qemu-$qemu -L /usr/$cc -E LD_LIBRARY_PATH=$root/usr/lib/$libs"
	exit
fi
command -v $cc-gcc >/dev/null || {
	echo "cross: no $cc-gcc (Debian: gcc-$(echo $cc | tr _ -), libc6-dev-$arch-cross)" >&2
	exit 1
}
[ -f "$root/made" ] || sh packaging/sysroot.sh "$arch" "$root"
PKG_CONFIG_LIBDIR=$root/usr/lib/$libs/pkgconfig
PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
# All libraries are static there, but for cmocka.
exec "${MAKE:-make}" O="${O:-build}/$arch" CC=$cc-gcc AR=$cc-ar STRIP=$cc-strip \
	DEP_CFLAGS="-I$root/usr/include -I$root/usr/include/$libs -I$root/usr/include/traceevent \
-I$root/usr/include/libiberty -DHAVE_LZMA=1 -DHAVE_BZ2=1 -DHAVE_CAPSTONE=0 -D_FILE_OFFSET_BITS=64 $flags" \
	DEP_LIBS="-L$root/usr/lib/$libs -ltraceevent -lelf -lzstd -lsqlite3 -lxxhash \
-liberty -llzma -lbz2 -lz" "$@"
