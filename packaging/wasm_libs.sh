#!/bin/sh
# wasm_libs.sh DIR [PART...] - the libraries perfkit needs, compiled by emcc into DIR/lib and DIR/include:
# Debian's sources of the versions in wasm_libs.txt. Nothing of this machine changes, and root is
# not needed: apt-get is given lists and a cache of its own.
set -eu
list=$(cd "$(dirname "$0")" && pwd)/wasm_libs.txt
for tool in apt-get dpkg-source emcc emar tclsh cc; do
	command -v $tool >/dev/null || {
		echo "wasm_libs: no $tool (Debian: apt, dpkg-dev, emscripten, tcl, gcc)" >&2
		exit 1
	}
done
mkdir -p "$1/apt/lists/partial" "$1/apt/archives/partial" "$1/src" "$1/lib" "$1/include"
dir=$(cd "$1" && pwd)
rows=$(grep -v '^#' "$list")

apt()
{
	apt-get -qq -o Dir::Etc::sourcelist="$dir/apt/sources" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists="$dir/apt/lists" -o Dir::Cache="$dir/apt" -o APT::Sandbox::User= \
		-o Debug::NoLocking=1 -o Acquire::Languages=none "$@"
}

# Of some packages a mirror has no longer all parts: the upstream archive alone will do then, and
# what was taken is written down.
fetch()
{
	mirror=${DEBIAN_MIRROR:-http://deb.debian.org}
	for release in $(echo "$rows" | cut -d' ' -f3 | sort -u); do
		echo "deb-src $mirror/debian $release main"
		echo "deb-src $mirror/debian-security $release-security main"
	done >"$dir/apt/sources"
	apt update
	echo "$rows" | while read -r name version _ sum _; do
		(cd "$dir/src" && apt source --download-only "$name=$version" >>"$dir/log" 2>&1) || :
		upstream=$(cd "$dir/src" && sha256sum ./*.orig.tar.* | sed -n "s/^$sum  //p")
		[ -n "$upstream" ] || {
			tail -3 "$dir/log" >&2
			echo "wasm_libs: $name $version cannot be fetched" >&2
			exit 1
		}
		rm -rf "$dir/src/$name"
		dpkg-source --no-check -x "$dir/src/${name}_${version#*:}.dsc" "$dir/src/$name" >>"$dir/log" 2>&1 || {
			rm -rf "$dir/src/$name"
			mkdir "$dir/src/$name"
			tar xf "$dir/src/$upstream" -C "$dir/src/$name" --strip-components=1
			version="$version (upstream's archive alone)"
		}
		echo "$name $version"
	done >"$dir/fetched"
}

# library NAME 'FLAGS' FILES... - of files in the current folder
library()
{
	name=$1 FLAGS=$2
	export FLAGS
	shift 2
	rm -rf "$dir/obj/$name" "$dir/lib/lib$name.a"
	mkdir -p "$dir/obj/$name"
	for f; do
		echo "$f $dir/obj/$name/$(echo "$f" | tr / _).o"
	done | xargs -P "$(nproc)" -L 1 sh -c 'emcc -O2 -c -w $FLAGS -o "$2" "$1"' compile || exit 1
	emar qcs "$dir/lib/lib$name.a" "$dir/obj/$name"/*.o
}

headers()  # FILES... [into=FOLDER]
{
	into=$dir/include
	for f; do
		case $f in
		into=*) into=$dir/include/${f#into=}; mkdir -p "$into" ;;
		*) cp -r "$f" "$into/" ;;
		esac
	done
}

compressors()
{
	cd "$dir/src/zlib"
	library z -DZ_HAVE_UNISTD_H adler32.c compress.c crc32.c deflate.c infback.c inffast.c inflate.c inftrees.c \
		trees.c zutil.c
	headers zlib.h zconf.h
	cd "$dir/src/libdeflate"
	library deflate -I. lib/utils.c lib/adler32.c lib/crc32.c lib/deflate_decompress.c lib/zlib_decompress.c
	headers libdeflate.h
	cd "$dir/src/libzstd"
	library zstd '-Ilib -Ilib/common -DZSTD_DISABLE_ASM -DXXH_NAMESPACE=ZSTD_' \
		lib/common/*.c lib/compress/*.c lib/decompress/*.c
	headers lib/zstd.h lib/zstd_errors.h lib/zdict.h
	cd "$dir/src/bzip2"
	library bz2 -I. blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c bzlib.c
	headers bzlib.h
	cd "$dir/src/xz-utils/src/liblzma"
	filters='LZMA1 LZMA2 X86 ARM ARMTHUMB ARM64 POWERPC SPARC IA64 DELTA'
	library lzma "-I../common -Iapi -Icommon -Icheck -Ilz -Ilzma -Irangecoder -Idelta -Isimple
		-DHAVE_STDINT_H -DHAVE_STDBOOL_H -DHAVE_INTTYPES_H -DHAVE_STRING_H -DHAVE_LIMITS_H
		-D_UINT64_T_DECLARED -DTUKLIB_SYMBOL_PREFIX=lzma_ -DTUKLIB_FAST_UNALIGNED_ACCESS
		-DHAVE_CHECK_CRC32 -DHAVE_CHECK_CRC64 -DHAVE_CHECK_SHA256
		$(printf ' -DHAVE_DECODER_%s' $filters)" \
		check/check.c check/crc32_fast.c check/crc32_table.c check/crc64_fast.c check/crc64_table.c \
		check/sha256.c common/block_decoder.c common/block_header_decoder.c common/block_util.c \
		common/common.c common/filter_common.c common/filter_decoder.c common/filter_flags_decoder.c \
		common/index.c common/index_hash.c common/stream_decoder.c common/stream_flags_common.c common/stream_flags_decoder.c \
		common/vli_decoder.c common/vli_size.c delta/delta_common.c delta/delta_decoder.c lz/lz_decoder.c \
		lzma/lzma2_decoder.c lzma/lzma_decoder.c simple/simple_coder.c simple/simple_decoder.c simple/[axips]*.c
	headers api/lzma.h api/lzma
}

# libelf alone of elfutils; what configure would find out is known.
elf()
{
	cd "$dir/src/elfutils"
	cat >config.h <<-'END'
		#include <endian.h>
		#include <limits.h>
		#include <stdint.h>
		#define PACKAGE_NAME "elfutils"
		#define PACKAGE_VERSION "0.188"
		#define HAVE_DECL_MEMRCHR 1
		#define HAVE_DECL_RAWMEMCHR 0
		#define HAVE_DECL_POWEROF2 0
		#define HAVE_DECL_MEMPCPY 1
		#define HAVE_DECL_REALLOCARRAY 1
		#define HAVE_ERR_H 1
		#define _GNU_SOURCE 1
		#include <eu-config.h>
	END
	library elf '-DHAVE_CONFIG_H -I. -Ilib -Ilibelf' $(ls libelf/*.c | grep -vE 'libelf/(elf_compress)')
	headers libelf/libelf.h libelf/gelf.h libelf/elf.h libdw/dwarf.h
	mkdir -p "$dir/include/elfutils"
	sed 's/@eu_version@/188/' config/version.h.in >"$dir/include/elfutils/version.h"
}

names_and_events()
{
	cd "$dir/src/libiberty/libiberty"
	library iberty '-I../include -DHAVE_STDLIB_H -DHAVE_STRING_H -DHAVE_LIMITS_H' cp-demangle.c d-demangle.c \
		rust-demangle.c cplus-dem.c safe-ctype.c xmalloc.c xexit.c xstrdup.c
	headers into=libiberty ../include/demangle.h ../include/libiberty.h ../include/ansidecl.h
	cd "$dir/src/libtraceevent"
	# the kernel's header, of which this machine has none for WebAssembly
	printf '#include <stdint.h>\n' >include/linux/types.h
	for n in 8 16 32 64; do
		printf 'typedef uint%d_t __u%d;\ntypedef int%d_t __s%d;\n' $n $n $n $n
	done >>include/linux/types.h
	library traceevent '-D_GNU_SOURCE -Iinclude/traceevent -Iinclude -Isrc' src/*.c
	headers into=traceevent include/traceevent/*.h
	cd "$dir/src/xxhash"
	library xxhash -I. xxhash.c
	headers xxhash.h xxh3.h
}

# The amalgamation is made by sqlite's own tools, for which it asks configure of this machine.
sqlite()
{
	mkdir -p "$dir/src/sqlite3/made"
	cd "$dir/src/sqlite3/made"
	[ -f sqlite3.c ] || {
		../configure --disable-tcl --disable-shared --disable-readline
		make -s sqlite3.c sqlite3.h
	} >>"$dir/log" 2>&1
	library sqlite3 '-Os -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_DEFAULT_MEMSTATUS=0' sqlite3.c
	headers sqlite3.h
}

: >"$dir/log"
shift
[ $# -gt 0 ] || fetch
for part in ${*:-compressors elf names_and_events sqlite}; do
	($part) 2>>"$dir/log" || {
		grep -v '^emcc: error' "$dir/log" | tail -5 >&2
		echo "wasm_libs: $part cannot be compiled; see $dir/log" >&2
		exit 1
	}
done
: >"$dir/made"
