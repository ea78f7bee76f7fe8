#include "libtime/population/meant.h"
#include "base/mem.h"
#include "base/text/glob.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	INIT = 1,           /* the process that gets those whose parents have ended */
	SAMPLES_LEAST = 20, /* fewer show nothing */
	SHARE = 100,        /* 1 / SHARE of all samples */
	NAMES_SHOWN = 3,
	COMM_SIZE = 16,
};

static const char fact_kind[] = "population", fact_pid[] = "pid", fact_name[] = "name";

/* Did perf run a command, and nothing else says who is meant? */
static int asks_for_command(const struct recorded_for *w)
{
	return w->whole && w->command && !w->ids.n && !w->comms.n;
}

void recorded_for_release(struct recorded_for *w)
{
	for (size_t i = 0; i < w->comms.n; i++)
		mem_free(w->comms.v[i]);
	vec_release(&w->comms);
	vec_release(&w->ids);
}

void meant_release(struct meant *w)
{
	vec_release(&w->pids);
	buf_release(&w->name);
}

static int pid_order(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return (x > y) - (x < y);
}

int meant_has(const struct meant *w, int32_t pid)
{
	return w->pids.n && bsearch(&pid, w->pids.v, w->pids.n, sizeof(pid), pid_order);
}

/* --- processes ------------------------------------------------------------------------ */

struct choice {
	const struct recorded_for *for_whom;
	const struct machine *m;
	struct strtab *strings;
	uint8_t *state; /* by process: enum state */
	char recorder[COMM_SIZE];
};

enum state { UNDECIDED, CHOSEN, CHILD, OUTSIDE };

static const char *comm_text(const struct choice *c, uint32_t comm)
{
	return strtab_get(c->strings, comm);
}

/* The main thread of a process: of the thread's lives the one of this process. */
static const struct thread *main_thread(const struct choice *c, uint32_t process)
{
	uint32_t at;
	int32_t pid = c->m->processes.v[process].pid;
	if (!u64map_get(&c->m->by_tid, (uint32_t)pid, &at))
		return NULL;
	for (; at != NO_ID; at = c->m->threads.v[at].life.older)
		if (c->m->threads.v[at].process == process)
			return &c->m->threads.v[at];
	return NULL;
}

/* The name of a thread just before a time, "" if it had none. */
static const char *comm_before(const struct choice *c, const struct thread *t, uint64_t ns)
{
	size_t i = t->comms.n;
	while (i && t->comms.v[i - 1].since >= ns)
		i--;
	return i ? comm_text(c, t->comms.v[i - 1].comm) : "";
}

static const char *last_comm(const struct choice *c, uint32_t process)
{
	const struct thread *t = main_thread(c, process);
	return t && t->comms.n ? comm_text(c, t->comms.v[t->comms.n - 1].comm) : "";
}

/* The name of the program: what its last exec made it, as it may call its first thread by another
 * name later. */
static const char *program_name(const struct choice *c, uint32_t process)
{
	const struct process *p = &c->m->processes.v[process];
	const struct thread *t = main_thread(c, process);
	uint64_t since = p->images.n ? p->images.v[p->images.n - 1].since : 0;
	const char *name = t && since > p->life.start ? comm_before(c, t, since + 1) : "";
	return *name ? name : last_comm(c, process);
}

/* The last part of a path, as the kernel makes a name of it. */
static void comm_of_path(char comm[COMM_SIZE], const char *path)
{
	const char *slash = strrchr(path, '/');
	snprintf(comm, COMM_SIZE, "%s", slash ? slash + 1 : path);
}

/* perf's child until it calls exec. */
static int is_perf_child(const struct choice *c, const char *comm)
{
	return !strcmp(comm, "perf-exec") || !strcmp(comm, c->recorder);
}

/* The recorder: called like it, and no exec of it was recorded. perfkit runs perf. */
static int is_recorder(const struct choice *c, uint32_t process)
{
	const char *comm = last_comm(c, process);
	return c->m->processes.v[process].images.n < 2 &&
	       (is_perf_child(c, comm) || !strcmp(comm, "perfkit"));
}

/* When a process called its first exec in the recording; UINT64_MAX: never. */
static uint64_t first_exec(const struct process *p)
{
	for (size_t i = 0; i < p->images.n; i++)
		if (p->images.v[i].since > p->life.start)
			return p->images.v[i].since;
	return UINT64_MAX;
}

/* 1 if a process, whose first exec was at `ns`, had been perf's child before, or nothing; what
 * *named says is whether it then had the name. */
static int was_perf_child(const struct choice *c, uint32_t process, uint64_t ns,
			  const char *name, int *named)
{
	const struct thread *t = main_thread(c, process);
	if (!t)
		return 0;
	const char *before = comm_before(c, t, ns);
	*named = !strcmp(comm_before(c, t, ns + 1), name);
	return *before ? is_perf_child(c, before) : *named;
}

/*
 * The process that became the command: the first that got its name by an exec and had been
 * perf's child before, as far as it had a name; else the only such child that was there when the
 * recording began, whatever its name. Other perfs may start something meanwhile. NO_ID: none.
 */
static uint32_t find_command(const struct choice *c)
{
	uint32_t best = NO_ID, other = NO_ID;
	uint64_t best_ns = UINT64_MAX;
	size_t others = 0;
	char command[COMM_SIZE];
	comm_of_path(command, c->for_whom->command);
	for (uint32_t i = 0; i < c->m->processes.n; i++) {
		uint64_t ns = first_exec(&c->m->processes.v[i]);
		int named;
		if (ns == UINT64_MAX || !was_perf_child(c, i, ns, command, &named))
			continue;
		if (named && ns < best_ns) {
			best = i;
			best_ns = ns;
		} else if (!c->m->processes.v[i].life.start) {
			other = i;
			others++;
		}
	}
	return best != NO_ID ? best : others == 1 ? other : NO_ID;
}

/* --- choosing ------------------------------------------------------------------------- */

static void choose(struct choice *c, uint32_t process)
{
	if (process != NO_ID && c->m->processes.v[process].pid > 0 && !is_recorder(c, process))
		c->state[process] = CHOSEN;
}

/* The processes of the threads with an id, whose lives may be several. */
static void choose_ids(struct choice *c)
{
	for (size_t i = 0; i < c->for_whom->ids.n; i++) {
		uint32_t at = NO_ID;
		u64map_get(&c->m->by_tid, (uint32_t)c->for_whom->ids.v[i], &at);
		for (; at != NO_ID; at = c->m->threads.v[at].life.older)
			choose(c, c->m->threads.v[at].process);
	}
}

/* 1 if a thread had one of the names, for longer than a fork has its parent's. */
static int had_name(const struct choice *c, const struct thread *t)
{
	const struct recorded_for *w = c->for_whom;
	for (size_t k = 0; k < t->comms.n; k++) {
		int stayed =
			k + 1 == t->comms.n || t->comms.v[k + 1].since > t->comms.v[k].since;
		if (stayed && glob_any((const char *const *)w->comms.v, w->comms.n,
				       comm_text(c, t->comms.v[k].comm)))
			return 1;
	}
	return 0;
}

static void choose_names(struct choice *c)
{
	for (size_t i = 0; i < c->m->threads.n; i++)
		if (had_name(c, &c->m->threads.v[i]))
			choose(c, c->m->threads.v[i].process);
}

/* The process that had the pid when `process` began. */
static uint32_t parent_of(const struct choice *c, uint32_t process)
{
	const struct process *p = &c->m->processes.v[process];
	uint32_t at = NO_ID;
	if (p->ppid <= INIT || p->ppid == p->pid)
		return NO_ID;
	u64map_get(&c->m->by_pid, (uint32_t)p->ppid, &at);
	while (at != NO_ID && c->m->processes.v[at].life.start > p->life.start)
		at = c->m->processes.v[at].life.older;
	return at;
}

/* The parent whose choice a process shares; the recorder shares none. */
static uint32_t up(const struct choice *c, uint32_t process)
{
	return is_recorder(c, process) ? NO_ID : parent_of(c, process);
}

/* Decide about the rest: children of chosen processes, and theirs, are meant too. */
static void add_children(struct choice *c)
{
	for (uint32_t i = 0; i < c->m->processes.n; i++) {
		uint32_t at = i;
		for (; at != NO_ID && c->state[at] == UNDECIDED; at = up(c, at))
			c->state[at] = OUTSIDE;
		if (at == NO_ID || c->state[at] == OUTSIDE)
			continue;
		for (at = i; c->state[at] == OUTSIDE; at = up(c, at))
			c->state[at] = CHILD;
	}
}

/* --- did the command work? ------------------------------------------------------------- */

/* The samples of programs: not of the idle task, nor of the recorder. */
static uint64_t all_samples(const struct choice *c, const struct activity *a)
{
	uint64_t n = 0;
	for (size_t i = 0; i < a->v.n; i++) {
		uint32_t process;
		int32_t pid = a->v.v[i].pid;
		int known = u64map_get(&c->m->by_pid, (uint32_t)pid, &process);
		if (pid > 0 && !(known && is_recorder(c, process)))
			n += a->v.v[i].samples;
	}
	return n;
}

static int worked(const struct choice *c, const struct meant *w, const struct activity *a)
{
	struct pid_activity sum = {0};
	for (size_t i = 0; i < w->pids.n; i++)
		activity_sum(a, w->pids.v[i], &sum);
	return sum.n == ACTIVITY_MOMENTS && sum.samples >= SAMPLES_LEAST &&
	       sum.samples >= all_samples(c, a) / SHARE;
}

/* --- names ---------------------------------------------------------------------------- */

/* The names of the chosen processes, those of the first ones first. */
static void name_all(const struct choice *c, struct buf *out)
{
	const char *shown[NAMES_SHOWN];
	size_t n = 0, more = 0;
	for (uint32_t i = 0; i < c->m->processes.n; i++) {
		const char *comm = c->state[i] == CHOSEN ? program_name(c, i) : "";
		size_t k = 0;
		while (k < n && strcmp(shown[k], comm) != 0)
			k++;
		if (!*comm || k < n)
			continue;
		if (n < NAMES_SHOWN)
			shown[n++] = comm;
		else
			more++;
	}
	for (size_t i = 0; i < n; i++)
		buf_fmt(out, "%s%s", i ? ", " : "", shown[i]);
	if (more)
		buf_fmt(out, " and %zu more", more);
}

static int list_pids(const struct choice *c, struct meant *out)
{
	size_t n = 0;
	for (uint32_t i = 0; i < c->m->processes.n; i++)
		if ((c->state[i] == CHOSEN || c->state[i] == CHILD) &&
		    vec_push(&out->pids, c->m->processes.v[i].pid))
			return ERR_NOMEM;
	if (out->pids.n)
		qsort(out->pids.v, out->pids.n, sizeof(*out->pids.v), pid_order);
	for (size_t i = 0; i < out->pids.n; i++)
		if (!n || out->pids.v[n - 1] != out->pids.v[i])
			out->pids.v[n++] = out->pids.v[i];
	out->pids.n = n;
	return 0;
}

int meant_find(struct meant *out, const struct recorded_for *w, const struct machine *m,
	       const struct activity *a, struct err *e)
{
	struct choice c = {.for_whom = w, .m = m, .strings = m->strings};
	int by_command = asks_for_command(w);
	*out = (struct meant){0};
	if (!w->whole || (!w->ids.n && !w->comms.n && !by_command))
		return 0;
	comm_of_path(c.recorder, w->recorder ? w->recorder : "perf");
	c.state = mem_zalloc(m->processes.n + 1, 1);
	if (!c.state)
		return err_nomem(e);
	if (w->ids.n)
		choose_ids(&c);
	else if (w->comms.n)
		choose_names(&c);
	else
		choose(&c, find_command(&c));
	add_children(&c);
	int r = list_pids(&c, out);
	if (!r && by_command && !worked(&c, out, a))
		out->pids.n = 0;
	if (!r && out->pids.n)
		name_all(&c, &out->name);
	mem_free(c.state);
	return r || buf_failed(&out->name) ? err_nomem(e) : 0;
}

/* --- facts ---------------------------------------------------------------------------- */

static int add_fact(struct timeline *tl, const char *subject, const char *key,
		    const char *value)
{
	struct strtab *s = &tl->stacks->strings;
	struct tl_fact f = {0};
	return strtab_intern(s, fact_kind, &f.kind) || strtab_intern(s, subject, &f.subject) ||
	       strtab_intern(s, key, &f.key) || strtab_intern(s, value, &f.before) ||
	       vec_push(&tl->facts, f);
}

int meant_keep(struct meant *w, struct timeline *tl, struct err *e)
{
	char pid[16];
	int r = w->pids.n ? add_fact(tl, fact_name, fact_name, buf_cstr(&w->name)) : 0;
	for (size_t i = 0; !r && i < w->pids.n; i++) {
		snprintf(pid, sizeof(pid), "%d", w->pids.v[i]);
		r = add_fact(tl, pid, fact_pid, pid);
	}
	return r ? err_nomem(e) : 0;
}

/* One recording of a timeline. */
struct part {
	uint32_t thread, thread_end;
	size_t fact, fact_end, event_sample, event_sample_end, sum, sum_end;
};

static struct part part_at(const struct timeline *tl, size_t i)
{
	const struct tl_part whole = {0};
	const struct tl_part *p = tl->parts.n ? &tl->parts.v[i] : &whole;
	const struct tl_part *next = i + 1 < tl->parts.n ? p + 1 : NULL;
	return (struct part){
		.thread = p->thread_first,
		.thread_end = next ? next->thread_first : (uint32_t)tl->threads.n,
		.fact = p->fact_first,
		.fact_end = next ? next->fact_first : tl->facts.n,
		.event_sample = p->event_sample_first,
		.event_sample_end = next ? next->event_sample_first : tl->event_samples.n,
		.sum = p->sum_first,
		.sum_end = next ? next->sum_first : tl->sums.n,
	};
}

/* The recording's choice, from its facts. */
static int read_part(const struct timeline *tl, const struct part *p, struct u64map *pids,
		     struct buf *name)
{
	const struct strtab *s = &tl->stacks->strings;
	uint32_t kind, key;
	if (!strtab_find(s, fact_kind, &kind) || !strtab_find(s, fact_name, &key))
		return 0;
	for (size_t i = p->fact; i < p->fact_end; i++) {
		const struct tl_fact *f = &tl->facts.v[i];
		if (f->kind != kind)
			continue;
		const char *value = strtab_get(s, f->before);
		if (f->key == key && !(name->n && strstr(buf_cstr(name), value)))
			buf_fmt(name, "%s%s", name->n ? ", " : "", value);
		if (f->key != key && u64map_put(pids, (uint32_t)strtol(value, NULL, 10), 1))
			return ERR_NOMEM;
	}
	return buf_failed(name) ? ERR_NOMEM : 0;
}

static uint8_t is_in(const struct u64map *pids, int32_t pid)
{
	uint32_t yes;
	return !pids->n || u64map_get(pids, (uint32_t)pid, &yes);
}

static void mark_part(struct timeline *tl, const struct part *p, const struct u64map *pids)
{
	for (uint32_t i = p->thread; i < p->thread_end; i++)
		if (is_in(pids, tl->threads.v[i].pid))
			tl->threads.v[i].flags |= THREAD_MEANT;
	for (size_t i = p->event_sample; i < p->event_sample_end; i++)
		tl->event_samples.v[i].meant = is_in(pids, tl->event_samples.v[i].pid);
	for (size_t i = p->sum; i < p->sum_end; i++)
		tl->sums.v[i].meant = is_in(pids, tl->sums.v[i].pid);
}

int meant_mark(struct timeline *tl, int *any, struct buf *name, struct err *e)
{
	size_t n = tl->parts.n ? tl->parts.n : 1;
	int r = 0;
	*any = 0;
	for (size_t i = 0; !r && i < n; i++) {
		struct part p = part_at(tl, i);
		struct u64map pids = {0};
		r = read_part(tl, &p, &pids, name);
		*any |= pids.n > 0;
		if (!r)
			mark_part(tl, &p, &pids);
		u64map_release(&pids);
	}
	return r ? err_nomem(e) : 0;
}
