#!/bin/sh -e
# Makes this folder's recording again: three builds of a plugin, one after the other at one path.
# perf takes the build-id of that path when it ends; the context, by perfkit record, says whose
# it is. Run it here, as root, with perfkit in PERFKIT.
d=/tmp/same-path
mkdir -p "$d"
cc="gcc -O1 -g0 -fno-omit-frame-pointer -fcf-protection=none -s"
pic="gcc -O1 -g0 -fno-omit-frame-pointer -fcf-protection=none -shared -fPIC"
$cc -rdynamic host.c -o "$d/host" -ldl
$pic -DLEAF=first_build plugin.c -o "$d/1.so"
$pic -DLEAF=second_build '-DPAD="1"' plugin.c -o "$d/2.so"
$pic -DLEAF=third_build '-DPAD="2"' plugin.c -o "$d/3.so"
"$PERFKIT" record cpu --stacks fp -F 97 -o reload.data -- "$d/host" "$d/plugin.so" 0.3 "$d/1.so" "$d/2.so" "$d/3.so"
mkdir -p "symfs$d"
cp "$d/3.so" "symfs$d/plugin.so"
cp "$d/host" "symfs$d/host"
rm -r "$d"
