/* build: hand-made perf.data → the interval table, whatever the byte order and container. */
#include "tests/lib/perfwriter.h"
#include "tests/lib/pieces.h"
#include "tests/lib/unit.h"

#include "libtime/build/build.h"
#include "libtime/causes/causes.h"
#include "libtime/sched/timeline_answers.h"
#include "libtime/sched/timeline_names.h"

#include <stdlib.h>
#include <unistd.h>

static const char common[] =
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

/* A kernel like 3.10: a long of 8 bytes, "+" is 512. */
static const char switch_fields[] =
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:1;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"prev_state=%s%s\", REC->prev_state & (512-1) ? "
	"__print_flags(REC->prev_state & "
	"(512-1), \"|\", { 1, \"S\"} , { 2, \"D\" }, { 64, \"x\" }) : \"R\", REC->prev_state & "
	"512 ? "
	"\"+\" : \"\"\n";
static const char waking_fields[] = "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
				    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\n"
				    "print fmt: \"pid=%d\", REC->pid\n";

struct maker {
	struct pw w;
	struct buf image;
	uint64_t caller;    /* of that */
	uint64_t in_kernel; /* where the next samples' stacks end; 0: in user code */
	const char *kallsyms;
	const struct fd_context *context;
	uint64_t period;  /* of the next samples, where they carry one */
	uint64_t regs[2]; /* likewise ax and di */
	int big, no_bystanders;
};

static void put(uint8_t *p, uint64_t v, int size, int big)
{
	for (int i = 0; i < size; i++)
		p[big ? size - 1 - i : i] = (uint8_t)(v >> 8 * i);
}

/* The first n of these, in this order: attribute, formats. */
static const char *const sched_events[] = {"sched_switch", "sched_waking", "sched_wakeup",
					   "sched_wakeup_new"};

static const char *const sched_fields[] = {switch_fields, waking_fields, waking_fields,
					   waking_fields};

/* Period, flags and sample_type of `how` are added to the usual ones. */
static void begin_how(struct maker *m, enum pw_mode mode, int big, int n,
		      const struct pw_attr *how)
{
	struct pw_attr a = *how;
	a.sample_type |= PW_S_IDENTIFIER | PW_S_IP | PW_S_TID | PW_S_TIME | PW_S_CPU |
			 PW_S_RAW | PW_S_CALLCHAIN;
	a.flags |= PW_SAMPLE_ID_ALL;
	*m = (struct maker){.big = big};
	pw_begin(&m->w, &(struct pw_config){.mode = mode, .big_endian = big});
	pw_tracepoints(&m->w, "sched", sched_events, common, sched_fields, (size_t)n, &a);
	pw_feature_string(&m->w, PW_FEAT_HOSTNAME, "box");
	pw_feature_string(&m->w, PW_FEAT_ARCH, "x86_64");
}

static void begin_with(struct maker *m, enum pw_mode mode, int big, int n)
{
	begin_how(m, mode, big, n, &(struct pw_attr){.period = 1});
}

static void begin(struct maker *m, enum pw_mode mode, int big)
{
	begin_with(m, mode, big, 2);
}

static void sample(struct maker *m, size_t attr, uint64_t us, uint32_t cpu, int tid,
		   const uint8_t *raw, uint32_t size)
{
	uint64_t ips[] = {m->in_kernel ? PW_CONTEXT_KERNEL : PW_CONTEXT_USER,
			  m->in_kernel ? m->in_kernel : 0x1000 + (unsigned)tid, m->caller};
	pw_sample(&m->w, attr,
		  &(struct pw_sample){.misc = PW_MISC_KERNEL,
				      .ip = 1,
				      .pid = (uint32_t)tid,
				      .tid = (uint32_t)tid,
				      .time = us * 1000,
				      .cpu = cpu,
				      .id = 11 + attr,
				      .period = m->period,
				      .user_abi = m->regs[0] ? 2 : 0,
				      .user_regs = m->regs,
				      .ips = ips,
				      .nips = m->in_kernel && m->caller ? 3 : 2,
				      .raw = raw,
				      .raw_size = size});
}

static void sw_of(struct maker *m, uint64_t us, uint32_t cpu, int prev, uint64_t state,
		  int next, const char *comm)
{
	uint8_t raw[64] = {0};
	put(raw + 24, (uint32_t)prev, 4, m->big);
	put(raw + 32, state, 8, m->big);
	put(raw + 56, (uint32_t)next, 4, m->big);
	put(raw + 60, 120, 4, m->big);
	memcpy(raw + 8, comm, strlen(comm) + 1);
	memcpy(raw + 40, comm, strlen(comm) + 1);
	sample(m, 0, us, cpu, state == 64 ? -1 : prev, raw, sizeof(raw));
}

static void sw(struct maker *m, uint64_t us, uint32_t cpu, int prev, uint64_t state, int next)
{
	sw_of(m, us, cpu, prev, state, next, "next");
}

static void wake(struct maker *m, size_t attr, uint64_t us, uint32_t cpu, int by, int whom,
		 uint8_t flags)
{
	uint8_t raw[28] = {0};
	raw[2] = flags;
	put(raw + 24, (uint32_t)whom, 4, m->big);
	memcpy(raw + 8, "next", 5);
	sample(m, attr, us, cpu, by, raw, sizeof(raw));
}

static void waking(struct maker *m, uint64_t us, uint32_t cpu, int by, int whom, uint8_t flags)
{
	wake(m, 1, us, cpu, by, whom, flags);
}

static void wakeup(struct maker *m, uint64_t us, uint32_t cpu, int by, int whom)
{
	wake(m, 2, us, cpu, by, whom, 0);
}

struct result {
	struct profile *p;
	struct timeline tl;
	struct buf text;
};

static void build(struct maker *m, struct result *r)
{
	struct recording *rec;
	struct profile_options po = {.modules.find.kallsyms = m->kallsyms};
	struct build_options bo = {.context = m->context,
				   .event_samples = EVENT_SAMPLES_ALL,
				   .no_bystanders = m->no_bystanders};
	struct err e = {0};
	*r = (struct result){0};
	if (pw_finish(&m->w, &m->image))
		fail_msg("the writer failed");
	if (recording_open_mem(&rec, m->image.v, m->image.n, "made.data", &e) ||
	    profile_of(&r->p, rec, &po, &e) || timeline_build(r->p, &bo, &r->tl, &e) ||
	    timeline_check(&r->tl, &e))
		fail_msg("%s", e.msg);
	for (size_t i = 0; i < r->tl.offcpu.n; i++) {
		const struct offcpu *o = &r->tl.offcpu.v[i];
		buf_fmt(&r->text, "%d %llu-%llu %s %llu+%llu%s%s%s %s\n",
			r->tl.threads.v[o->thread].tid, (unsigned long long)o->start_ns / 1000,
			(unsigned long long)o->end_ns / 1000,
			strtab_get(&r->p->stacks.strings, r->tl.states[o->state]),
			(unsigned long long)o->blocked_ns / 1000,
			(unsigned long long)offcpu_runnable_ns(o) / 1000,
			o->flags & OFF_OPEN ? " open" : "",
			o->flags & OFF_SUSPECT ? " suspect" : "", o->unknown ? " unknown" : "",
			waker_context_name(o->waker_context));
	}
}

static void done(struct maker *m, struct result *r)
{
	timeline_release(&r->tl);
	profile_close(r->p);
	buf_release(&r->text);
	buf_release(&m->image);
}

static void every_container_and_byte_order_gives_the_same_table(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++)
		for (int pipe = 0; pipe < 2; pipe++) {
			struct maker m;
			struct result r;
			begin(&m, pipe ? PW_PIPE : PW_FILE, big);
			/* two ring buffers, one behind the other, as perf writes them */
			sw(&m, 100, 0, 0, 0, 7);
			sw(&m, 110, 0, 7, 1, 8);
			sw(&m, 130, 0, 8, 512, 7);
			sw(&m, 140, 0, 7, 64, 8);
			waking(&m, 105, 1, 9, 8, 0);
			waking(&m, 125, 1, 9, 7, 0x08);
			build(&m, &r);
			assert_string_equal(buf_cstr(&r.text), "7 110-130 S 15+5 hardirq\n"
							       "8 105-110  0+5 open task\n"
							       "8 130-140 R+ 0+10 \n");
			const struct offcpu *o = &r.tl.offcpu.v[0];
			assert_int_equal(o->prio_in, 120);
			assert_true(o->path != 0);
			assert_int_equal(o->cpu_wake, 1);
			assert_int_equal(r.tl.flags, TL_HAS_SWITCH | TL_HAS_WAKING);
			assert_string_equal(strtab_get(&r.p->stacks.strings, r.tl.rec.host),
					    "box");
			done(&m, &r);
		}
}

/* What an interrupt stopped did not wake anybody; a task and its stack stay. */
static void a_bystander_s_stack_can_be_left_out(void **state)
{
	(void)state;
	for (int without = 0; without < 2; without++) {
		struct maker m;
		struct result r;
		begin(&m, PW_FILE, 0);
		m.no_bystanders = without;
		for (unsigned i = 0; i < 3; i++) {
			sw(&m, 100 + 30 * i, 0, 0, 0, 7);
			sw(&m, 110 + 30 * i, 0, 7, 1, 0);
			waking(&m, 120 + 30 * i, 1, 9, 7, i ? 0 : 0x08);
		}
		build(&m, &r);
		const struct offcpu *o = r.tl.offcpu.v;
		assert_int_equal(o[0].waker_path != 0, !without);
		assert_true(o[1].waker_path && o[0].path && o[1].path);
		done(&m, &r);
	}
}

/* Switches and wakings of all without stacks, then the same again with stacks. */
static void begin_twins(struct maker *m)
{
	static const uint64_t ids[4][1] = {{11}, {12}, {13}, {14}};
	static char text[2][2048];
	struct pw_tracepoint tp[2];
	*m = (struct maker){0};
	pw_begin(&m->w, &(struct pw_config){.mode = PW_FILE});
	for (unsigned i = 0; i < 4; i++)
		pw_attr(&m->w,
			&(struct pw_attr){.type = 2,
					  .config = 300u + i % 2,
					  .period = 1,
					  .clockid = -1,
					  .sample_type = PW_S_IDENTIFIER | PW_S_TID |
							 PW_S_TIME | PW_S_CPU | PW_S_RAW |
							 (i / 2 ? PW_S_CALLCHAIN : 0),
					  .flags = PW_SAMPLE_ID_ALL,
					  .ids = ids[i],
					  .nids = 1,
					  .name = i % 2 ? "sched:sched_waking"
							: "sched:sched_switch"});
	for (int i = 0; i < 2; i++) {
		snprintf(text[i], sizeof(text[i]), "name: %s\nID: %d\n%s%s", sched_events[i],
			 300 + i, common, i ? waking_fields : switch_fields);
		tp[i] = (struct pw_tracepoint){"sched", text[i]};
	}
	pw_feature_tracing_data(&m->w, tp, 2);
	pw_feature_event_desc(&m->w);
}

/* A switch as the events in `by` report it, as bits: 1 bare, 2 with a stack, which is first by
 * `swapped`. A time of its own each. */
static void sw_by(struct maker *m, uint64_t us, uint32_t cpu, int prev, int next, int by,
		  int swapped)
{
	for (int i = 0; i < 2; i++) {
		size_t stacked = (size_t)(i ^ swapped);
		uint8_t raw[64] = {0};
		put(raw + 24, (uint32_t)prev, 4, 0);
		put(raw + 32, 1, 8, 0);
		put(raw + 56, (uint32_t)next, 4, 0);
		if (by & 1 << stacked)
			sample(m, 2 * stacked, us + (unsigned)i, cpu, prev, raw, sizeof(raw));
	}
}

static void waking_by(struct maker *m, uint64_t us, uint32_t cpu, int by_tid, int whom, int by)
{
	for (unsigned i = 0; i < 2; i++)
		if (by & 1 << i)
			wake(m, 1 + 2 * (size_t)i, us + i, cpu, by_tid, whom, 0);
}

static void a_tracepoint_recorded_twice_is_one_event(void **state)
{
	struct maker m;
	struct result r;
	(void)state;
	begin_twins(&m);
	sw_by(&m, 100, 0, 0, 7, 1, 0);
	sw_by(&m, 110, 0, 7, 8, 3, 0); /* the stack comes second */
	waking_by(&m, 115, 1, 9, 7, 3);
	sw_by(&m, 130, 0, 8, 7, 1, 0); /* the filter leaves 8 out */
	sw_by(&m, 140, 0, 7, 8, 3, 1); /* the stack comes first */
	waking_by(&m, 150, 1, 9, 7, 1);
	sw_by(&m, 160, 0, 8, 7, 2, 0); /* the bare event was lost */
	sw_by(&m, 170, 0, 7, 8, 3, 0);
	build(&m, &r);
	assert_string_equal(buf_cstr(&r.text), "7 110-130 S 5+15 task\n"
					       "7 140-161 S 10+11 task\n"
					       "7 170-171 S 1+0 open \n"
					       "8 130-140 S 0+0 unknown \n"
					       "8 161-170 S 0+0 unknown \n");
	assert_int_equal(r.tl.losses.n, 0);
	for (size_t i = 0; i < r.tl.offcpu.n; i++) {
		const struct offcpu *o = &r.tl.offcpu.v[i];
		int bare = r.tl.threads.v[o->thread].tid == 8 && o->start_ns < 160000;
		assert_int_equal(!o->path, bare);
		assert_int_equal(!!(o->flags & OFF_NO_STACK), bare);
	}
	assert_true(r.tl.offcpu.v[0].waker_path != 0);
	assert_int_equal(r.tl.offcpu.v[1].waker_path, 0);
	done(&m, &r);
}

/* Kernel symbols of a file, as given with --kallsyms. */
static void write_kallsyms(char *path)
{
	static const char text[] = "ffffffff81000000 T _stext\nffffffff81100000 T do_softirq\n"
				   "ffffffff81100080 T __dev_queue_xmit\n"
				   "ffffffff81100100 T fpu_clone\n"
				   "ffffffff81100200 T __x64_sys_recvfrom\n"
				   "ffffffff81100300 T __x64_sys_futex\n"
				   "ffffffff81100400 T __x64_sys_poll\n"
				   "ffffffff81100500 T asm_exc_page_fault\n"
				   "ffffffff81200000 T _etext\n";
	int fd = mkstemp(path); /* write fails if this does */
	assert_int_equal(write(fd, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
	close(fd);
}

static void map_kernel(struct maker *m)
{
	pw_mmap(&m->w, &(struct pw_id){.pid = UINT32_MAX},
		&(struct pw_mmap){.misc = PW_MISC_KERNEL,
				  .pid = UINT32_MAX,
				  .addr = 0xffffffff81000000,
				  .len = 0x200000,
				  .pgoff = 0xffffffff81000000,
				  .prot = 5,
				  .filename = "[kernel.kallsyms]_stext"});
}

/* Of a switch-out the registers hold the first argument, if it is in a system call. */
static void what_a_thread_waits_on(void **state)
{
	static const char context[] =
		"perfkit-context 1\nsnapshot\nprocess 7 net:[1]\nfd 5 socket:[9]\n"
		"net net:[1] tcp\n\t0: 0100007F:B000 0100007F:1F90 01 0:0 0:0 0 0 0 9 1\n";
	static const struct {
		uint64_t frame, ax, arg;
		uint8_t kind;
	} row[] = {
		{0xffffffff81100210, (uint64_t)-38, 5, ARG_CONNECTED},
		{0xffffffff81100210, (uint64_t)-38, 6, ARG_SOCKET}, /* recvfrom: nothing else */
		{0xffffffff81100310, (uint64_t)-38, 0x7f0012345678, ARG_FUTEX},
		{0xffffffff81100410, (uint64_t)-38, 5, ARG_NONE},
		{0xffffffff81100510, (uint64_t)-38, 5, ARG_NONE},
		{0xffffffff81100210, 5, 5, ARG_NONE},
		{0xffffffff81100210, (uint64_t)-38, UINT64_MAX, ARG_NONE},
	};
	char kallsyms[] = "/tmp/perfkit-kallsyms-XXXXXX";
	struct fd_context *c;
	struct maker m;
	struct result r;
	uint64_t t = 1000;
	(void)state;
	write_kallsyms(kallsyms);
	assert_int_equal(fd_context_parse(&c, context, sizeof(context) - 1, "x", NULL), 0);
	begin_how(&m, PW_FILE, 0, 1,
		  &(struct pw_attr){
			  .period = 1, .sample_type = PW_S_REGS_USER, .regs_user = 0x21});
	m.kallsyms = kallsyms;
	m.context = c;
	map_kernel(&m);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++, t += 10) {
		m.regs[0] = m.regs[1] = 1;
		m.in_kernel = 0;
		sw(&m, t, 0, 0, 0, 7);
		m.in_kernel = row[i].frame;
		m.regs[0] = row[i].ax;
		m.regs[1] = row[i].arg;
		sw(&m, t + 5, 0, 7, 1, 0);
	}
	build(&m, &r);
	assert_int_equal(r.tl.offcpu.n, sizeof(row) / sizeof(*row));
	for (size_t i = 0; i < r.tl.offcpu.n; i++) {
		const struct offcpu *o = &r.tl.offcpu.v[i];
		assert_int_equal(o->arg_kind, row[i].kind);
		assert_int_equal(offcpu_arg(&r.tl, o), row[i].kind ? row[i].arg : 0);
	}
	done(&m, &r);
	fd_context_free(c);
	unlink(kallsyms);
}

/* `perf record ... -- sleep 10`: that one is the recorder's, not another program's. */
static void the_sleep_that_perf_runs_is_the_recorders(void **state)
{
	static const char *const before[] = {"perf-exec", "sh"};
	struct maker m;
	struct result r;
	(void)state;
	begin_with(&m, PW_FILE, 0, 2);
	for (uint32_t i = 0; i < 2; i++) {
		struct pw_id at = {.pid = 21 + i, .tid = 21 + i, .time = 0, .id = 11};
		pw_comm(&m.w, &at, 21 + i, 21 + i, before[i], 0);
		at.time = 50000;
		pw_comm(&m.w, &at, 21 + i, 21 + i, "sleep", 1);
	}
	sw_of(&m, 100, 0, 0, 0, 21, "sleep");
	waking(&m, 105, 1, 9, 8, 0);
	sw_of(&m, 110, 0, 21, 1, 22, "sleep");
	sw_of(&m, 130, 0, 22, 1, 0, "sleep");
	build(&m, &r);
	for (size_t i = 0; i < r.tl.threads.n; i++) {
		const struct tl_thread *t = &r.tl.threads.v[i];
		assert_int_equal(!!(t->flags & THREAD_RECORDER), t->tid == 21);
	}
	done(&m, &r);
}

static void every_kind_of_interval_in_one_file(void **state)
{
	(void)state;
	static const unsigned off[] = {0, 1, 2, 3, 4, 7, 8, 1023, 1024};
	char kallsyms[] = "/tmp/perfkit-kallsyms-XXXXXX";
	struct maker m;
	struct result r;
	uint64_t t = 1000;
	write_kallsyms(kallsyms);
	begin_with(&m, PW_FILE, 0, 4);
	m.kallsyms = kallsyms;
	map_kernel(&m);
	/* off times, asleep for half of each; CPU 1 wakes */
	sw(&m, t, 0, 0, 0, 7);
	sw(&m, t, 1, 0, 0, 9);
	for (size_t i = 0; i < sizeof(off) / sizeof(*off); i++) {
		t += 10;
		sw(&m, t, 0, 7, 1, 0);
		waking(&m, t + off[i] / 2, 1, 9, 7, 0);
		wakeup(&m, t + off[i] / 2, 1, 9, 7);
		t += off[i];
		sw(&m, t, 0, 0, 0, 7);
	}
	t = 4000;
	sw(&m, t, 0, 7, 0, 8); /* R, and R+ */
	sw(&m, t + 5, 0, 8, 512, 7);
	wakeup(&m, t + 8, 1, 9, 7); /* while it runs: nothing */
	sw(&m, t + 10, 0, 7, 1, 8);
	waking(&m, t + 12, 1, 9, 7, 0); /* two wakeups in one sleep: the first */
	wakeup(&m, t + 13, 1, 9, 7);
	waking(&m, t + 14, 1, 9, 7, 0);
	wakeup(&m, t + 15, 1, 9, 7);
	sw(&m, t + 20, 0, 8, 2, 7);
	waking(&m, t + 29, 1, 9, 7, 0); /* the waker is ahead of the sleeper */
	sw(&m, t + 30, 0, 7, 1, 0);
	wakeup(&m, t + 31, 1, 9, 7);
	sw(&m, t + 40, 0, 0, 0, 7);
	wake(&m, 3, t + 41, 1, 9, 10, 0); /* a new thread, which then exits */
	sw(&m, t + 50, 0, 7, 1, 10);
	sw(&m, t + 55, 0, 10, 64, 0);
	m.in_kernel = 0xffffffff81100010; /* a softirq that 9 raised, and one that it lets in */
	m.caller = 0xffffffff81100090;
	waking(&m, t + 60, 1, 9, 7, 0x10);
	m.in_kernel = 0;
	wakeup(&m, t + 60, 1, 9, 7);
	sw(&m, t + 65, 0, 0, 0, 7);
	sw(&m, t + 70, 0, 7, 1, 0);
	m.in_kernel = 0xffffffff81100010;
	m.caller = 0xffffffff81100110;
	waking(&m, t + 75, 1, 9, 7, 0x10);
	m.in_kernel = 0;
	wakeup(&m, t + 75, 1, 9, 7);
	sw(&m, t + 80, 0, 0, 0, 7);
	sw(&m, t + 90, 0, 11, 1, 0); /* a hole: 7 had this CPU */
	sw(&m, t + 95, 1, 9, 1, 0);  /* open at the end */
	build(&m, &r);
	assert_string_equal(buf_cstr(&r.text), "7 1010-1010 S 0+0 task\n"
					       "7 1020-1021 S 0+1 task\n"
					       "7 1031-1033 S 1+1 task\n"
					       "7 1043-1046 S 1+2 task\n"
					       "7 1056-1060 S 2+2 task\n"
					       "7 1070-1077 S 3+4 task\n"
					       "7 1087-1095 S 4+4 task\n"
					       "7 1105-2128 S 511+512 task\n"
					       "7 2138-3162 S 512+512 task\n"
					       "7 4000-4005 R 0+5 \n"
					       "7 4010-4020 S 2+8 task\n"
					       "7 4030-4040 S 0+10 task\n"
					       "7 4050-4065 S 10+5 softirq-inline\n"
					       "7 4070-4080 S 5+5 softirq\n"
					       "7 4080-4095  0+0 open suspect unknown \n"
					       "9 4095-4095 S 0+0 open \n"
					       "8 4005-4010 R+ 0+5 \n"
					       "8 4020-4095 D 75+0 open \n"
					       "10 4041-4050  0+9 task\n"
					       "11 4090-4095 S 5+0 open \n");
	assert_int_equal(r.tl.losses.n, 1);
	assert_int_equal(r.tl.losses.v[0].kind, LOSS_HOLE);
	done(&m, &r);
	unlink(kallsyms);
}

static void a_lost_ring_buffer_leaves_the_other_in_peace(void **state)
{
	(void)state;
	struct maker m;
	struct result r;
	begin(&m, PW_FILE, 0);
	struct pw_id at = {.cpu = 0, .time = 150000, .id = 11};
	sw(&m, 100, 0, 0, 0, 7);
	sw(&m, 110, 0, 7, 1, 0);
	pw_lost(&m.w, &at, 11, 17);
	sw(&m, 160, 0, 0, 0, 7);
	sw(&m, 100, 1, 0, 0, 8);
	sw(&m, 110, 1, 8, 1, 0);
	waking(&m, 120, 1, 0, 8, 0);
	sw(&m, 160, 1, 0, 0, 8);
	build(&m, &r);
	assert_string_equal(buf_cstr(&r.text), "7 110-160 S 0+0 suspect unknown \n"
					       "8 110-160 S 10+40 idle\n");
	assert_int_equal(r.tl.losses.n, 1);
	assert_int_equal(r.tl.losses.v[0].count, 17);
	assert_int_equal(r.tl.losses.v[0].from_ns, 110000);
	done(&m, &r);
}

/* Times from 0xffffffff00000000 on are perf's own, for sums of --off-cpu alone. */
static void switches_at_a_time_that_is_none_are_left_out(void **state)
{
	const uint64_t none_us = UINT64_C(0xffffffff00000000) / 1000 + 1;
	(void)state;
	struct maker m;
	struct result r;
	begin(&m, PW_FILE, 0);
	struct pw_id at = {.pid = 9, .tid = 9, .cpu = 0, .time = UINT64_MAX - 1, .id = 11};
	sw(&m, 100, 0, 0, 0, 7);
	sw(&m, 110, 0, 7, 1, 0);
	waking(&m, 120, 1, 0, 7, 0);
	sw(&m, 130, 0, 0, 0, 7);
	sw(&m, none_us, 0, 7, 1, 8);
	pw_comm(&m.w, &at, 9, 9, "late", 0);
	build(&m, &r);
	assert_string_equal(buf_cstr(&r.text), "7 110-130 S 10+10 idle\n");
	for (size_t i = 0; i < r.tl.threads.n; i++)
		assert_true(r.tl.threads.v[i].last_ns <= 130000);
	assert_int_equal(r.tl.rec.end_ns, 130000);
	done(&m, &r);
}

/* From THROTTLE to UNTHROTTLE switches of that CPU may be missing; waits beside are sound. */
static void a_throttled_switch_is_a_loss(void **state)
{
	(void)state;
	struct maker m;
	struct result r;
	begin(&m, PW_FILE, 0);
	struct pw_id at = {.cpu = 0, .time = 120000, .id = 11};
	sw(&m, 100, 0, 0, 0, 7);
	sw(&m, 110, 0, 7, 1, 0);
	pw_throttle(&m.w, &at, PW_THROTTLE, at.time, 11, 11);
	at.time = 130000;
	pw_throttle(&m.w, &at, PW_THROTTLE, at.time, 99,
		    99); /* of an event that nobody knows */
	at.time = 140000;
	pw_throttle(&m.w, &at, PW_UNTHROTTLE, at.time, 11, 11);
	at.time = 150000;
	pw_throttle(&m.w, &at, PW_UNTHROTTLE, at.time, 11, 11); /* of nothing */
	sw(&m, 160, 0, 0, 0, 7);
	sw(&m, 170, 0, 7, 1, 0);
	waking(&m, 175, 0, 0, 7, 0);
	sw(&m, 180, 0, 0, 0, 7);
	build(&m, &r);
	assert_string_equal(buf_cstr(&r.text), "7 110-160 S 0+0 suspect unknown \n"
					       "7 170-180 S 5+5 idle\n");
	assert_int_equal(r.tl.losses.n, 1);
	assert_int_equal(r.tl.losses.v[0].kind, LOSS_THROTTLE);
	assert_int_equal(r.tl.losses.v[0].from_ns, 120000);
	assert_int_equal(r.tl.losses.v[0].to_ns, 140000);
	done(&m, &r);
}

static void a_per_task_file_is_refused_by_its_thread_map(void **state)
{
	(void)state;
	for (int all = 0; all < 2; all++) {
		struct maker m;
		struct result r;
		struct err e = {0};
		const uint64_t pids[] = {all ? (uint64_t)-1 : 7};
		const char *const comms[] = {"prog"};
		begin(&m, PW_FILE, 0);
		pw_thread_map(&m.w, pids, comms, 1);
		sw(&m, 110, 0, 7, 1, 99);
		sw(&m, 150, 0, 7, 1, 99);
		build(&m, &r);
		assert_int_equal(!!(r.tl.flags & TL_PER_TASK), !all);
		assert_int_equal(timeline_answerable(&r.tl, 1, &e), all ? 0 : ERR_REFUSED);
		done(&m, &r);
	}
}

/* perf record -c 10 leaves the samples' periods in and every switch is recorded; without them
 * (--no-period), or on a kernel that counts to ten all the same, one in ten is. */
static void switches_that_stand_for_others_are_refused(void **state)
{
	static const struct {
		struct pw_attr how;
		uint64_t period; /* of a sample */
		int refused;
	} cases[] = {
		{{.period = 1, .sample_type = PW_S_PERIOD}, 1, 0},
		{{.period = 10, .sample_type = PW_S_PERIOD}, 1, 0},
		{{.period = 10, .sample_type = PW_S_PERIOD}, 10, 1},
		{{.period = 1}, 0, 0},
		{{.period = 10}, 0, 1},
		{{.period = 99, .flags = PW_FREQ, .sample_type = PW_S_PERIOD}, 1, 1},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct maker m;
		struct result r;
		struct err e = {0};
		begin_how(&m, PW_FILE, 0, 2, &cases[i].how);
		m.period = cases[i].period;
		sw(&m, 110, 0, 7, 1, 8);
		sw(&m, 150, 0, 8, 1, 7);
		build(&m, &r);
		assert_int_equal(!!(r.tl.flags & TL_SAMPLED), cases[i].refused);
		assert_int_equal(timeline_answerable(&r.tl, 1, &e),
				 cases[i].refused ? ERR_REFUSED : 0);
		done(&m, &r);
	}
}

static void direct_off_cpu_samples_are_intervals_sums_are_not(void **state)
{
	(void)state;
	struct maker m = {0};
	struct result r;
	uint8_t raw[24 + 16 + 8] = {0};
	static const uint64_t ids[] = {21};
	pw_begin(&m.w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(&m.w,
		&(struct pw_attr){.type = 1,
				  .config = 10,
				  .period = 1,
				  .clockid = -1,
				  .flags = PW_SAMPLE_ID_ALL,
				  .sample_type = PW_S_IDENTIFIER | PW_S_IP | PW_S_TID |
						 PW_S_TIME | PW_S_CPU | PW_S_PERIOD | PW_S_RAW,
				  .ids = ids,
				  .nids = 1,
				  .name = "offcpu-time"});
	pw_feature_string(&m.w, PW_FEAT_HOSTNAME, "server"); /* tells the bitmap's order */
	pw_feature_event_desc(&m.w);
	put(raw, 5, 4, 0);
	put(raw + 4, 6, 4, 0);
	put(raw + 16, 2, 8, 0);
	put(raw + 24, PW_CONTEXT_USER, 8, 0);
	put(raw + 32, 0x1234, 8, 0);
	for (int i = 0; i < 2; i++) {
		put(raw + 8, 600000000, 8, 0);
		pw_sample(&m.w, 0,
			  &(struct pw_sample){.misc = PW_MISC_USER,
					      .time = 1000000000u + 700000000u * (unsigned)i,
					      .period = 600000000,
					      .id = 21,
					      .raw = raw,
					      .raw_size = sizeof(raw)});
	}
	put(raw + 8, 777, 8, 0);
	pw_sample(&m.w, 0,
		  &(struct pw_sample){.misc = PW_MISC_USER,
				      .time = 0xffffffff00000001u,
				      .id = 21,
				      .raw = raw,
				      .raw_size = sizeof(raw)});
	put(raw + 16, 99, 8, 0); /* more addresses than there are bytes: not taken */
	pw_sample(&m.w, 0,
		  &(struct pw_sample){.time = 1800000000,
				      .period = 5,
				      .id = 21,
				      .raw = raw,
				      .raw_size = sizeof(raw)});
	build(&m, &r);
	assert_string_equal(buf_cstr(&r.text), "6 400000-1000000  0+0 unknown \n"
					       "6 1100000-1700000  0+0 unknown \n");
	assert_true(r.tl.offcpu.v[0].path != 0);
	assert_int_equal(r.tl.totals.n, 1);
	assert_int_equal(r.tl.totals.v[0].ns, 777);
	assert_int_equal(r.tl.threads.v[r.tl.totals.v[0].thread].tid, 6);
	assert_int_equal(r.tl.totals.v[0].path, r.tl.offcpu.v[0].path);
	assert_int_equal(r.tl.rec.end_ns, 1800000000);
	done(&m, &r);
}

static struct profile *build_image(const struct buf *image, int in_pieces, int addrs,
				   struct timeline *tl)
{
	struct recording *rec;
	struct profile *p = NULL;
	struct profile_options po = {.modules.find = {.no_local = 1, .buildid_dir = ""}};
	struct build_options bo = {.addrs = addrs};
	int rc = in_pieces ? open_in_pieces(&rec, image, NULL)
			   : recording_open_mem(&rec, image->v, image->n, "image", NULL);
	assert_int_equal(rc, 0);
	assert_int_equal(profile_of(&p, rec, &po, NULL), 0);
	assert_int_equal(timeline_build(p, &bo, tl, NULL), 0);
	return p;
}

/* User chains that come after their samples, as of Linux 6.19: in a file they are read first,
 * in a stream when they come. */
static void a_deferred_chain(enum pw_mode mode)
{
	struct pw w;
	struct buf image = {0};
	struct timeline tl;
	uint64_t chain[] = {PW_CONTEXT_KERNEL, -1ull << 24, PW_CONTEXT_USER_DEFERRED, 77};
	uint64_t user[] = {PW_CONTEXT_USER, 0x3000, 0x2000};
	const struct pw_id late = {.pid = 7, .tid = 7, .time = 300};
	pw_begin(&w, &(struct pw_config){.mode = mode});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .sample_type =
					      PW_S_IP | PW_S_TID | PW_S_TIME | PW_S_CALLCHAIN,
				      .flags = PW_SAMPLE_ID_ALL | PW_DEFER_CALLCHAIN});
	for (uint64_t t = 100; t <= 200; t += 100)
		pw_sample(&w, 0,
			  &(struct pw_sample){.misc = 2,
					      .ip = 0x3000,
					      .pid = 7,
					      .tid = 7,
					      .time = t,
					      .ips = chain,
					      .nips = 4});
	pw_callchain_deferred(&w, &late, 77, user, 3);
	assert_int_equal(pw_finish(&w, &image), 0);
	struct profile *p = build_image(&image, 0, 1, &tl); /* no mapping holds them */
	assert_int_equal(tl.samples.n, 2);
	assert_int_equal(tl.samples.v[0].path, tl.samples.v[1].path);
	uint32_t frames[8];
	assert_int_equal(stacks_frames(&p->stacks, tl.samples.v[0].path, frames, 8), 3);
	assert_int_equal(p->stacks.frames.v[frames[0]].addr, 0x2000);
	assert_int_equal(p->stacks.frames.v[frames[1]].addr, 0x3000);
	assert_true(p->stacks.frames.v[frames[2]].addr == -1ull << 24);
	assert_int_equal(p->unwinding.deferred_missing, 0);
	timeline_release(&tl);
	profile_close(p);
	buf_release(&image);
}

static void deferred_user_chains_join_their_samples(void **state)
{
	(void)state;
	a_deferred_chain(PW_FILE);
	a_deferred_chain(PW_PIPE);
}

static void map_at(struct pw *w, uint32_t pid, uint64_t time, uint64_t addr, const char *file)
{
	const struct pw_id at = {.pid = pid, .tid = pid, .time = time};
	pw_mmap2(w, &at,
		 &(struct pw_mmap){.pid = pid,
				   .tid = pid,
				   .addr = addr,
				   .len = 0x1000,
				   .prot = 5,
				   .filename = file});
}

static void begin_chains(struct pw *w)
{
	pw_begin(w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(w, &(struct pw_attr){.type = 1,
				     .sample_type =
					     PW_S_IP | PW_S_TID | PW_S_TIME | PW_S_CALLCHAIN,
				     .flags = PW_SAMPLE_ID_ALL});
}

static void sample_chain(struct pw *w, uint32_t pid, uint64_t time, uint32_t nips)
{
	uint64_t ips[] = {PW_CONTEXT_USER, 0x3010, 0x5010};
	pw_sample(w, 0,
		  &(struct pw_sample){.misc = 2,
				      .ip = ips[1],
				      .pid = pid,
				      .tid = pid,
				      .time = time,
				      .ips = ips,
				      .nips = nips});
}

static void write_mappings(struct buf *image)
{
	struct pw w;
	begin_chains(&w);
	map_at(&w, 7, 50, 0x3000, "/nowhere/early");
	map_at(&w, 7, 250, 0x3000, "/nowhere/late");
	for (uint64_t t = 100; t <= 400; t += 100)
		sample_chain(&w, t == 400 ? 8 : 7, t, 3);
	for (int i = 0; i < 3; i++)
		pw_finished_round(&w);
	map_at(&w, 7, 0, 0x5000, "/nowhere/main");
	map_at(&w, 8, 0, 0x3000, "/nowhere/other");
	map_at(&w, 8, 0, 0x5000, "/nowhere/main");
	assert_int_equal(pw_finish(&w, image), 0);
}

/* A file is read once, its mappings as they come: samples before a mapping do not see it, and
 * what perf noted late, without a time, was there all along. */
static void check_mappings(const struct buf *image, int in_pieces)
{
	static const char *const want[] = {"early", "early", "late", "other"};
	struct timeline tl;
	struct profile *p = build_image(image, in_pieces, 0, &tl);
	assert_int_equal(tl.samples.n, 4);
	for (size_t i = 0; i < 4; i++) {
		uint32_t frames[8], path = tl.samples.v[i].path;
		assert_int_equal(stacks_frames(&p->stacks, path, frames, 8), 2);
		const struct frame *f = p->stacks.frames.v;
		const struct strtab *text = &p->stacks.strings;
		assert_string_equal(strtab_get(text, f[frames[0]].dso), "/nowhere/main");
		assert_string_equal(strrchr(strtab_get(text, f[frames[1]].dso), '/') + 1,
				    want[i]);
	}
	timeline_release(&tl);
	profile_close(p);
}

static void mappings_count_from_their_time_on(void **state)
{
	struct buf image = {0};
	(void)state;
	write_mappings(&image);
	check_mappings(&image, 0);
	check_mappings(&image, 1);
	buf_release(&image);
}

/* Records that perf wrote out of the order of time: a mapping that comes before an older sample
 * counts for the samples after it all the same. */
static void a_mapping_in_front_of_an_older_sample_counts(void **state)
{
	static const char *const want[] = {"/nowhere/early", "/nowhere/late"};
	struct pw w;
	struct buf image = {0};
	struct timeline tl;
	(void)state;
	begin_chains(&w);
	map_at(&w, 7, 50, 0x3000, "/nowhere/early");
	map_at(&w, 7, 250, 0x3000, "/nowhere/late");
	for (int i = 0; i < 3; i++)
		pw_finished_round(&w);
	for (size_t i = 0; i < 2; i++)
		sample_chain(&w, 7, i ? 300 : 100, 2);
	assert_int_equal(pw_finish(&w, &image), 0);
	struct profile *p = build_image(&image, 0, 0, &tl);
	assert_int_equal(tl.samples.n, 2);
	for (size_t i = 0; i < 2; i++) {
		uint32_t frame;
		assert_int_equal(stacks_frames(&p->stacks, tl.samples.v[i].path, &frame, 1), 1);
		assert_string_equal(
			strtab_get(&p->stacks.strings, p->stacks.frames.v[frame].dso), want[i]);
	}
	timeline_release(&tl);
	profile_close(p);
	buf_release(&image);
}

/* perf calls them ":TID"; perfkit collapse does so of the recording, and the store must, too.
 */
static void samples_of_threads_nobody_named_carry_their_tid(void **state)
{
	(void)state;
	struct maker m = {0};
	struct result r;
	static const uint64_t ids[] = {21};
	static const int tids[] = {7, 0, -1};
	static const char *const names[] = {":7", "swapper", ":-1"};
	pw_begin(&m.w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(&m.w, &(struct pw_attr){.type = 1,
					.period = 1,
					.clockid = -1,
					.flags = PW_SAMPLE_ID_ALL,
					.sample_type = PW_S_IDENTIFIER | PW_S_IP | PW_S_TID |
						       PW_S_TIME | PW_S_CPU | PW_S_PERIOD,
					.ids = ids,
					.nids = 1,
					.name = "cpu-clock"});
	pw_feature_string(&m.w, PW_FEAT_HOSTNAME, "server");
	pw_feature_event_desc(&m.w);
	for (unsigned i = 0; i < 3; i++)
		pw_sample(&m.w, 0,
			  &(struct pw_sample){.misc = PW_MISC_USER,
					      .pid = (uint32_t)tids[i],
					      .tid = (uint32_t)tids[i],
					      .time = 1000 + i,
					      .period = 1,
					      .id = 21});
	build(&m, &r);
	assert_int_equal(r.tl.samples.n, 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(strtab_get(&r.p->stacks.strings, r.tl.samples.v[i].comm),
				    names[i]);
	done(&m, &r);
}

/* Of samples in guests perf names no process, and so does nobody here. */
static void samples_in_guests_are_counted_and_left_out(void **state)
{
	(void)state;
	struct maker m;
	struct result r;
	static const uint16_t modes[] = {PW_MISC_KERNEL, 4, PW_MISC_USER, 5, 5};
	begin_with(&m, PW_FILE, 0, 1);
	pw_attr(&m.w, &(struct pw_attr){.type = 1,
					.period = 1,
					.clockid = -1,
					.flags = PW_SAMPLE_ID_ALL,
					.sample_type = PW_S_IDENTIFIER | PW_S_IP | PW_S_TID |
						       PW_S_TIME | PW_S_CPU | PW_S_PERIOD,
					.ids = (const uint64_t[]){21},
					.nids = 1,
					.name = "cpu-clock"});
	for (unsigned i = 0; i < 5; i++)
		pw_sample(&m.w, 1,
			  &(struct pw_sample){.misc = modes[i],
					      .pid = 7,
					      .tid = 7,
					      .time = 1000 + i,
					      .period = 1,
					      .id = 21});
	build(&m, &r);
	assert_int_equal(r.tl.samples.n, 2);
	assert_int_equal(r.p->totals.guest, 3);
	done(&m, &r);
}

/* What becomes waits stays a sample, too: of the thread that perf names, alive or not. */
static void switches_are_samples_of_their_event(void **state)
{
	(void)state;
	struct maker m;
	struct result r;
	begin_with(&m, PW_FILE, 0, 1);
	sw(&m, 100, 0, 7, 1, 0);
	sw(&m, 200, 0, 0, 0, 7);
	build(&m, &r);
	assert_int_equal(r.tl.samples.n, 0);
	assert_int_equal(r.tl.event_samples.n, 2);
	const struct tl_event_sample *s = r.tl.event_samples.v;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(s[i].time_ns, (i + 1) * 100000);
		assert_int_equal(s[i].tid, i ? 0 : 7);
		assert_int_not_equal(s[i].path, 0);
	}
	assert_string_equal(strtab_get(&r.p->stacks.strings, s[0].comm), ":7");
	done(&m, &r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deferred_user_chains_join_their_samples),
		cmocka_unit_test(mappings_count_from_their_time_on),
		cmocka_unit_test(a_mapping_in_front_of_an_older_sample_counts),
		cmocka_unit_test(the_sleep_that_perf_runs_is_the_recorders),
		cmocka_unit_test(every_kind_of_interval_in_one_file),
		cmocka_unit_test(what_a_thread_waits_on),
		cmocka_unit_test(every_container_and_byte_order_gives_the_same_table),
		cmocka_unit_test(a_bystander_s_stack_can_be_left_out),
		cmocka_unit_test(a_tracepoint_recorded_twice_is_one_event),
		cmocka_unit_test(a_lost_ring_buffer_leaves_the_other_in_peace),
		cmocka_unit_test(switches_at_a_time_that_is_none_are_left_out),
		cmocka_unit_test(a_throttled_switch_is_a_loss),
		cmocka_unit_test(a_per_task_file_is_refused_by_its_thread_map),
		cmocka_unit_test(switches_that_stand_for_others_are_refused),
		cmocka_unit_test(direct_off_cpu_samples_are_intervals_sums_are_not),
		cmocka_unit_test(samples_of_threads_nobody_named_carry_their_tid),
		cmocka_unit_test(samples_in_guests_are_counted_and_left_out),
		cmocka_unit_test(switches_are_samples_of_their_event),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
