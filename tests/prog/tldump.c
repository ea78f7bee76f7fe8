/*
 * tldump FILE [-c | -s [SPAN...]] - the timeline of a recording or a store as text: one line an
 * interval, for tests and comparisons. -c: read and check only, and say how long it took. -s:
 * the spans instead, those named too.
 */
#include "libtime/build/build.h"
#include "libtime/causes/causes.h"
#include "libtime/sched/timeline_answers.h"
#include "libtime/sched/timeline_names.h"
#include "libtime/store/store.h"
#include "libtime/store/store_read.h"
#include "tests/lib/unit.h"

#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static const char *leaf(const struct timeline *tl, uint32_t path, int kind)
{
	const struct stacks *s = tl->stacks;
	for (; path; path = s->paths.v[path].parent) {
		const struct frame *f = &s->frames.v[s->paths.v[path].frame];
		if ((f->kind == FRAME_KERNEL) == kind)
			return f->name ? strtab_get(&s->strings, f->name) : "?";
	}
	return "-";
}

static void print_off(const struct timeline *tl, const struct offcpu *o)
{
	const struct tl_thread *t = &tl->threads.v[o->thread];
	const struct strtab *names = &tl->stacks->strings;
	char slack[32] = "";
	if (o->slack_ns)
		snprintf(slack, sizeof(slack), " slack=%u", o->slack_ns);
	printf("%d %s %llu %llu blocked=%llu runnable=%llu preempted=%llu state=%s "
	       "cause=%s%s%s%s%s%s "
	       "unknown=%s cpu=%d>%d ctx=%s waker=%d leaf=%s<-%s\n",
	       t->tid, strtab_get(names, o->comm), (unsigned long long)o->start_ns,
	       (unsigned long long)o->end_ns, (unsigned long long)o->blocked_ns,
	       (unsigned long long)offcpu_runnable_ns(o),
	       (unsigned long long)offcpu_preempted_ns(o),
	       strtab_get(names, tl->states[o->state]), cause_name(o->cause),
	       o->flags & OFF_IDLE ? " idle" : "", t->flags & THREAD_SYSTEM ? " system" : "",
	       o->flags & OFF_OPEN ? " open" : "", o->flags & OFF_SUSPECT ? " suspect" : "",
	       slack, unknown_reason_name(o->unknown), o->cpu_out == TL_NOCPU ? -1 : o->cpu_out,
	       o->cpu_in == TL_NOCPU ? -1 : o->cpu_in, waker_context_name(o->waker_context),
	       o->waker == TL_NONE ? -1 : tl->threads.v[o->waker].tid, leaf(tl, o->path, 1),
	       leaf(tl, o->path, 0));
}

static void print_span(const struct timeline *tl, const struct tl_span *x)
{
	const struct tl_thread *t = tl->threads.v;
	printf("%s %d>%d %llu %llu run=%llu blocked=%llu runnable=%llu preempted=%llu "
	       "unknown=%llu key=%llu parent=%lld%s%s\n",
	       strtab_get(&tl->stacks->strings, x->name), t[x->thread].tid,
	       t[x->end_thread].tid, (unsigned long long)x->start_ns,
	       (unsigned long long)x->end_ns, (unsigned long long)x->run_ns,
	       (unsigned long long)x->blocked_ns, (unsigned long long)x->runnable_ns,
	       (unsigned long long)x->preempted_ns, (unsigned long long)x->unknown_ns,
	       (unsigned long long)x->key, x->parent == TL_NONE ? -1 : (long long)x->parent,
	       x->flags & OFF_OPEN ? " open" : "", x->flags & OFF_SUSPECT ? " suspect" : "");
}

static int build(const char *path, char **spans, int nspans, struct profile **p,
		 struct timeline *tl, struct err *e)
{
	struct profile_options po = {.modules.inlines = 1, .names.inlines = 1};
	struct build_options bo = {.spans = (const char *const *)spans,
				   .nspans = (size_t)nspans};
	struct causes *c = NULL;
	int r = profile_open(p, path, &po, e);
	if (r)
		return r;
	double t0 = now();
	r = timeline_build(*p, &bo, tl, e);
	double t1 = now();
	if (!r)
		r = causes_new(&c, e);
	if (!r)
		r = causes_apply(c, tl, e);
	fprintf(stderr,
		"build %.3f s, causes %.3f s, %zu threads, %zu intervals, %zu samples, "
		"%zu stacks, %zu losses, %llu stray samples\n",
		t1 - t0, now() - t1, tl->threads.n, tl->offcpu.n, tl->samples.n,
		tl->stacks->paths.n, tl->losses.n, (unsigned long long)tl->stray_samples);
	causes_free(c);
	return r;
}

int main(int argc, char **argv)
{
	struct profile *p = NULL;
	struct stacks stacks = {0};
	struct timeline tl = {0};
	struct err e = {0};
	struct store *s = NULL;
	char head[16] = "";
	FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
	size_t n = f ? fread(head, 1, sizeof(head), f) : 0;
	int r;
	if (f)
		fclose(f);
	if (argc < 2)
		return 2;
	if (store_is_sqlite(head, n)) {
		r = store_open(&s, argv[1], &e);
		if (!r)
			r = store_load(s, 0, 0, &tl, &stacks, &e);
		store_close(s);
	} else {
		r = build(argv[1], argv + 3, argc > 3 ? argc - 3 : 0, &p, &tl, &e);
	}
	if (!r)
		r = timeline_check(&tl, &e);
	if (r)
		fprintf(stderr, "tldump: %s\n", e.msg);
	for (size_t i = 0; !r && argc < 3 && i < tl.offcpu.n; i++)
		print_off(&tl, &tl.offcpu.v[i]);
	for (size_t i = 0; !r && argc > 2 && !strcmp(argv[2], "-s") && i < tl.spans.n; i++)
		print_span(&tl, &tl.spans.v[i]);
	if (!r && timeline_answerable(&tl, 1, &e))
		fprintf(stderr, "refused: %s\n", e.msg);
	timeline_release(&tl);
	stacks_release(&stacks);
	profile_close(p);
	return r != 0;
}
