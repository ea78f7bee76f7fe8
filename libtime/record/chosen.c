#include "libtime/record/chosen.h"
#include "base/cpu_list.h"
#include "base/mem.h"
#include "base/text/buf.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
	FILTER_MAX = 4000, /* the kernel takes a page */
	COMM_SIZE = 16,
	PREFIX = 3,       /* of a name before its number */
	LIST_MAX = 8192,  /* the highest id of a CPU */
	COPY_STEP = 64,   /* sizes of stack copies */
	COPY_LEAST = 512, /* a thread that is asleep may be deeper when it waits next */
	COPY_MOST = 8192,
};

int chosen_any(const struct chosen_wish *w)
{
	return w->pid || w->tid || w->cpus || w->cgroup || w->comm;
}

int chosen_check(const struct chosen_wish *w, struct err *e)
{
	if (!!w->pid + !!w->tid + !!w->cpus + !!w->cgroup + !!w->comm > 1)
		return err_set(e, ERR_USAGE,
			       "give one of --pid, --tid, --cpu, --cgroup, --comm");
	return 0;
}

/* A filter of each event, alternatives joined by ||. */
struct filters {
	struct buf leaving, woken;
};

static void add_text(struct filters *f, const char *op, const char *text)
{
	buf_fmt(&f->leaving, "%sprev_comm %s \"%s\"", f->leaving.n ? " || " : "", op, text);
	buf_fmt(&f->woken, "%scomm %s \"%s\"", f->woken.n ? " || " : "", op, text);
}

static void add_number(struct filters *f, const char *leaving, const char *woken, long n)
{
	buf_fmt(&f->leaving, "%s%s == %ld", f->leaving.n ? " || " : "", leaving, n);
	buf_fmt(&f->woken, "%s%s == %ld", f->woken.n ? " || " : "", woken, n);
}

/* A quote would end the text; a glob takes any character for it. */
static void add_glob(struct filters *f, const char *glob, size_t n)
{
	char text[64];
	snprintf(text, sizeof(text), "%.*s", (int)n, glob);
	for (char *p = text; *p; p++)
		if (*p == '"' || *p == '\\' || !isprint((unsigned char)*p))
			*p = '?';
	add_text(f, strpbrk(text, "*?[") ? "~" : "==", text);
}

/* "front-12" as "front-*": threads of a pool come and go. */
static void add_name(struct filters *f, const char *comm, struct buf *seen)
{
	char text[COMM_SIZE + 2];
	size_t digit = strcspn(comm, "0123456789");
	int is_pool = comm[digit] && digit >= PREFIX;
	snprintf(text, sizeof(text), "%.*s", is_pool ? (int)digit : COMM_SIZE, comm);
	for (char *p = text; (p = strpbrk(p, "*["));)
		*p = '?';
	if (is_pool)
		strcat(text, "*");
	struct buf entry = {0};
	buf_fmt(&entry, "\n%s\n", text);
	if (!strstr(buf_cstr(seen), buf_cstr(&entry))) {
		buf_str(seen, buf_cstr(&entry));
		add_glob(f, text, strlen(text));
	}
	buf_release(&entry);
}

static int add_cpus(struct filters *f, const char *list, struct err *e)
{
	int from, to, r;
	const char *p = list;
	while ((r = cpu_list_next(&p, LIST_MAX, &from, &to)) > 0)
		for (int cpu = from; cpu <= to; cpu++)
			add_number(f, "CPU", "target_cpu", cpu);
	return r || !*list ? err_set(e, ERR_USAGE, "--cpu takes CPUs as 0,2-3, not '%s'", list)
			   : 0;
}

/* The ids of processes, as far as there is room: names choose most of their threads. */
static void add_processes(struct filters *f, const struct chosen_thread *v, size_t n)
{
	enum { ROOM = 40 };
	for (size_t i = 0; i < n && f->leaving.n < FILTER_MAX - ROOM; i++)
		if (v[i].pid == v[i].tid)
			add_number(f, "prev_pid", "pid", v[i].pid);
}

static int add_threads(struct filters *f, const struct chosen_wish *w,
		       const struct chosen_thread *v, size_t n, struct err *e)
{
	struct buf seen = {0};
	for (size_t i = 0; i < n; i++) {
		if (w->pid || w->cgroup)
			add_name(f, v[i].comm, &seen);
		else if (w->tid)
			add_number(f, "prev_pid", "pid", v[i].tid);
	}
	if (w->pid)
		add_processes(f, v, n);
	int rc = buf_failed(&seen) ? err_nomem(e) : 0;
	buf_release(&seen);
	return rc;
}

static int add_all(struct filters *f, const struct chosen_wish *w,
		   const struct chosen_thread *v, size_t n, struct err *e)
{
	for (const char *p = w->comm; p && *p; p += strcspn(p, ","), p += *p == ',')
		if (*p != ',')
			add_glob(f, p, strcspn(p, ","));
	int rc = add_threads(f, w, v, n, e);
	if (!rc && w->cpus)
		rc = add_cpus(f, w->cpus, e);
	if (!rc && (f->leaving.n > FILTER_MAX || f->woken.n > FILTER_MAX))
		rc = err_set(
			e, ERR_USAGE,
			w->pid || w->cgroup
				? "the threads have more names than a filter holds: choose "
				  "by --comm GLOB"
				: "that is more than a filter of %u bytes holds: name fewer",
			FILTER_MAX);
	if (!rc && !f->leaving.n)
		rc = err_set(e, ERR_USAGE, "no thread is named");
	return rc;
}

int chosen_filters(struct chosen *out, const struct chosen_wish *w,
		   const struct chosen_thread *v, size_t n, struct err *e)
{
	struct filters f = {0};
	*out = (struct chosen){0};
	int rc = add_all(&f, w, v, n, e);
	if (!rc) {
		out->leaving = mem_strdup(buf_cstr(&f.leaving));
		out->woken = mem_strdup(buf_cstr(&f.woken));
		if (buf_failed(&f.leaving) || buf_failed(&f.woken) || !out->leaving ||
		    !out->woken)
			rc = err_nomem(e);
	}
	buf_release(&f.leaving);
	buf_release(&f.woken);
	return rc;
}

void chosen_release(struct chosen *c)
{
	mem_free(c->leaving);
	mem_free(c->woken);
	*c = (struct chosen){0};
}

int chosen_copy(uint64_t used)
{
	if (!used)
		return 0;
	if (used > COPY_MOST)
		return COPY_MOST;
	uint64_t copy = (used + used / 2 + COPY_STEP - 1) / COPY_STEP * COPY_STEP;
	return copy < COPY_LEAST ? COPY_LEAST : copy > COPY_MOST ? COPY_MOST : (int)copy;
}
