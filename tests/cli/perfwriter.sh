#!/bin/sh
# The images of tests/lib/perfwriter are what perf understands: perf script gives back what was
# put in, for every container perf 6.1 knows. (Cases named new-* are beyond it.)
command -v perf >/dev/null 2>&1 || { echo "no perf here"; exit 77; }
perf --version >/dev/null 2>&1 || { echo "perf does not run here"; exit 77; }
pwgen=$O/tests/prog/pwgen
failed=0

for c in $("$pwgen" -l); do
	case $c in new-*) continue ;; esac
	"$pwgen" "$c" >"$c.data" || exit 1
	"$pwgen" -t "$c" >want
	perf script --ns -F comm,pid,tid,cpu,time,period,event,ip -i "$c.data" 2>said |
		sed 's/[[:space:]]\{1,\}/ /g; s/^ //; s/ $//; s/ \[unknown\]//; s/:HG:$/:/; /^$/d' >got
	# perf 6.1 in a root below another one: it finds no way back from a process's mount namespace
	grep -v '^assertion failed at util/namespaces.c' said >err
	cmp -s want got || { echo "$c: perf reads something else"; diff want got; failed=1; }
	[ -s err ] && { echo "$c: perf complains"; cat err; failed=1; }
	rm "$c.data"
done

# Every field of a sample, in both byte orders.
expect()
{
	grep -qF -- "$1" dump || { echo "$c: missing in perf script -D: $1"; failed=1; }
}
for c in fields fields-be; do
	"$pwgen" $c >$c.data || exit 1
	perf script -D -i $c.data >dump 2>&1
	expect '1 5000000007 0x148 [0x170]: PERF_RECORD_SAMPLE(IP, 0x2): 7/8: 0x401136 period: 250000 addr: 0xdead0'
	expect '.....  1: 0000000000401136'
	expect '.....  0: 0000000000401010 -> 0000000000401020 7 cycles M'
	expect '.....  1: 0000000000401030 -> 0000000000401040 300 cycles  P'
	expect '... user regs: mask 0x1c0 ABI 64-bit'
	expect '.... BP    0x000000000000aa01'
	expect '.... IP    0x000000000000aa03'
	# perf 6.1 does not swap sample_regs_intr, so the names of these differ by order
	expect '    0x000000000000aa02'
	expect '... ustack: size 8'
	expect '... weight: 11,0x2,'
	expect ' . data_src: 0x1e05080021'
	expect ' .. phys_addr: 0x12345000'
	expect ' .. data page size: 4K'
	expect ' .. code page size: 2M'
	expect '... transaction: 4'
	expect '...... time enabled 0000000000000384'
	expect '...... time running 0000000000000320'
	expect '..... id 0000000000000065, value 00000000000004d2, lost 3'
done

# Every record type, once each.
c=records
"$pwgen" records >records.data || exit 1
perf script -D -i records.data >dump 2>&1
expect 'PERF_RECORD_COMM exec: server:7/7'
expect 'PERF_RECORD_MMAP 7/7: [0x400000(0x1000) @ 0]: x /no/such/server'
expect 'PERF_RECORD_MMAP2 7/7: [0x400000(0x1000) @ 0 08:01 99 0]: r-xp /no/such/server'
expect 'PERF_RECORD_MMAP2 7/7: [0x400000(0x1000) @ 0 <ab01020300000000000000000000000000000000>]: r-xp'
expect 'PERF_RECORD_FORK(7:8):(7:7)'
expect 'PERF_RECORD_EXIT(7:8):(7:7)'
expect 'PERF_RECORD_LOST: id:101: lost:5'
expect 'PERF_RECORD_LOST_SAMPLES: id:101: lost samples :6'
expect 'PERF_RECORD_THROTTLE'
expect 'PERF_RECORD_UNTHROTTLE'
expect 'PERF_RECORD_READ: 7 7 renamed 12'
expect 'PERF_RECORD_AUX offset: 0 size: 0x40 flags: 0x1 [T]'
expect 'PERF_RECORD_ITRACE_START pid: 7 tid: 7'
expect 'PERF_RECORD_SWITCH OUT preempt'
expect 'PERF_RECORD_SWITCH_CPU_WIDE OUT          next pid/tid:     9/10'
expect 'PERF_RECORD_NAMESPACES 7/7 - nr_namespaces: 2'
expect 'PERF_RECORD_KSYMBOL addr ffffffffc0001000 len 128 type 1 flags 0x0 name bpf_prog_0123456789abcdef_hello'
expect 'PERF_RECORD_BPF_EVENT type 1, flags 0, id 42'
expect 'PERF_RECORD_CGROUP cgroup: 77 /system.slice'
expect 'PERF_RECORD_TEXT_POKE ffffffff81000100  old len 2 new len 2'
expect 'PERF_RECORD_AUX_OUTPUT_HW_ID hw_id: 0xc'
expect 'PERF_RECORD_THREAD_MAP nr: 1 thread: 7'
expect 'PERF_RECORD_CPU_MAP: 0-1'
expect 'PERF_RECORD_ID_INDEX nr: 1'
expect '... name:  renamed'
expect '... Time Muliplier  1000'
expect 'PERF_RECORD_STAT_CONFIG'
expect 'PERF_RECORD_STAT_ROUND'
expect 'PERF_RECORD_FINISHED_INIT'
expect 'PERF_RECORD_FINISHED_ROUND'
exit $failed
