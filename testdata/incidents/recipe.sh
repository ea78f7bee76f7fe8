#!/bin/sh
# Planted causes of slow requests, a bundle each: recorded with `perfkit record tail`, stacks of the
# program's threads only. KIND.log is what the program logged: its slow requests ("wait").
#
#	sh recipe.sh [KIND...]
#
# perf 6.1.192, Linux 6.18, x86-64, two virtual CPUs; run as root with perfkit's build on PATH. The
# programs are tests/truth/incident.c, slowdisk.c and quota.c. Of the context only what the host counted and
# its disks are kept. An attempt whose first sentence tests/cli/incidents_kept.sh does not accept is
# repeated: another program was a louder cause. perfkit recorded no list of mapped files then; which libc
# the build-id of inversion's belongs to (the program's own, inode 326269) was written into its context later.
set -e
cd "$(dirname "$0")"
here=$PWD
mkdir -p /srv/perfkit
for p in incident slowdisk quota; do
	gcc -std=gnu11 -D_GNU_SOURCE -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -pthread \
		-Wno-unused-function -Wl,--build-id -o /srv/perfkit/$p "../../tests/truth/$p.c"
	strip -g /srv/perfkit/$p
done

# keep KIND NAMES OPTIONS COMMAND...: the command writes $tmp/log
keep()
{
	kind=$1 names=$2 options=$3
	shift 3
	# shellcheck disable=SC2086
	perfkit record tail --comm "$names" --stacks fp --no-lock-owner $options -o "$tmp/x.data" -- "$@"
	# shellcheck disable=SC2046
	python3 ../bystanders.py "$tmp/x.data" -- $(echo "$names" | tr , ' ') incident slowdisk quota unshare \
		kdamond.0 perfkit
	python3 ../kallsyms.py "$tmp/x.data" >"$tmp/kallsyms"
	sed -n '/^perfkit-context/p; /^of /p; /^snapshot/p; /^fact \(cpu\|host\|node\|pressure\|disk\)	/p' \
		"$tmp/x.data.context" >"$tmp/kept"
	mv "$tmp/kept" "$tmp/x.data.context"
	perfkit pack "$tmp/x.data" --no-local --symfs "$tmp/symfs" --buildid-dir "" \
		--kallsyms "$tmp/kallsyms" -q -o "$here/$kind.tar.zst"
	sh ../squeeze.sh "$here/$kind.tar.zst"
	grep '^\(wait\|life\|cpu\|throttled\) ' "$tmp/log" >"$here/$kind.log"
}

# The C library's names of locks and the like, without its code; see ../demo/build.sh.
libc()
{
	lib=usr/lib/x86_64-linux-gnu
	mkdir -p "$tmp/symfs/$lib"
	objcopy -w -S -K 'pthread_*' -K '*lll_lock*' -K '*sem_wait*' -K 'sem_*' -K '*futex*' -K '*ork' \
		-K '*nanosleep*' -K '*clock_gettime*' -K '*wait4*' -K '*mmap*' -K '*munmap*' \
		"../demo/symfs/$lib/libc.so.6" "$tmp/symfs/$lib/libc.so.6"
	dd if="../demo/symfs/$lib/libc.so.6" of="$tmp/symfs/$lib/libc.so.6" bs=1 skip=64 seek=64 count=784 \
		conv=notrunc status=none # its program headers
}

# A file system of its own, with a journal.
on_disk()
{
	dd if=/dev/zero of="$tmp/image" bs=1M count=128 2>/dev/null
	mkfs.ext4 -q -F -O has_journal "$tmp/image"
	mkdir "$tmp/on"
	mount -o loop "$tmp/image" "$tmp/on"
}

record() # KIND
{
	incident="/srv/perfkit/incident $tmp/log $1"
	case $1 in
	thief) keep thief front,thief "" $incident ;;
	pipe) keep pipe front,reader "" $incident ;;
	idle) keep idle front,caller "--also idle" $incident ;;
	disk) keep disk front,bulk,slowdisk "--also block" /srv/perfkit/slowdisk "$tmp/log" ;;
	flood)
		keep flood front,packer,flooder "-F 997" unshare -n -m sh -c "mount -t sysfs none /sys &&
			ip link set lo up && echo 1 >/sys/class/net/lo/queues/rx-0/rps_cpus && exec $incident" ;;
	reclaim)
		group=/sys/fs/cgroup/memory/perfkit
		mkdir $group
		echo 67108864 >$group/memory.limit_in_bytes
		keep reclaim front "" sh -c "cd $tmp && echo \$\$ >$group/cgroup.procs && exec $incident"
		rmdir $group ;;
	fork) keep fork front,forker "" $incident ;;
	inversion) keep inversion front,low,mid "" $incident ;;
	quota) keep quota quota "" sh ../../tests/truth/quota.sh /srv/perfkit/quota "$tmp/log" ;;
	journal)
		on_disk
		keep journal front "" sh -c "cd $tmp/on && exec $incident"
		umount "$tmp/on" ;;
	backup)
		on_disk
		keep backup front,bulk "" sh -c "cd $tmp/on && exec $incident 10"
		umount "$tmp/on" ;;
	nagle) keep nagle front,server "" $incident 6 ;;
	dirty)
		on_disk
		bdi=/sys/class/bdi/$(findmnt -no MAJ:MIN "$tmp/on" | tr -d ' ')
		echo 1 >"$bdi/strict_limit"
		echo 4194304 >"$bdi/max_bytes"
		keep dirty front "" sh -c "cd $tmp/on && exec $incident"
		umount "$tmp/on" ;;
	esac
}

[ $# -gt 0 ] || set -- thief pipe disk flood reclaim dirty fork journal backup nagle inversion quota
for kind in "$@"; do
	tmp=$(mktemp -d)
	mkdir -p "$tmp/symfs/srv/perfkit"
	cp /srv/perfkit/incident /srv/perfkit/slowdisk /srv/perfkit/quota "$tmp/symfs/srv/perfkit/"
	case $kind in fork | inversion | quota) libc ;; esac
	record "$kind"
	rm -rf "$tmp"
done
