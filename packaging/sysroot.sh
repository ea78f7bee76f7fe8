#!/bin/sh
# sysroot.sh ARCH DIR - the static libraries and headers perfkit needs, for another Debian
# architecture (arm64, i386, s390x ...), into DIR. Nothing of this machine changes, and root is
# not needed: apt-get is given lists and a cache of its own.
set -eu
arch=$1 dir=$2
packages='libdw-dev libelf-dev libtraceevent-dev libzstd-dev zlib1g-dev libsqlite3-dev
	libxxhash-dev libiberty-dev liblzma-dev libbz2-dev libcmocka-dev libcmocka0'
command -v apt-get >/dev/null || { echo "sysroot: no apt-get here" >&2; exit 1; }
mkdir -p "$dir/apt/lists/partial" "$dir/apt/archives/partial" "$dir/debs"
dir=$(cd "$dir" && pwd)
: >"$dir/apt/status"
apt()
{
	apt-get -qq -o APT::Architecture="$arch" -o APT::Architectures="$arch" \
		-o Dir::State::status="$dir/apt/status" -o Dir::State::lists="$dir/apt/lists" \
		-o Dir::Cache="$dir/apt" -o APT::Sandbox::User= -o Debug::NoLocking=1 \
		-o Acquire::Languages=none "$@"
}
apt update 2>"$dir/apt/log" || : # a source without this architecture; the download decides
# shellcheck disable=SC2086
(cd "$dir/debs" && apt download $packages)
for deb in "$dir"/debs/*.deb; do
	dpkg-deb -x "$deb" "$dir"
done
rm -rf "$dir/apt" "$dir/debs"
: >"$dir/made"
