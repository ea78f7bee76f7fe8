/* build_end.c - after the last record: names, contexts, system threads; see build_internal.h.
 */
#include "base/mem.h"
#include "base/text/glob.h"
#include "libtime/build/build_internal.h"

#include <stdlib.h>
#include <string.h>

/* In a stream, deferred user chains follow their samples, so they are joined at the end. */
static int join_late_chains(struct builder *b)
{
	const uint64_t *words;
	size_t n;
	int r = 0;
	for (size_t i = 1; b->expander && r >= 0 && i < b->chains.v.n; i++) {
		struct stack_entry *x = &b->chains.v.v[i];
		if (x->kind != CHAIN_RAW ||
		    !attr_flag(&b->rec->events.v[x->event].attr, ATTR_DEFER_CALLCHAIN))
			continue;
		r = expander_join_deferred(b->expander, x->words, x->nwords, b->rec->swap,
					   &words, &n);
		if (r <= 0)
			continue;
		uint8_t *copy = arena_alloc(&b->chains.words, n * 8 + 1);
		if (!copy)
			return ERR_NOMEM;
		memcpy(copy, words, n * 8);
		x->kind = CHAIN_UNWOUND;
		x->words = copy;
		x->nwords = (uint32_t)n;
	}
	return r < 0 ? r : 0;
}

/* The address space of each stack, now that all mappings and names are known: some records came
 * later than the times they are about. */
static void resolve_spaces(struct builder *b)
{
	for (size_t i = 1; i < b->chains.v.n; i++) {
		struct stack_entry *x = &b->chains.v.v[i];
		struct thread_view v;
		machine_thread_at(&b->p->machine, x->pid, x->tid, x->first, &v);
		x->space = v.space;
		x->version = v.version;
	}
}

/* Raw stack numbers → call paths. */
static int name_chains(struct builder *b, struct err *e)
{
	struct timeline *tl = b->tl;
	uint32_t *path = NULL;
	int any = raw_chains_any(&b->chains), r = 0;
	if (!b->sideband_done) {
		r = machine_advance(&b->p->machine, TIME_END, e);
		if (!r)
			r = machine_set_build_ids(&b->p->machine, b->rec, e);
		if (!r && join_late_chains(b))
			r = err_nomem(e);
		resolve_spaces(b);
	}
	modules_prepare_end(b->p->modules, !r);
	if (!r && profile_note_build_ids(b->p))
		r = err_nomem(e);
	if (!r)
		r = raw_chains_name(&b->chains, &b->p->names, &path, e);
	for (size_t i = 0; !r && any && i < tl->offcpu.n; i++) { /* else all are 0 */
		tl->offcpu.v[i].path = path[tl->offcpu.v[i].path];
		tl->offcpu.v[i].waker_path = path[tl->offcpu.v[i].waker_path];
	}
	for (size_t i = 0; !r && i < tl->samples.n; i++)
		tl->samples.v[i].path = path[tl->samples.v[i].path];
	for (size_t i = 0; !r && i < tl->event_samples.n; i++)
		tl->event_samples.v[i].path = path[tl->event_samples.v[i].path];
	for (size_t i = 0; !r && i < tl->marks.n; i++)
		tl->marks.v[i].path = path[tl->marks.v[i].path];
	for (size_t i = 0; !r && i < tl->totals.n; i++)
		tl->totals.v[i].path = path[tl->totals.v[i].path];
	mem_free(path);
	return r;
}

/* Functions that send packets: the softirqs that they raise may run in the same task at once.
 */
static int sends(const char *name)
{
	static const char *const parts[] = {"xmit", "finish_output", "sendmsg", "netif_rx",
					    "tun_"};
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strstr(name, parts[i]))
			return 1;
	return 0;
}

/* 1 if the current task's own sending ran the softirq of this stack. It did not on the way out
 * of an interrupt, in ksoftirqd, or where the task enabled softirqs for another reason
 * (fpu_clone, begin_new_exec): then others had raised it. */
static int ran_inline(const struct stacks *s, uint32_t path)
{
	static const char *const yes[] = {"do_softirq", "__local_bh_enable_ip",
					  "do_softirq_own_stack"};
	int inside = 0;
	static const char *const no[] = {"irq_exit", "irq_exit_rcu", "__irq_exit_rcu",
					 "run_ksoftirqd"};
	for (; path; path = s->paths.v[path].parent) {
		const struct frame *f = &s->frames.v[s->paths.v[path].frame];
		const char *name = strtab_get(&s->strings, f->name);
		if (f->kind != FRAME_KERNEL)
			return 0;
		for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
			if (!strcmp(name, no[i]))
				return 0;
		for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
			inside |= !strcmp(name, yes[i]);
		if (inside && sends(name))
			return 1;
	}
	return 0;
}

static int resolve_context(struct builder *b, struct err *e)
{
	struct timeline *tl = b->tl;
	struct u64map memo = {0};
	int r = 0;
	for (size_t i = 0; !r && i < tl->offcpu.n; i++) {
		struct offcpu *o = &tl->offcpu.v[i];
		uint32_t inl;
		if (o->waker_context != WAKER_SOFTIRQ_INLINE)
			continue;
		if (!u64map_get(&memo, o->waker_path, &inl)) {
			inl = (uint32_t)ran_inline(tl->stacks, o->waker_path);
			r = u64map_put(&memo, o->waker_path, inl);
		}
		if (inl)
			continue;
		o->waker_context = WAKER_SOFTIRQ;
		o->waker = TL_NONE;
	}
	u64map_release(&memo);
	return r ? err_nomem(e) : 0;
}

/* The name of the recorder's command as a comm. */
static void recorder_name(const struct builder *b, char name[16])
{
	const char *cmd = b->rec->features.cmdline;
	memcpy(name, "perf", sizeof("perf"));
	if (cmd && *cmd) {
		size_t n = strcspn(cmd, " "), base = n;
		while (base && cmd[base - 1] != '/')
			base--;
		n -= base;
		n = n < 15 ? n : 15;
		memcpy(name, cmd + base, n);
		name[n] = '\0';
	}
}

/* The recorder: a process with the name of the recorder's command that existed before the
 * recording, and the command that it ran (`sleep 10`), at first as its child before exec. */
static int is_recorder(const struct builder *b, const struct tl_thread *t)
{
	const struct strtab *s = &b->p->stacks.strings;
	const char *comm = strtab_get(s, t->comm);
	char name[16];
	uint32_t seen;
	struct thread_view v;
	if (t->pid <= 0)
		return 0;
	recorder_name(b, name);
	if (strcmp(comm, "sleep") != 0)
		return !strcmp(comm, name) &&
		       !u64map_get(&b->execed, (uint64_t)(uint32_t)t->pid, &seen);
	machine_thread_at(&b->p->machine, t->pid, t->tid, 0, &v);
	const char *before = v.comm == NO_ID ? "" : strtab_get(s, v.comm);
	return !strcmp(before, "perf-exec") || !strcmp(before, name);
}

/* Kernel threads by name, if no record has their parent. */
static int is_kernel_name(const char *comm)
{
	static const char *const globs[] = {"kworker/*", "ksoftirqd/*", "migration/*",
					    "rcu_*",     "kswapd*",     "kthreadd",
					    "cpuhp/*",   "watchdog/*"};
	return glob_any(globs, sizeof(globs) / sizeof(*globs), comm);
}

static void describe_threads(struct builder *b)
{
	for (size_t i = 0; i < b->tl->threads.n; i++) {
		struct tl_thread *t = &b->tl->threads.v[i];
		uint32_t seen, program = machine_program(&b->p->machine, t->pid);
		t->program = program == NO_ID ? 0 : program;
		int32_t pid = t->pid >= 0 ? t->pid : t->tid;
		if (u64map_get(&b->kernel_pids, (uint64_t)(uint32_t)pid, &seen) ||
		    (t->pid < 0 && is_kernel_name(strtab_get(&b->p->stacks.strings, t->comm))))
			t->flags |= THREAD_KERNEL;
		else if (is_recorder(b, t))
			t->flags |= THREAD_RECORDER;
	}
}

static int intern_opt(struct builder *b, const char *s, uint32_t *id)
{
	s = s ? s : "";
	return strtab_intern_line(&b->p->stacks.strings, s, strlen(s), id);
}

static const char *clock_name(const struct recording *rec)
{
	static const char *const names[] = {
		"CLOCK_REALTIME",          "CLOCK_MONOTONIC",     "CLOCK_PROCESS_CPUTIME_ID",
		"CLOCK_THREAD_CPUTIME_ID", "CLOCK_MONOTONIC_RAW", "CLOCK_REALTIME_COARSE",
		"CLOCK_MONOTONIC_COARSE",  "CLOCK_BOOTTIME"};
	for (size_t i = 0; i < rec->events.n; i++) {
		const struct event_attr *a = &rec->events.v[i].attr;
		if (attr_flag(a, ATTR_USE_CLOCKID) && a->clockid >= 0 &&
		    (size_t)a->clockid < sizeof(names) / sizeof(*names))
			return names[a->clockid];
	}
	return "perf";
}

static int describe(struct builder *b, struct err *e)
{
	const struct features *f = &b->rec->features;
	struct tl_recording *out = &b->tl->rec;
	if (intern_opt(b, f->hostname, &out->host) || intern_opt(b, b->rec->name, &out->file) ||
	    intern_opt(b, clock_name(b->rec), &out->clock) ||
	    intern_opt(b, f->osrelease, &out->kernel) || intern_opt(b, f->arch, &out->arch) ||
	    intern_opt(b, f->cmdline, &out->cmdline))
		return err_nomem(e);
	out->origin_ns = b->first_ns;
	out->end_ns = b->last_ns;
	out->ncpus = f->cpus_available;
	out->tsc = f->tsc;
	if (f->has_clock_data && f->wall_ns) {
		out->wall_ns = f->wall_ns + (b->first_ns - f->clockid_ns);
		out->wall_exact = 1;
	}
	return 0;
}

/* A measured time; 0 if the text is not a number below a second. */
static uint32_t probe_ns(const char *text)
{
	enum { SECOND = 1000000000 };
	uint64_t ns = strtoull(text, NULL, 10);
	return text[strspn(text, "0123456789")] || ns >= SECOND ? 0 : (uint32_t)ns;
}

static int is_cost(const char *key)
{
	return !strcmp(key, "return_ns") || !strcmp(key, "lines_ns");
}

/* What perfkit record measured of the probes (`fact probe`). */
static int add_probe_costs(struct builder *b, struct err *e)
{
	const struct fact_table *t = b->opt->context ? fd_context_facts(b->opt->context) : NULL;
	int r = 0;
	for (size_t i = 0; t && !r && i < t->v.n; i++) {
		const struct tl_fact *f = &t->v.v[i];
		uint32_t name;
		uint32_t ns = probe_ns(strtab_get(&t->names, f->before));
		if (!ns || strcmp(strtab_get(&t->names, f->kind), "probe") ||
		    !is_cost(strtab_get(&t->names, f->key)) ||
		    !strtab_find(&b->p->stacks.strings, strtab_get(&t->names, f->subject),
				 &name))
			continue;
		r = spans_probe_cost(b->spans, name, ns, e);
	}
	return r;
}

int builder_finish(struct builder *b, struct err *e)
{
	int r = raw_chains_name_wait(&b->chains) ? err_nomem(e) : 0;
	if (!r && !b->sched)
		r = builder_begin(b, e);
	if (!r)
		r = sched_finish(b->sched, b->last_ns, e);
	if (!r)
		r = add_probe_costs(b, e);
	if (!r)
		r = spans_finish(b->spans, b->first_ns, b->last_ns, e);
	if (!r)
		r = name_chains(b, e);
	if (!r)
		r = resolve_context(b, e);
	if (!r)
		r = builder_find_arguments(b, e);
	if (!r)
		describe_threads(b);
	return r ? r : describe(b, e);
}
