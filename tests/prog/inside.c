/*
 * inside WHOLE PART - do the bounds of a recording that lacks events (PART, made by forget) hold
 * the truth, which WHOLE has? One line: waits found in both; of these known ones; whose true
 * length or, where the wakeups are whole, blocked part is outside; known ones that WHOLE does
 * not have; and the median width of the others' bounds. Status 1 if any is wrong.
 */
#include "base/hash.h"
#include "libtime/build/build.h"
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>

struct read {
	struct profile *p;
	struct timeline tl;
};

struct counts {
	uint64_t both, known, outside, invented, whole;
	VEC(uint64_t) widths;
};

static int read_file(struct read *x, const char *path)
{
	struct profile_options po = {0};
	struct build_options bo = {0};
	struct err e = {0};
	int r = profile_open(&x->p, path, &po, &e);
	r = r ? r : timeline_build(x->p, &bo, &x->tl, &e);
	r = r ? r : timeline_check(&x->tl, &e);
	if (r)
		fprintf(stderr, "inside: %s: %s\n", path, e.msg);
	return r;
}

/* The truth of a wait: one of the same thread that began at the same time. */
static const struct offcpu *truth_of(const struct timeline *whole, const struct timeline *part,
				     const struct offcpu *o)
{
	for (size_t i = 0; i < whole->threads.n; i++) {
		const struct tl_thread *t = &whole->threads.v[i];
		if (t->tid != part->threads.v[o->thread].tid)
			continue;
		for (uint32_t k = t->offcpu_first; k < t->offcpu_first + t->offcpu_n; k++)
			if (whole->offcpu.v[k].start_ns == o->start_ns)
				return &whole->offcpu.v[k];
	}
	return NULL;
}

static int is_known(const struct offcpu *o)
{
	return !(o->flags & (OFF_SUSPECT | OFF_OPEN)) && o->unknown <= KNOWN;
}

static void judge(struct counts *n, const struct timeline *whole, const struct timeline *part,
		  const struct offcpu *o, int wakeups)
{
	const struct offcpu *t = truth_of(whole, part, o);
	if (o->flags & OFF_REST)
		return;
	if (!t) {
		n->invented += is_known(o);
		return;
	}
	if (!is_known(t) || offcpu_rest_ns(whole, t) || t->slack_ns || o->flags & OFF_OPEN ||
	    o->unknown == UNKNOWN_HOLE)
		return;
	uint64_t true_ns = offcpu_ns(t), low = offcpu_low_ns(part, o);
	uint64_t high = offcpu_ns(o) + offcpu_rest_ns(part, o);
	int wrong = true_ns < low || true_ns > high ||
		    (wakeups && is_known(o) && o->blocked_ns != t->blocked_ns);
	n->both++;
	n->known += is_known(o);
	n->outside += wrong;
	if (wrong && getenv("INSIDE_SHOW"))
		printf("%d from %llu: %llu..%llu blocked %llu, true %llu blocked %llu\n",
		       part->threads.v[o->thread].tid, (unsigned long long)o->start_ns,
		       (unsigned long long)low, (unsigned long long)high,
		       (unsigned long long)o->blocked_ns, (unsigned long long)true_ns,
		       (unsigned long long)t->blocked_ns);
	if (!is_known(o))
		n->outside += vec_push(&n->widths, high - low) != 0;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	struct read whole = {0}, part = {0};
	struct counts n = {0};
	if (argc < 3 || read_file(&whole, argv[1]) || read_file(&part, argv[2]))
		return 2;
	for (size_t i = 0; i < whole.tl.offcpu.n; i++)
		n.whole += is_known(&whole.tl.offcpu.v[i]);
	for (size_t i = 0; i < part.tl.offcpu.n; i++)
		judge(&n, &whole.tl, &part.tl, &part.tl.offcpu.v[i], argc > 3);
	if (n.widths.n)
		qsort(n.widths.v, n.widths.n, sizeof(*n.widths.v), ascending);
	printf("%llu of %llu waits: %llu known, %llu outside, %llu invented, median width %llu "
	       "ns\n",
	       (unsigned long long)n.both, (unsigned long long)n.whole,
	       (unsigned long long)n.known, (unsigned long long)n.outside,
	       (unsigned long long)n.invented,
	       (unsigned long long)(n.widths.n ? n.widths.v[n.widths.n / 2] : 0));
	int bad = n.outside || n.invented || !n.both;
	vec_release(&n.widths);
	timeline_release(&whole.tl);
	timeline_release(&part.tl);
	profile_close(whole.p);
	profile_close(part.p);
	return bad;
}
