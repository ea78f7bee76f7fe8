#include "libtime/doctor/scope.h"
#include "base/mem.h"

#include <string.h>

/* What a stack lacks; for a wait also what its times lack. */
enum lack {
	LACKS_KERNEL_NAME = 1,
	LACKS_USER_NAME = 2,
	LACKS_CALLERS = 4, /* it begins at a mark: [truncated] */
	LACKS_RECORDS = 8, /* the wait is suspect */
	LACKS_WAKEUP = 16,
	HAS_USER = 32, /* lacks nothing, but findings about user stacks affect it */
	LACKS = 6,
	LACKS_SAMPLES = 64 /* counted ones: it is not known whose are missing */
};

/* Findings that are about only one of these. All others stay. */
static const struct {
	const char *id;
	unsigned lack;
} about[] = {
	{"lost-records", LACKS_RECORDS | LACKS_SAMPLES},
	{"holes", LACKS_RECORDS},
	{"some-cpus", LACKS_RECORDS},
	{"wakeups-missing", LACKS_WAKEUP},
	{"fp-ends-in-libc", HAS_USER},
	{"truncated-dumps", LACKS_CALLERS},
	{"deep-stacks", LACKS_CALLERS},
	{"kptr-restrict", LACKS_KERNEL_NAME},
	{"kernel-mismatch", LACKS_KERNEL_NAME},
	{"no-kernel-symbols", LACKS_KERNEL_NAME},
	{"build-id-mismatch", LACKS_USER_NAME},
	{"shared-path", LACKS_USER_NAME},
	{"no-build-ids", LACKS_USER_NAME},
	{"missing-symbols", LACKS_USER_NAME},
	{"mappings-missing", LACKS_USER_NAME},
	{"unmapped-frames", LACKS_USER_NAME},
	{"unwind-stopped", LACKS_USER_NAME},
};

struct scope {
	uint8_t *paths; /* by path: enum lack bits of the stack */
	uint64_t all, lacking[LACKS];
	int of_samples; /* the question is about samples */
};

static uint8_t frame_lacks(const struct frame *f, int is_root)
{
	if (f->kind == FRAME_MARK)
		return is_root ? LACKS_CALLERS : 0;
	uint8_t user = f->kind == FRAME_USER || f->kind == FRAME_JIT ? HAS_USER : 0;
	if (f->name)
		return user;
	if (f->kind == FRAME_KERNEL || f->addr >> 48 == 0xffff)
		return LACKS_KERNEL_NAME;
	return LACKS_USER_NAME | user;
}

/* Callers have lower ids than what they call. */
static int find_lacks(struct scope *s, const struct stacks *st)
{
	s->paths = mem_zalloc(st->paths.n + 1, 1);
	if (!s->paths)
		return ERR_NOMEM;
	for (size_t i = 1; i < st->paths.n; i++) {
		const struct call_path *p = &st->paths.v[i];
		s->paths[i] =
			s->paths[p->parent] | frame_lacks(&st->frames.v[p->frame], !p->parent);
	}
	return 0;
}

static void count(struct scope *s, unsigned lacks)
{
	s->all++;
	for (unsigned i = 0; i < LACKS; i++)
		s->lacking[i] += lacks >> i & 1;
}

static int has_wait(const struct population *of, const struct timeline *tl,
		    const struct offcpu *o)
{
	const struct tl_thread *t = &tl->threads.v[o->thread];
	return population_has_task(of, tl, t->pid, t->tid, o->comm) &&
	       (!of->meant || t->flags & THREAD_MEANT) &&
	       population_has_cpu(of, tl, o->cpu_out, o->cpu_in) && o->end_ns >= of->start_ns &&
	       (!of->stop_ns || o->start_ns < of->stop_ns);
}

static void count_waits(struct scope *s, const struct population *of, const struct timeline *tl)
{
	for (size_t i = 0; i < tl->offcpu.n; i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		if (!has_wait(of, tl, o))
			continue;
		count(s, s->paths[o->path] | (o->flags & OFF_SUSPECT ? LACKS_RECORDS : 0) |
				 (o->unknown == UNKNOWN_NO_WAKE ? LACKS_WAKEUP : 0));
	}
}

static void count_samples(struct scope *s, const struct population *of,
			  const struct timeline *tl)
{
	for (size_t i = 0; i < tl->samples.n; i++) {
		const struct tl_sample *x = &tl->samples.v[i];
		if (x->thread != TL_NONE && population_has_sample(of, tl, x))
			count(s, s->paths[x->path]);
	}
	for (size_t i = 0; i < tl->event_samples.n; i++)
		if (population_has_event_sample(of, tl, &tl->event_samples.v[i]))
			count(s, s->paths[tl->event_samples.v[i].path]);
}

/* From one percent on, as findings do. But even one suspect wait may be the worst. */
static int touches(const struct scope *s, const struct finding *f)
{
	for (size_t i = 0; i < sizeof(about) / sizeof(*about); i++) {
		unsigned lack = about[i].lack & (LACKS_SAMPLES - 1);
		if (strcmp(about[i].id, f->kind->id) != 0)
			continue;
		if (about[i].lack & LACKS_SAMPLES && s->of_samples)
			return 1;
		uint64_t n = s->lacking[__builtin_ctz(lack)];
		return n && (lack == LACKS_RECORDS || n * 100 >= s->all);
	}
	return 1;
}

static int is_filtered(const struct population *p)
{
	return p->meant || p->ncomms || p->npids || p->ntids || p->ncpus || p->start_ns ||
	       p->stop_ns;
}

int scope_findings(const struct timeline *tl, const struct population *of, unsigned topics,
		   struct findings *f)
{
	struct scope s = {.of_samples = !tl->offcpu.n || topics & ABOUT_CPU};
	size_t n = 0;
	if (!is_filtered(of) || !f->v.n)
		return 0;
	if (find_lacks(&s, tl->stacks))
		return ERR_NOMEM;
	count_waits(&s, of, tl);
	count_samples(&s, of, tl);
	for (size_t i = 0; i < f->v.n; i++)
		if (touches(&s, &f->v.v[i]))
			f->v.v[n++] = f->v.v[i];
	f->v.n = n;
	mem_free(s.paths);
	return 0;
}
