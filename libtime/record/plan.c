#include "libtime/record/remedy_internal.h"
#include "libtime/record/trial.h"
#include "base/text/buf.h"
#include "libsym/unwind/arch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { CPU_DUMP = 8192, DUMP_MAX = 65528, OFF_CPU_THRESH = 6 * PERF_MINORS + 16 };

void record_plan_release(struct record_plan *p)
{
	words_release(&p->lock_probe);
	for (size_t i = 0; i < p->probes.n; i++)
		words_release(&p->probes.v[i]);
	vec_release(&p->probes);
	words_release(&p->record);
	words_release(&p->undo);
}

struct words *record_plan_probe(struct record_plan *p)
{
	if (!vec_push(&p->probes, (struct words){0}))
		return &p->probes.v[p->probes.n - 1];
	p->record.failed = ERR_NOMEM;
	return &p->record;
}

void record_plan_line(struct buf *out, const struct record_plan *p)
{
	for (size_t i = 0; i < p->probes.n; i++) {
		words_line(out, &p->probes.v[i]);
		buf_str(out, " && ");
	}
	words_line(out, &p->record);
}

/* --- stacks --------------------------------------------------------------------------- */

/* --stacks: bytes to copy, or one of GRAPH_*; `normal` for auto, and for dwarf without a size.
 */
static int record_graph(const char *text, int normal)
{
	char *end;
	if (!text || !strcmp(text, "auto") || !strcmp(text, "dwarf"))
		return normal;
	if (!strcmp(text, "fp"))
		return GRAPH_FP;
	if (!strcmp(text, "none"))
		return GRAPH_NONE;
	if (!strcmp(text, "lbr"))
		return GRAPH_LBR;
	if (strncmp(text, "dwarf,", 6) && strncmp(text, "dwarf:", 6))
		return GRAPH_BAD;
	long n = strtol(text + 6, &end, 10);
	/* perf requires a multiple of 8 that fits into a record */
	return *end || n < 8 || n > DUMP_MAX || n % 8 ? GRAPH_BAD : (int)n;
}

void plan_put_graph(struct buf *out, const char *kind, uint32_t bytes)
{
	buf_fmt(out, "call-graph=%s", kind);
	if (bytes)
		buf_fmt(out, ",stack-size=%u", bytes);
}

/* EVENT/.../ with the stack kind of that event; `more` are further terms. */
static void add_event(struct words *w, const char *event, const char *more, int stacks)
{
	static const char *const kinds[] = {[-GRAPH_FP] = "fp", [-GRAPH_LBR] = "lbr"};
	struct buf graph = {0};
	if (stacks > 0)
		plan_put_graph(&graph, "dwarf", (uint32_t)stacks);
	else if (stacks == GRAPH_FP || stacks == GRAPH_LBR)
		plan_put_graph(&graph, kinds[-stacks], 0);
	words_add(w, "-e");
	if (!*more && !graph.n)
		words_add(w, "%s", event);
	else
		words_add(w, "%s/%s%s%s/", event, more, *more && graph.n ? "," : "",
			  buf_cstr(&graph));
	if (buf_failed(&graph))
		w->failed = ERR_NOMEM;
	buf_release(&graph);
}

/* --- events --------------------------------------------------------------------------- */

/* Samples cannot be filtered by thread, and other threads' stacks are deeper than the chosen
 * ones' waits: at least SAMPLES_DUMP is copied. Beyond SAMPLES_MAX_BYTES a second, copies for all
 * threads cost more than the switches of the chosen ones, and frame pointers are used. */
enum { SAMPLES_MAX_BYTES = 4000000, SAMPLES_DUMP = 1024 };

static void add_cpu_event(struct words *w, const struct record_wish *x, int stacks)
{
	char terms[200];
	/* without name=, all terms would be part of the event's name */
	snprintf(terms, sizeof(terms), "freq=%d,name=%.100s", x->frequency, x->event);
	if (x->chosen && stacks > 0 && stacks < SAMPLES_DUMP)
		stacks = SAMPLES_DUMP;
	if (x->chosen && stacks > 0 &&
	    (double)stacks * x->frequency * x->cpus > SAMPLES_MAX_BYTES)
		stacks = GRAPH_FP;
	/* only hardware events record branches */
	if (stacks == GRAPH_LBR && !strcmp(x->event, "cpu-clock"))
		stacks = GRAPH_FP;
	add_event(w, x->event, terms, stacks);
}

/* An event of all threads; if some are chosen, without stacks, and again with stacks for those.
 */
static void add_of_chosen(struct words *w, const struct record_wish *x, const char *event,
			  const char *filter, int stacks)
{
	if (!x->chosen || stacks == GRAPH_NONE) {
		add_event(w, event, "", stacks);
		return;
	}
	add_event(w, event, "", GRAPH_NONE);
	add_event(w, event, "", stacks);
	words_pair(w, "--filter", filter);
}

const struct plan_event plan_sched_events[] = {{"sched:sched_switch", 0},
					       {"sched:sched_waking", 0},
					       {"sched:sched_wakeup", 0},
					       {"sched:sched_wakeup_new", 0},
					       {"sched:sched_migrate_task", 1},
					       {"sched:sched_process_fork", 1},
					       {"sched:sched_process_exec", 1},
					       {"sched:sched_process_exit", 0},
					       {NULL, 0}};

static void add_sched_events(struct words *w, const struct record_wish *x, int stacks)
{
	/* tracepoints are software events, which record no branches */
	if (stacks == GRAPH_LBR)
		stacks = PLAN_DUMP;
	add_of_chosen(w, x, plan_sched_events[0].name, x->chosen ? x->chosen->leaving : NULL,
		      stacks);
	/* the waker's stack is a frame-pointer chain, since a copy per waking would be too much
	 */
	add_of_chosen(w, x, plan_sched_events[1].name, x->chosen ? x->chosen->woken : NULL,
		      stacks == GRAPH_NONE ? GRAPH_NONE : GRAPH_FP);
	for (const struct plan_event *ev = plan_sched_events + 2; ev->name; ev++)
		add_event(w, ev->name, "", GRAPH_NONE);
}

static void add_tail_events(struct words *w, const struct record_wish *x, int stacks)
{
	static const char *const interrupts[] = {"irq:irq_handler_entry",
						 "irq:irq_handler_exit", "irq:softirq_entry",
						 "irq:softirq_exit"};
	add_sched_events(w, x, stacks);
	for (size_t i = 0; i < sizeof(interrupts) / sizeof(*interrupts); i++)
		add_event(w, interrupts[i], "", GRAPH_NONE);
	/* samples would cause gaps */
	if (x->mode != RECORD_JITTER)
		add_cpu_event(w, x, stacks);
}

#define TIMERS "timer:timer_expire_entry"

/* What --also adds: events for `perf -e`, separated by blanks, or an option. */
static const struct also {
	const char *name, *words;
	int version; /* the first perf that has it, as in struct record_wish */
} also_table[] = {
	/* not irq_work's: the kernel does not allow samples of its exit, which a sample raises
	 */
	{"vectors",
	 "irq_vectors:local_timer_* irq_vectors:reschedule_* irq_vectors:call_function_* "
	 "irq_vectors:*_apic_*",
	 0},
	{"faults",
	 "exceptions:page_fault_user/call-graph=fp/ "
	 "exceptions:page_fault_kernel/call-graph=fp/",
	 0},
	{"nmi", "nmi:nmi_handler", 0},
	{"block", "block:block_rq_insert block:block_rq_issue block:block_rq_complete", 0},
	{"idle", "power:cpu_idle", 0},
	{"tcp", TIMERS, 0},
	{"cgroups", "--all-cgroups", 5 * PERF_MINORS + 7},
};

static const struct also *also_named(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(also_table) / sizeof(*also_table); i++)
		if (strlen(also_table[i].name) == n && !memcmp(also_table[i].name, name, n))
			return &also_table[i];
	return NULL;
}

static void add_also(struct words *w, const struct record_wish *x)
{
	for (const char *p = x->also; p && *p; p += strcspn(p, ","), p += *p == ',') {
		const struct also *a = also_named(p, strcspn(p, ","));
		const char *word = a ? a->words : "";
		for (size_t n; *word; word += n, word += *word == ' ') {
			n = strcspn(word, " ");
			if (*word != '-')
				words_add(w, "-e");
			words_add(w, "%.*s", (int)n, word);
			if (!strncmp(word, TIMERS, n) && x->tcp_timers && !x->version)
				words_pair(w, "--filter", x->tcp_timers);
		}
	}
}

static void add_events(struct record_plan *p, const struct record_wish *x, int stacks)
{
	struct words *w = &p->record;
	if (x->mode == RECORD_OFFCPU)
		add_sched_events(w, x, stacks);
	else
		add_tail_events(w, x, stacks);
	if (x->mode == RECORD_REQUESTS) {
		add_event(w, x->end ? "perfkit:req_start" : "perfkit:request", "", GRAPH_NONE);
		add_event(w, x->end ? "perfkit:req_end" : "perfkit:request__return", "",
			  GRAPH_NONE);
	}
	if (p->lock_probe.v.n)
		add_event(w, "perfkit:lock_wait", "", GRAPH_NONE);
	add_also(w, x);
}

/* --- probes --------------------------------------------------------------------------- */

static void add_probe(struct words *w, const struct record_wish *x, const char *binary,
		      const char *what)
{
	words_add(w, "%s", x->perf);
	words_add(w, "probe");
	words_add(w, "-q");
	words_pair(w, "-x", binary);
	words_pair(w, "--add", what);
}

static void add_undo(struct record_plan *p, const struct record_wish *x, const char *event)
{
	if (!p->undo.v.n) {
		words_add(&p->undo, "%s", x->perf);
		words_add(&p->undo, "probe");
		words_add(&p->undo, "-q");
	}
	words_pair(&p->undo, "-d", event);
}

/*
 * glibc's slow path of a contended mutex: its argument is the address of the lock word, which
 * is also the mutex's; the owner's tid is 8 bytes further (struct __pthread_mutex_s). Without a
 * probe on machines whose registers are unknown.
 */
static void plan_lock_probe(struct record_plan *p, const struct record_wish *x)
{
	struct utsname here;
	const struct arch *arch = uname(&here) ? NULL : arch_named(here.machine);
	char what[128];
	if (!arch)
		return;
	snprintf(what, sizeof(what),
		 "perfkit:lock_wait=__lll_lock_wait mutex=%s word=+0(%s):u32 owner=+8(%s):s32",
		 arch->first_arg, arch->first_arg, arch->first_arg);
	add_probe(&p->lock_probe, x, x->libc, what);
	add_undo(p, x, "perfkit:lock_wait");
}

static int plan_request_probes(struct record_plan *p, const struct record_wish *x)
{
	struct buf begin = {0}, end = {0};
	buf_fmt(&begin, "perfkit:%s=%s", x->end ? "req_start" : "request", x->begin);
	buf_fmt(&end, x->end ? "perfkit:req_end=%s" : "perfkit:request=%s%%return",
		x->end ? x->end : x->begin);
	if (x->key)
		buf_fmt(&begin, " key=%s", x->key);
	if (x->end_key || (x->key && x->end))
		buf_fmt(&end, " key=%s", x->end_key ? x->end_key : x->key);
	int rc = buf_failed(&begin) || buf_failed(&end) ? ERR_NOMEM : 0;
	add_probe(record_plan_probe(p), x, x->binary, buf_cstr(&begin));
	add_probe(record_plan_probe(p), x, x->binary, buf_cstr(&end));
	add_undo(p, x, x->end ? "perfkit:req_start" : "perfkit:request");
	add_undo(p, x, x->end ? "perfkit:req_end" : "perfkit:request__return");
	p->span = x->end ? "req" : "request";
	buf_release(&begin);
	buf_release(&end);
	return rc;
}

/* --- the line ------------------------------------------------------------------------- */

/* Does this perf support --also and --stacks? */
static int check_version(const struct record_wish *x, struct err *e)
{
	for (const char *p = x->also; p && *p; p += strcspn(p, ","), p += *p == ',') {
		int n = (int)strcspn(p, ",");
		const struct also *a = also_named(p, (size_t)n);
		if (!a)
			return err_set(e, ERR_USAGE,
				       "--also takes vectors, faults, nmi, block, idle, "
				       "tcp, cgroups, not '%.*s'",
				       n, p);
		if (x->version && a->version > x->version)
			return err_set(e, ERR_USAGE, "--also %s needs perf %d.%d", a->name,
				       a->version / PERF_MINORS, a->version % PERF_MINORS);
	}
	return 0;
}

static int check(const struct record_wish *x, struct err *e)
{
	if (x->mode == RECORD_CPU && x->ncommand && x->pid)
		return err_set(e, ERR_USAGE, "give a command or -p, not both");
	if (x->ncommand && x->duration)
		return err_set(e, ERR_USAGE, "give a command or --duration, not both");
	if (x->mode == RECORD_REQUESTS && (!x->begin || !x->binary))
		return err_set(e, ERR_USAGE,
			       x->begin ? "requests needs -p PID, --exec FILE or a command, to "
					  "find the function in"
					: "requests needs --begin FUNC");
	if (x->mode != RECORD_REQUESTS && (x->begin || x->end || x->key || x->end_key))
		return err_set(e, ERR_USAGE, "--begin, --end and --key apply only to requests");
	if (x->mode == RECORD_CPU && x->also)
		return err_set(e, ERR_USAGE, "--also does not apply to cpu");
	if (record_graph(x->stacks, 8) == GRAPH_BAD)
		return err_set(e, ERR_USAGE,
			       "--stacks is auto, fp, lbr, none or dwarf[:BYTES], BYTES a "
			       "multiple of 8 up to %d, not '%s'",
			       DUMP_MAX, x->stacks);
	if (x->own_ids && x->version && x->version < 5 * PERF_MINORS + 12)
		return err_set(e, ERR_USAGE, "--buildid-mmap needs perf 5.12");
	if (x->off_cpu_ms && x->version && x->version < OFF_CPU_THRESH)
		return err_set(e, ERR_USAGE, "--off-cpu-thresh needs perf 6.16");
	if (x->off_cpu_ms && (x->chosen || x->cgroup || x->stacks || x->also))
		return err_set(e, ERR_USAGE,
			       "--off-cpu-thresh records no events to choose from: --comm, "
			       "--cgroup, --stacks and --also do not apply");
	if (x->frequency < 1 || x->frequency > 100000)
		return err_set(e, ERR_USAGE, "--freq must be 1 to 100000 Hz");
	return check_version(x, e);
}

static void add_whom(struct words *w, const struct record_wish *x)
{
	if (x->cpu_list)
		words_pair(w, "-C", x->cpu_list);
	else if (!x->pid && !x->tid && !x->ncommand)
		words_add(w, "-a");
	if (x->pid)
		words_pair(w, "-p", x->pid);
	if (x->tid)
		words_pair(w, "-t", x->tid);
}

/* The kernel's own measuring takes no event of ours. */
static void plan_off_cpu(struct words *w, const struct record_wish *x)
{
	add_whom(w, x);
	words_add(w, "--off-cpu");
	words_add(w, "--off-cpu-thresh");
	words_add(w, "%d", x->off_cpu_ms);
	words_pair(w, "-e", "dummy");
}

/* cpu: one event, sampled by frequency, of all processes or the given one. */
static void plan_cpu(struct words *w, const struct record_wish *x)
{
	int stacks = record_graph(x->stacks, CPU_DUMP);
	add_whom(w, x);
	words_pair(w, "-e", x->event);
	words_add(w, "-F");
	words_add(w, "%d", x->frequency);
	if (x->cgroup)
		words_pair(w, "-G", x->cgroup);
	if (stacks == GRAPH_NONE)
		return;
	words_add(w, "--call-graph");
	if (stacks > 0)
		words_add(w, "dwarf,%d", stacks);
	else
		words_add(w, stacks == GRAPH_FP ? "fp" : "lbr");
}

/* They say which descriptor or lock a wait is for, as stack copies do. */
static const char *argument_registers(void)
{
	struct utsname here;
	if (uname(&here))
		return NULL;
	return !strcmp(here.machine, "x86_64")    ? "di,si,dx"
	       : !strcmp(here.machine, "aarch64") ? "x0,x1,x2"
						  : NULL;
}

static void plan_waits(struct record_plan *p, const struct record_wish *x)
{
	struct words *w = &p->record;
	int normal = x->chosen && x->chosen->copy ? x->chosen->copy : PLAN_DUMP;
	if (x->chosen)
		normal = trial_copy(&x->chosen->trial, normal);
	int fp = x->chosen && normal == GRAPH_FP;
	words_add(w, "-a");
	words_pair(w, "-c", "1");
	if (x->mode == RECORD_JITTER && !x->stacks)
		normal = GRAPH_NONE;
	add_events(p, x, record_graph(x->stacks, normal));
	if (fp && record_graph(x->stacks, normal) == GRAPH_FP && argument_registers())
		words_add(w, "--user-regs=%s", argument_registers());
}

static void plan_target(struct words *w, const struct record_wish *x)
{
	words_pair(w, "-o", x->output);
	if (x->ncommand)
		words_add(w, "--");
	for (size_t i = 0; i < x->ncommand; i++)
		words_add(w, "%s", x->command[i]);
	if (!x->duration)
		return;
	words_add(w, "--");
	words_add(w, "sleep");
	words_add(w, "%d", x->duration);
}

/* Is it perf record -k CLOCK_MONOTONIC --buildid-* [--no-bpf-event] [-m SIZE] -a -c 1 -e
 * sched:sched_switch...? */
int record_plan_is(const char *const *argv, size_t n)
{
	static const char *const words[] = {
		"-k", "CLOCK_MONOTONIC", "--buildid-", "-m", "", "-a", "-c", "1", "-e"};
	enum { IDS = 2, RING = 3, BEHIND = 5 };
	size_t at = 2, count = sizeof(words) / sizeof(*words);
	for (size_t i = 0; i < count; i++, at++) {
		if (i == RING && at < n && !strcmp(argv[at], PLAN_QUICK_END))
			at++;
		if (i == RING && at < n && strcmp(argv[at], words[i]))
			i = BEHIND;
		if (at >= n || (i == IDS ? !remedy_starts(argv[at], words[i])
					 : *words[i] && strcmp(argv[at], words[i])))
			return 0;
	}
	return at < n && !strncmp(argv[at], plan_sched_events[0].name, 18);
}

static int plan_mode(struct record_plan *p, const struct record_wish *x)
{
	struct words *w = &p->record;
	int rc = 0;
	if (x->libc && (x->mode == RECORD_TAIL || x->mode == RECORD_REQUESTS))
		plan_lock_probe(p, x);
	if (x->mode == RECORD_REQUESTS)
		rc = plan_request_probes(p, x);
	words_pair(w, x->perf, "record");
	words_pair(w, "-k", "CLOCK_MONOTONIC");
	words_add(w, x->own_ids ? "--buildid-mmap" : "--buildid-all");
	if (!x->old_perf)
		words_add(w, PLAN_QUICK_END);
	if (x->ring)
		words_ring(w, x->ring);
	if (x->mode == RECORD_CPU)
		plan_cpu(w, x);
	else if (x->off_cpu_ms)
		plan_off_cpu(w, x);
	else
		plan_waits(p, x);
	plan_target(w, x);
	return rc ? rc : w->failed;
}

int record_plan(struct record_plan *p, const struct record_wish *x, struct err *e)
{
	*p = (struct record_plan){0};
	int rc = x->like ? 0 : check(x, e);
	if (rc)
		return rc;
	rc = x->like ? remedy_plan(p, x) : plan_mode(p, x);
	rc = rc ? rc : p->lock_probe.failed ? p->lock_probe.failed : p->undo.failed;
	for (size_t i = 0; i < p->probes.n; i++)
		rc = rc ? rc : p->probes.v[i].failed;
	return rc ? err_nomem(e) : 0;
}
