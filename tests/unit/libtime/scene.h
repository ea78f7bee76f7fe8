/*
 * scene.h - recordings for tests of findings, written from a few words: a struct scene says what
 * differs from a sound recording of one process.
 */
#ifndef TESTS_UNIT_LIBTIME_SCENE_H
#define TESTS_UNIT_LIBTIME_SCENE_H

#include "tests/lib/perfwriter.h"
#include "tests/lib/unit.h"

#include <endian.h>

enum { CLOCK_ID = 11, SWITCH_ID = 21, WAKING_ID = 31, CLOCK = 0, SWITCH = 1, WAKING = 2 };
enum { BASE = PW_S_IP | PW_S_TID | PW_S_TIME | PW_S_ID | PW_S_CPU | PW_S_PERIOD };

#define COMMON                                                                         \
	"format:\n"                                                                    \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const struct pw_tracepoint formats[] = {
	{"sched", "name: sched_switch\nID: 316\n" COMMON
		  "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		  "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		  "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
		  "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
		  "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
		  "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
		  "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n"
		  "print fmt: \"%d\", REC->prev_pid\n"},
	{"sched", "name: sched_waking\nID: 318\n" COMMON
		  "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		  "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		  "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
		  "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n"
		  "print fmt: \"%d\", REC->pid\n"},
};

/* An image in words; all zero: one clock, ten samples with stacks, nothing wrong. */
struct scene {
	int no_chain, no_time, no_id_all, no_samples;
	struct pw_attr clock; /* the first event; BASE is added to its sample_type */
	int sched, waking;    /* scheduler tracepoints */
	uint64_t switch_period, switch_freq, switch_flags, switch_every;
	uint64_t waking_period, waking_every;
	const char *stacks_over;      /* ns: by perfkit's own recorder */
	int skip_switch, skip_waking; /* one in four is missing */
	uint64_t stray;    /* ns: rounds of ten waits, and a sample of then after the 36th */
	uint64_t chain[6]; /* of each sample; [0] 0 = the usual one */
	size_t nchain;
	int recursion; /* frames of one function instead */
	uint16_t misc;
	const char *dso, *name2; /* mapped file; a second clock event */
	uint64_t name2_clockid;
	int no_map;         /* of the process; 2: it comes when the process has called exec */
	const char *other;  /* another file, at 0x500000 */
	const char *memory; /* mapped at 0x700000; data alone unless memory_code */
	int memory_code;
	int no_kernel_map, clock_data;
	int build_ids; /* of the mapped file; 2: of two files of its path */
	uint64_t lost, lost_samples, throttles, enabled, running, period;
	uint32_t dump, dyn;
	int half_full;    /* every other copy is half as long */
	int pushed;       /* on top of it: the address behind a call at ip */
	int half_without; /* every other one of a program that is not unwound */
	const void *tail; /* bytes behind the last record */
	size_t ntail;
	int cut, foreign, guest;
	const char *comm_of_0; /* a COMM of pid 0 */
	int simpleperf;        /* as it writes: a feature of its own, no names of events */
	const char *cmdline, *symfs, *vmlinux;
	int deferred;  /* samples announce a user chain; 2: and it comes */
	int kernel_id; /* the kernel's build-id is recorded */
	int off_cpu;   /* the second event is of --off-cpu: 1 sums, 2 single waits */
	uint32_t cpus; /* of the machine; 0: one */
	int all_threads;
	int all_ids;         /* recorded with --buildid-all */
	const char *version; /* of perf */
};

static void add_clock(struct pw *w, const struct scene *s)
{
	static const uint64_t ids[] = {CLOCK_ID}, ids2[] = {CLOCK_ID + 1};
	struct pw_attr a = s->clock;
	a.type = 1;
	a.name = a.name ? a.name : "cpu-clock";
	a.ids = ids;
	a.nids = 1;
	a.period = a.period ? a.period : 1000000;
	a.sample_type |= BASE | (s->no_chain ? 0 : PW_S_CALLCHAIN) |
			 (s->enabled ? PW_S_READ : 0) |
			 (s->dump ? PW_S_REGS_USER | PW_S_STACK_USER : 0);
	a.sample_type &= ~(uint64_t)(s->no_time ? PW_S_TIME : 0);
	a.flags |= PW_MMAP | PW_COMM | (s->no_id_all ? 0 : PW_SAMPLE_ID_ALL);
	if (s->enabled)
		a.read_format |= PW_R_TIME_ENABLED | PW_R_TIME_RUNNING;
	if (s->dump) {
		a.stack_user = s->dump;
		a.regs_user = 0x1ff;
	}
	pw_attr(w, &a);
	if (!s->name2)
		return;
	a.name = s->name2;
	a.ids = ids2;
	if (s->off_cpu == 2) {
		a.config = 10;
		a.sample_type = (a.sample_type | PW_S_RAW) & ~(uint64_t)PW_S_CALLCHAIN;
	}
	if (s->name2_clockid) {
		a.flags |= PW_USE_CLOCKID;
		a.clockid = (int32_t)s->name2_clockid;
	}
	pw_attr(w, &a);
}

static void add_sched(struct pw *w, const struct scene *s)
{
	static const uint64_t sw[] = {SWITCH_ID}, wk[] = {WAKING_ID};
	struct pw_attr a = {.type = 2,
			    .config = 316,
			    .name = "sched:sched_switch",
			    .period = s->switch_freq     ? s->switch_freq
				      : s->switch_period ? s->switch_period
							 : 1,
			    .sample_type = BASE | PW_S_RAW | PW_S_CALLCHAIN,
			    .flags = PW_SAMPLE_ID_ALL | (s->switch_freq ? PW_FREQ : 0) |
				     s->switch_flags,
			    .ids = sw,
			    .nids = 1};
	if (s->no_chain)
		a.sample_type &= ~(uint64_t)PW_S_CALLCHAIN;
	if (s->sched)
		pw_attr(w, &a);
	a.config = 318;
	a.name = "sched:sched_waking";
	a.ids = wk;
	a.flags = PW_SAMPLE_ID_ALL;
	a.period = s->waking_period ? s->waking_period : 1;
	if (s->waking)
		pw_attr(w, &a);
}

static uint64_t user_chain[] = {PW_CONTEXT_USER, 0x401136, 0x401200};

static uint64_t recursion[128]; /* PW_CONTEXT_USER and one address */

static void add_sample(struct pw *w, const struct scene *s, int i)
{
	static uint8_t stack[65536];
	for (int k = 0; k < 128; k++)
		recursion[k] = k ? 0x401136 : PW_CONTEXT_USER;
	static const uint64_t regs[9] = {0, 0, 0, 0, 0, 0, 0x7ffe0800, 0x7ffe0000, 0x401136};
	struct pw_read_value value = {.value = 1000 * (uint64_t)(i + 1), .id = CLOCK_ID};
	struct pw_sample x = {.misc = s->misc ? s->misc : PW_MISC_USER,
			      .ip = s->misc == PW_MISC_KERNEL ? 0xffffffff81000010 : 0x401136,
			      .id = s->foreign && i % 2 ? 99 : CLOCK_ID,
			      .pid = 7,
			      .tid = 7,
			      .cpu = 0,
			      .time = 1000000 + 1000000 * (uint64_t)i,
			      .period = s->period ? s->period : 1000000,
			      .values = &value,
			      .nvalues = 1,
			      .time_enabled = s->enabled * (uint64_t)(i + 1),
			      .time_running = s->running * (uint64_t)(i + 1),
			      .ips = s->recursion ? recursion
				     : s->nchain  ? s->chain
						  : user_chain,
			      .nips = s->recursion ? (size_t)s->recursion + 1
				      : s->nchain  ? s->nchain
						   : 3};
	if (s->dump) { /* perf leaves the user callchain out then */
		x.nips = 0;
		x.user_abi = s->half_without && i % 2 ? 3 : 2; /* 3: no known width */
		x.user_regs = regs;
		const uint64_t top = htole64(s->pushed ? 0x401136 + 5 : 0);
		memcpy(stack, &top, sizeof(top));
		x.stack = stack;
		x.stack_size = s->dump;
		x.stack_dyn = s->half_full && i % 2 ? s->dyn / 2 : s->dyn;
	}
	if (s->guest)
		x.misc = PW_MISC_GUEST_KERNEL;
	pw_sample(w, CLOCK, &x);
	/* pid, tid, ns waited, n, n addresses, cgroup, as the kernel's program packs them */
	const uint64_t wait[5] = {htole64(7 | 7ULL << 32), htole64(500000), htole64(1),
				  htole64(PW_CONTEXT_USER)};
	if (s->off_cpu == 1) { /* perf numbers its sums in place of times */
		x.time = 0xffffffff00000000 + (uint64_t)i;
	} else if (s->off_cpu == 2) {
		x.raw = (const uint8_t *)wait;
		x.raw_size = sizeof(wait);
	}
	if (s->name2) {
		x.id = CLOCK_ID + 1;
		pw_sample(w, CLOCK + 1, &x);
	}
}

/* Thread 7 sleeps and is woken again, `n` times, on CPU 0: out, waking, in. */
static void add_waits(struct pw *w, const struct scene *s, int n)
{
	for (int i = 0; i < n; i++) {
		uint8_t raw[64] = {0};
		uint64_t t = 20000000 + 1000000 * (uint64_t)i;
		struct pw_sample x = {.misc = PW_MISC_KERNEL,
				      .id = SWITCH_ID,
				      .pid = 7,
				      .tid = 7,
				      .time = t,
				      .period = s->switch_every ? s->switch_every : 1,
				      .ips = user_chain,
				      .nips = 3,
				      .raw = raw,
				      .raw_size = 64};
		raw[24] = 7;
		raw[32] = 1;
		pw_sample(w, SWITCH, &x);
		memset(raw, 0, sizeof(raw));
		raw[24] = 7;
		x.pid = x.tid = 0;
		x.time = t + 1000;
		x.id = WAKING_ID;
		x.period = s->waking_every ? s->waking_every : 1;
		x.raw_size = 36;
		if (s->waking && !(s->skip_waking && i % 4 == 0))
			pw_sample(w, WAKING, &x);
		memset(raw, 0, sizeof(raw));
		raw[56] = 7;
		x.time = t + 2000;
		x.id = SWITCH_ID;
		x.period = s->switch_every ? s->switch_every : 1;
		x.raw_size = 64;
		if (!(s->skip_switch && i % 4 == 0))
			pw_sample(w, SWITCH, &x);
		if (s->stray && i % 10 == 9)
			pw_finished_round(w);
		x.id = CLOCK_ID;
		x.time = s->stray;
		if (s->stray && i == 35)
			pw_sample(w, CLOCK, &x);
	}
}

static void add_features(struct pw *w, const struct scene *s)
{
	const char *const argv[] = {
		"perf", "record", "-F", "99", s->all_ids ? "--buildid-all" : "-g", "server"};
	static const uint8_t id[20] = {1, 2, 3}, other[20] = {4};
	pw_feature_string(w, PW_FEAT_HOSTNAME, "elsewhere");
	pw_feature_string(w, PW_FEAT_OSRELEASE, "5.4.0-elsewhere");
	if (s->version)
		pw_feature_string(w, PW_FEAT_VERSION, s->version);
	pw_feature_string(w, PW_FEAT_ARCH, "x86_64");
	pw_feature_nrcpus(w, s->cpus ? s->cpus : 1, s->cpus ? s->cpus : 1);
	pw_feature_cmdline(w, s->cmdline ? &s->cmdline : argv, s->cmdline ? 1 : 6);
	if (s->simpleperf)
		pw_feature(w, 129, "", 1); /* META_INFO */
	else
		pw_feature_event_desc(w);
	if ((s->sched || s->waking) && !s->simpleperf)
		pw_feature_tracing_data(w, formats, 2);
	if (s->clock_data)
		pw_feature_clock_data(w, 1, 1700000000000000000, 1000000);
	if (s->kernel_id)
		pw_feature_build_id(w, PW_MISC_KERNEL, (uint32_t)-1, id, 20,
				    "[kernel.kallsyms]");
	if (s->build_ids)
		pw_feature_build_id(w, PW_MISC_USER, (uint32_t)-1, id, 20, s->dso);
	if (s->build_ids == 2)
		pw_feature_build_id(w, PW_MISC_USER, (uint32_t)-1, other, 20, s->dso);
}

static void add_map(struct pw *w, const struct scene *s, const struct pw_id *at)
{
	pw_mmap2(w, at,
		 &(struct pw_mmap){.pid = 7,
				   .tid = 7,
				   .addr = 0x400000,
				   .len = 0x2000,
				   .prot = 5,
				   .filename = s->dso ? s->dso : "/no/such/server"});
}

static void add_sideband(struct pw *w, const struct scene *s)
{
	static const uint64_t every[] = {UINT64_MAX};
	static const char *const comms[] = {""};
	struct pw_id at = {.pid = 7, .tid = 7, .id = CLOCK_ID};
	if (s->all_threads)
		pw_thread_map(w, every, comms, 1);
	if (!s->no_kernel_map)
		pw_mmap(w, &at,
			&(struct pw_mmap){.misc = PW_MISC_KERNEL,
					  .pid = (uint32_t)-1,
					  .addr = 0xffffffff81000000,
					  .len = 0x1000000,
					  .pgoff = 0xffffffff81000000,
					  .filename = "[kernel.kallsyms]_text"});
	pw_comm(w, &at, 7, 7, "server", 0);
	if (s->comm_of_0)
		pw_comm(w, &(struct pw_id){.id = CLOCK_ID}, 0, 0, s->comm_of_0, 1);
	if (!s->no_map)
		add_map(w, s, &at);
	if (s->other)
		pw_mmap2(w, &at,
			 &(struct pw_mmap){.pid = 7,
					   .tid = 7,
					   .addr = 0x500000,
					   .len = 0x1000,
					   .prot = 5,
					   .filename = s->other});
	if (s->memory)
		pw_mmap2(w, &at,
			 &(struct pw_mmap){
				 .misc = s->memory_code ? 0 : PW_MISC_USER | PW_MISC_MMAP_DATA,
				 .pid = 7,
				 .tid = 7,
				 .addr = 0x700000,
				 .len = 0x1000,
				 .prot = s->memory_code ? 7 : 3,
				 .filename = s->memory});
}

static void make_image(const struct scene *s, struct buf *out)
{
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE, .cut = s->cut});
	add_clock(&w, s);
	add_sched(&w, s);
	add_features(&w, s);
	add_sideband(&w, s);
	for (int i = 0; i < (s->no_samples ? 0 : 40); i++)
		add_sample(&w, s, i);
	struct pw_id at = {.pid = 7, .tid = 7, .time = 45000000, .id = CLOCK_ID};
	if (s->deferred == 2)
		pw_callchain_deferred(&w, &at, 77, user_chain + 1, 2);
	if (s->no_map == 2) {
		pw_comm(&w, &at, 7, 7, "server", 1);
		add_map(&w, s, &at);
	}
	at.time = 15000000;
	for (uint64_t i = 0; i < s->throttles; i++)
		pw_throttle(&w, &at, PW_THROTTLE, at.time, CLOCK_ID, CLOCK_ID);
	if (s->lost)
		pw_lost(&w, &at, CLOCK_ID, s->lost);
	if (s->lost_samples)
		pw_lost_samples(&w, &at, s->lost_samples);
	if (s->sched)
		add_waits(&w, s, 40);
	if (s->ntail)
		pw_raw(&w, s->tail, s->ntail);
	assert_int_equal(pw_finish(&w, out), 0);
}

#endif
