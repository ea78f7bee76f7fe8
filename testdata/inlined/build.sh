#!/bin/sh
set -e
cd "$(dirname "$0")"
mkdir -p /srv/perfkit symfs/srv/perfkit
g++ -O2 -g -gz -ffile-prefix-map="$PWD"=. -Wl,--build-id \
	-o /srv/perfkit/inlined inlined.cc
cp /srv/perfkit/inlined symfs/srv/perfkit/
