#!/bin/sh
# recipe.sh: ../waits/waits.c under `perf record --off-cpu`, which adds one sample a thread and stack with the time it
# was off a CPU, summed up in the kernel, at a time that is none (from 0xFFFFFFFF00000000 on). truth.txt is what
# the program measured around each wait.
# perf 6.1 built with BPF skeletons (Debian's has none), Linux 6.18, x86-64, two CPUs; needs root.
set -e
cd "$(dirname "$0")"
gcc -O1 -g -fno-omit-frame-pointer -pthread -o waits ../waits/waits.c
perf record --off-cpu -e cpu-clock -F 499 -g -o perf.data -- ./waits 6 >truth.txt
gzip -9n perf.data
