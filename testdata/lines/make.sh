#!/bin/sh
# make.sh - build the DWARF fixtures of this folder and what llvm-symbolizer says about them.
#
# Needs: g++ 12, clang++ 14, lld 14, dwz 0.15, binutils 2.40 with zstd, llvm 14 (Debian 12).
# Each NAME.elf has its debug sections but no symbol table, so that the witness too takes every
# name from DWARF. NAME.frames: for every third byte of .text the frames, in the layout of
# `llvm-symbolizer --inlines --no-demangle` with columns cut off, after a line with the address.
set -eu
cd "$(dirname "$0")"
src=$PWD
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
map="-ffile-prefix-map=$tmp=/src"
common="-g -fno-exceptions -fno-asynchronous-unwind-tables -fno-stack-protector"
link="-nostdlib -static -Wl,-e,entry -Wl,--build-id"
cp inline.cc inline.h other.cc "$tmp"
cd "$tmp"

frames() # NAME [file-to-ask]
{
	ask=${2:-$1.elf}
	readelf -SW "$ask" | sed -n 's/.*\] \.text *[A-Z]* *\([0-9a-f]*\) [0-9a-f]* \([0-9a-f]*\).*/\1 \2/p' |
		while read -r lo size; do
			i=0
			while [ $i -lt $((0x$size)) ]; do
				printf '0x%x\n' $((0x$lo + i))
				i=$((i + 3))
			done
		done >addrs
	while read -r a; do
		echo "$a"
		llvm-symbolizer-14 --inlines --no-demangle -e "$ask" "$a" |
			sed -e '/^$/d' -e 's/:\([0-9]*\):[0-9]*$/:\1/' -e "s|^$tmp|/src|"
		echo
	done <addrs >"$src/$1.frames"
}
strip_names() # FILE
{
	strip --strip-all -w --keep-section='.debug_*' --keep-section='.gnu_debug*' "$1"
}
plain() # NAME compiler flags...
{
	name=$1
	shift
	# shellcheck disable=SC2086
	"$@" $common $map $link inline.cc other.cc -o "$name.elf"
	strip_names "$name.elf"
	frames "$name"
	cp "$name.elf" "$src"
}
plain gcc4 g++ -O2 -gdwarf-4
plain gcc5 g++ -O2 -gdwarf-5
plain clang4 clang++ -O2 -gdwarf-4
plain clang5 clang++ -O2 -gdwarf-5
plain gcclto g++ -O3 -gdwarf-5 -flto
plain gcctypes4 g++ -O2 -gdwarf-4 -fdebug-types-section
plain gcctypes5 g++ -O2 -gdwarf-5 -fdebug-types-section
plain clangtypes4 clang++ -O2 -gdwarf-4 -fdebug-types-section
plain gcc64 g++ -O2 -gdwarf-5 -gdwarf64

# Other machines, one of them big-endian.
cross() # NAME target
{
	# shellcheck disable=SC2086
	clang++ --target=$2 -fuse-ld=lld-14 -O2 -gdwarf-5 $common $map $link inline.cc other.cc -o "$1.elf"
	llvm-objcopy-14 -w --strip-all --keep-section='.debug_*' "$1.elf"
	frames "$1"
	cp "$1.elf" "$src"
}
cross aarch64 aarch64-linux-gnu
cross ppc64 powerpc64-linux-gnu
cross i386 i386-linux-gnu

# Compressed: the same frames as gcc5.
objcopy --compress-debug-sections=zlib gcc5.elf "$src/zlib.elf"
objcopy --compress-debug-sections=zstd gcc5.elf "$src/zstd.elf"

# dwz: what both share moves to a third file. The answers are those from before.
cp gcc5.elf dwz.elf
cp gcclto.elf dwz2.elf
dwz -m alt.debug -M alt.debug dwz.elf dwz2.elf
cp dwz.elf dwz2.elf alt.debug "$src"

# Split DWARF: two of .dwo files, two of packages (GNU version 2, DWARF 5); 
# their comp_dir is gone, the files lie beside the ELF.
for v in 4 5; do
	for cc in gcc clang; do
		cxx=g++
		[ $cc = gcc ] || cxx=clang++
		n=split$cc$v
		for f in inline other; do
			# shellcheck disable=SC2086
			$cxx -O2 -gdwarf-$v -gsplit-dwarf -fdebug-prefix-map="$tmp"=/src $common -c $f.cc -o "$n-$f.o"
		done
		# shellcheck disable=SC2086
		$cxx $link "$n-inline.o" "$n-other.o" -o $n.elf
		# The witness needs comp_dir to exist: ask about a build of the same code without splitting.
		# shellcheck disable=SC2086
		$cxx -O2 -gdwarf-$v $common $map $link inline.cc other.cc -o whole.elf
		strip_names whole.elf
		frames $n whole.elf
		case $n in
		splitgcc5 | splitclang4) cp "$n-inline.dwo" "$n-other.dwo" "$src" ;;
		splitgcc4) dwp -o "$src/$n.elf.dwp" "$n-inline.dwo" "$n-other.dwo" ;;
		splitclang5) llvm-dwp-14 -o "$src/$n.elf.dwp" "$n-inline.dwo" "$n-other.dwo" ;;
		esac
		cp $n.elf "$src"
	done
done
ls -la "$src"
