#!/bin/sh
# The addresses in samples.txt are those of this program: after another build, read them from objdump -d.
set -e
cd "$(dirname "$0")"
mkdir -p symfs/srv/perfkit
gcc -O2 -g -gz -ffile-prefix-map="$PWD"=. -no-pie -o symfs/srv/perfkit/calls calls.c
