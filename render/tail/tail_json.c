#include "render/tail/tail_json.h"
#include "base/text/name_id.h"
#include "libtime/causes/causes.h"
#include "libtime/explain/episode_id.h"
#include "libtime/explain/tail_times.h"
#include "libtime/sched/facts.h"
#include "libtime/sched/timeline_answers.h"
#include "libtime/sched/timeline_names.h"
#include "libtime/sched/timeline_parts.h"
#include "render/text/escape.h"
#include "render/text/json.h"
#include "render/text/labels.h"
#include "render/tail/episodes_answer.h"
#include "render/tail/site_words.h"
#include "render/tail/tail_events.h"
#include "render/tail/tail_words.h"
#include "render/tail/told_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct writer {
	struct json j;
	struct tail *t;
	const struct timeline *tl;
	VEC(uint32_t) frames;
	shares_vec shares;
	inner_events events;
	struct buf text;
	int said; /* with the clauses of sentences */
};

static void string(struct writer *w, const char *key, uint32_t id)
{
	const struct strtab *s = &w->tl->stacks->strings;
	json_text(&w->j, key, strtab_get(s, id), strtab_len(s, id));
}

static void optional_string(struct writer *w, const char *key, uint32_t id)
{
	if (id)
		string(w, key, id);
	else
		json_null(&w->j, key);
}

/* A frame's name as recorded; unnamed frames as in text, by their DSO. */
static void frame_text(struct writer *w, const char *key, uint32_t id)
{
	if (!id) {
		json_null(&w->j, key);
		return;
	}
	if (w->tl->stacks->frames.v[id].name) {
		string(w, key, w->tl->stacks->frames.v[id].name);
		return;
	}
	buf_clear(&w->text);
	describe_frame(&w->text, w->tl, id);
	json_text(&w->j, key, buf_cstr(&w->text), w->text.n);
}

/* The text's warning, with its counts. */
static void no_kernel_symbols(struct writer *w)
{
	uint64_t all, n = timeline_unnamed_waits(w->tl, &all);
	buf_clear(&w->text);
	if (!describe_unnamed_waits(&w->text, w->tl)) {
		json_null(&w->j, "no_kernel_symbols");
		return;
	}
	json_open(&w->j, "no_kernel_symbols", '{');
	json_u64(&w->j, "count", n);
	json_u64(&w->j, "of", all);
	json_text(&w->j, "spoils", buf_cstr(&w->text), w->text.n);
	json_close(&w->j, '}');
}

static void stack(struct writer *w, const char *key, uint32_t path)
{
	size_t n = stacks_depth(w->tl->stacks, path);
	w->frames.n = 0;
	if (vec_reserve(&w->frames, n + 1)) {
		w->j.b->failed = ERR_NOMEM;
		return;
	}
	stacks_frames(w->tl->stacks, path, w->frames.v, n);
	json_open(&w->j, key, '[');
	for (size_t i = 0; i < n; i++)
		frame_text(w, NULL, w->frames.v[i]);
	json_close(&w->j, ']');
}

static void cause(struct writer *w, unsigned state, unsigned c)
{
	if (state == PART_RUNNING)
		json_null(&w->j, "cause");
	else
		json_str(&w->j, "cause", cause_name(c));
}

/* --- recording and population --------------------------------------------------------- */

static void recording(struct writer *w, const char *key, const struct tl_recording *r,
		      int64_t id, uint64_t duration_ns)
{
	json_open(&w->j, key, '{');
	if (id)
		json_i64(&w->j, "id", id);
	optional_string(w, "file", r->file);
	optional_string(w, "host", r->host);
	json_u64_text(&w->j, "origin_ns", r->origin_ns);
	optional_string(w, "clock", r->clock);
	json_u64(&w->j, "duration_ns", duration_ns);
	json_close(&w->j, '}');
}

static void recordings(struct writer *w)
{
	recording(w, "recording", &w->tl->rec, 0, timeline_recorded_ns(w->tl));
	if (!w->tl->parts.n)
		return;
	json_open(&w->j, "recordings", '[');
	for (size_t i = 0; i < w->tl->parts.n; i++) {
		const struct tl_part *p = &w->tl->parts.v[i];
		recording(w, NULL, &p->rec, p->id, p->rec.end_ns - p->rec.origin_ns);
	}
	json_close(&w->j, ']');
}

/* A percentile; null if there is none or it is not known. */
static void percentile(struct writer *w, const char *key, uint32_t millipercent)
{
	const struct episodes *x = &w->t->episodes;
	if (!x->clean.n || episodes_are_uncertain(x, millipercent))
		json_null(&w->j, key);
	else
		json_u64(&w->j, key, episodes_percentile(x, millipercent, 0));
}

/* What the percentiles may be, given what is suspect. */
static void bounds(struct writer *w)
{
	json_open(&w->j, "bounds", '{');
	for (const struct answer_percentile *p = answer_percentiles; p->key; p++) {
		uint64_t low, high;
		episodes_percentile_range(&w->t->episodes, p->millipercent, &low, &high);
		json_open(&w->j, p->key, '[');
		json_u64(&w->j, NULL, low);
		json_u64(&w->j, NULL, high);
		json_close(&w->j, ']');
	}
	json_close(&w->j, '}');
}

/* The site with the longest hidden wait, and that wait's stack. */
static void idle_most(struct writer *w, const struct site_sums *idle)
{
	if (!idle->count) {
		json_null(&w->j, "idle_hidden_most");
		return;
	}
	json_open(&w->j, "idle_hidden_most", '{');
	string(w, "comm", idle->v.v[0].comm);
	json_u64(&w->j, "ns", idle->v.v[0].ns);
	stack(w, "stack", idle->v.v[0].path);
	json_close(&w->j, '}');
}

static void both_percentile(struct writer *w, const char *key, uint32_t millipercent)
{
	const struct episodes *x = &w->t->episodes;
	if (episodes_count_of_both(x))
		json_u64(&w->j, key, episodes_percentile_of_both(x, millipercent));
	else
		json_null(&w->j, key);
}

/* Unclear waits, and the percentiles of work and of them together. */
static void unclear(struct writer *w)
{
	const struct episodes *x = &w->t->episodes;
	const struct site_sums *u = &x->apart.by[APART_UNCLEAR];
	json_open(&w->j, "unclear", '{');
	json_u64(&w->j, "count", u->count);
	json_u64(&w->j, "ns", u->ns);
	json_u64(&w->j, "max_ns", u->max_ns);
	json_open(&w->j, "with_work", '{');
	json_u64(&w->j, "count", episodes_count_of_both(x));
	both_percentile(w, "p50_ns", 50000);
	both_percentile(w, "p90_ns", 90000);
	both_percentile(w, "p99_ns", 99000);
	both_percentile(w, "p999_ns", 99900);
	both_percentile(w, "p9999_ns", 99990);
	both_percentile(w, "max_ns", 100000);
	json_close(&w->j, '}');
	json_close(&w->j, '}');
}

/* APART_NOT: it ranks with work. */
static void site_id(struct writer *w, uint32_t site)
{
	struct buf name = {0};
	describe_site(&name, w->tl, site);
	buf_clear(&w->text);
	name_id(&w->text, "site", name.v, name.n);
	json_text(&w->j, "id", buf_cstr(&w->text), w->text.n);
	buf_release(&name);
}

static void site_sum(struct writer *w, const struct site_sum *x, enum apart kind)
{
	static const char *const kinds[] = {"likely", "hidden", "unclear", "left out",
					    "whole life"};
	const struct tl_site *s = timeline_site(w->tl, x->site);
	json_open(&w->j, NULL, '{');
	json_str(&w->j, "shown_as", kinds[kind]);
	string(w, "program", s->program);
	string(w, "role", s->role);
	json_str(&w->j, "cause", cause_name(s->cause));
	frame_text(w, "function", s->frame);
	site_id(w, x->site);
	json_str(&w->j, "verdict", site_verdict_name(s->verdict));
	json_str(&w->j, "reason", site_reason_name(s->reason));
	json_bool(&w->j, "loop", s->loop);
	json_u64(&w->j, "count", x->count);
	json_u64(&w->j, "ns", x->ns);
	json_u64(&w->j, "p50_ns", x->p50_ns);
	json_u64(&w->j, "max_ns", x->max_ns);
	json_bool(&w->j, "max_open", x->open);
	json_close(&w->j, '}');
}

/* The waits listed separately, and the unclear ones that rank, by site. */
static void sites(struct writer *w)
{
	json_open(&w->j, "sites", '[');
	for (int k = APART_NOT + 1; k < APART_KINDS; k++) {
		const struct site_sums *s = &w->t->episodes.apart.by[k];
		for (size_t i = 0; i < s->v.n; i++)
			site_sum(w, &s->v.v[i], (enum apart)k);
	}
	for (size_t i = 0; i < w->t->episodes.probable.v.n; i++)
		site_sum(w, &w->t->episodes.probable.v.v[i], APART_NOT);
	json_close(&w->j, ']');
}

static void population(struct writer *w)
{
	const struct episodes *x = &w->t->episodes;
	const struct episode_selection *s = &w->t->selection;
	const struct site_sums *idle = &x->apart.by[APART_IDLE];
	json_open(&w->j, "population", '{');
	json_u64(&w->j, "count", x->clean.n);
	int none = !s->threshold_ns && !x->clean.n; /* a percentile of nothing */
	if (s->uncertain || s->threshold_ns == UINT64_MAX || none)
		json_null(&w->j, "threshold_ns");
	else
		json_u64(&w->j, "threshold_ns", s->threshold_ns);
	json_bool(&w->j, "too_few", w->t->too_few);
	json_u64(&w->j, "selected", s->v.n);
	json_u64(&w->j, "suspect", x->suspect);
	json_u64(&w->j, "open", x->open);
	json_u64(&w->j, "unknown", x->unknown);
	json_u64(&w->j, "idle_hidden", idle->count);
	json_u64(&w->j, "idle_hidden_ns", idle->ns);
	idle_most(w, idle);
	json_u64(&w->j, "system_hidden", x->apart.system);
	json_u64(&w->j, "system_hidden_ns", x->apart.system_ns);
	json_u64(&w->j, "threads", x->threads);
	json_u64(&w->j, "processes", x->processes);
	percentile(w, "p50_ns", 50000);
	percentile(w, "p90_ns", 90000);
	percentile(w, "p99_ns", 99000);
	percentile(w, "p999_ns", 99900);
	percentile(w, "p9999_ns", 99990);
	if (x->clean.n)
		json_u64(&w->j, "max_ns", x->clean.v[x->clean.n - 1]);
	else
		json_null(&w->j, "max_ns");
	if (x->v.n)
		json_u64(&w->j, "p999_with_suspect_ns", episodes_percentile(x, 99900, 1));
	else
		json_null(&w->j, "p999_with_suspect_ns");
	bounds(w);
	json_close(&w->j, '}');
}

/* Buckets double: [from_ns, to_ns). */
static void histogram(struct writer *w)
{
	const struct episodes *x = &w->t->episodes;
	json_open(&w->j, "histogram", '[');
	for (size_t i = 0; i < x->clean.n;) {
		uint64_t low =
			x->clean.v[i] ? 1ull << (63 - __builtin_clzll(x->clean.v[i])) : 0;
		uint64_t most = low ? low + (low - 1) : 0, count = 0;
		for (; i < x->clean.n && x->clean.v[i] <= most; i++)
			count++;
		json_open(&w->j, NULL, '{');
		json_u64(&w->j, "from_ns", low);
		json_u64(&w->j, "to_ns", most < UINT64_MAX ? most + 1 : most);
		json_u64(&w->j, "count", count);
		json_close(&w->j, '}');
	}
	json_close(&w->j, ']');
}

/* --- periods --------------------------------------------------------------------------- */

static void put_period(struct writer *w, const char *key, const struct period *b)
{
	if (!b->ns) {
		json_null(&w->j, key);
		return;
	}
	json_open(&w->j, key, '{');
	json_u64(&w->j, "ns", b->ns);
	json_u64(&w->j, "fitting", b->fitting);
	json_u64(&w->j, "of", b->of);
	json_close(&w->j, '}');
}

static void periods(struct writer *w, const struct recurrence *r)
{
	json_u64(&w->j, "occurrences", r->occurrences);
	json_u64(&w->j, "together", r->together);
	put_period(w, "every", &r->rate);
	put_period(w, "pause", &r->pause);
}

static void recurrence(struct writer *w)
{
	json_open(&w->j, "recurrence", '{');
	periods(w, &w->t->recurrence);
	json_open(&w->j, "held_up_by", '[');
	for (size_t i = 0; i < w->t->nrecurrences; i++) {
		json_open(&w->j, NULL, '{');
		string(w, "comm", w->t->recurrences[i].comm);
		json_u64(&w->j, "count", w->t->recurrences[i].count);
		periods(w, &w->t->recurrences[i].recurrence);
		json_close(&w->j, '}');
	}
	json_close(&w->j, ']');
	json_close(&w->j, '}');
}

static void mechanism(struct writer *w, const char *key, const struct mechanism *m)
{
	if (m)
		json_str(&w->j, key, m->name);
	else
		json_null(&w->j, key);
}

/* The text's sentence on cycles that ran. */
static void slow_cycles(struct writer *w)
{
	const struct slow_time *s = &w->t->slow;
	if (!s->cycles) {
		json_null(&w->j, "slow_cycles");
		return;
	}
	json_open(&w->j, "slow_cycles", '{');
	json_u64(&w->j, "count", s->cycles);
	json_u64(&w->j, "alike", s->alike);
	optional_string(w, "comm", s->comm);
	json_u64(&w->j, "ns", s->ns);
	json_u64(&w->j, "run_ns", s->run_ns);
	frame_text(w, "function", s->function);
	json_u64(&w->j, "samples", s->samples);
	json_u64(&w->j, "in_function", s->in_function);
	mechanism(w, "mechanism", s->mechanism);
	if (s->stalled == TL_NONE) {
		json_null(&w->j, "without_cpu");
	} else {
		const struct tl_thread *t = &w->tl->threads.v[s->stalled];
		json_open(&w->j, "without_cpu", '{');
		json_i64(&w->j, "tid", t->tid);
		string(w, "comm", t->comm);
		json_u64(&w->j, "ns", s->stalled_ns);
		json_close(&w->j, '}');
	}
	json_close(&w->j, '}');
}

/* --- groups --------------------------------------------------------------------------- */

static void root_members(struct writer *w, const struct tail_root *r)
{
	json_i64(&w->j, "tid", w->tl->threads.v[r->thread].tid);
	string(w, "comm", r->comm);
	cause(w, r->state, r->cause);
	frame_text(w, "function", r->function);
	json_u64(&w->j, "ns", r->ns);
	json_str(&w->j, "state", part_state_name(r->state));
	json_i64(&w->j, "pid", w->tl->threads.v[r->thread].pid);
	json_str(&w->j, "via", link_via_name(r->via));
	string(w, "process", r->process);
	mechanism(w, "mechanism", r->mechanism ? r->mechanism : r->held_mechanism);
}

static void holder(struct writer *w, const struct tail_holder *h)
{
	json_open(&w->j, "holder", '{');
	json_str(&w->j, "way", holder_kind_name(h->kind));
	if (h->thread == TL_NONE) {
		json_null(&w->j, "tid");
		json_null(&w->j, "comm");
	} else {
		json_i64(&w->j, "tid", w->tl->threads.v[h->thread].tid);
		string(w, "comm", h->comm);
	}
	frame_text(w, "function", h->function);
	json_close(&w->j, '}');
}

/* part / whole in millionths; the low bits of sums beyond hours are ignored. */
static uint64_t millionths(uint64_t part, uint64_t whole)
{
	unsigned shift = 0;
	while (whole >> shift > UINT64_MAX / 1000000)
		shift++;
	return whole ? (part >> shift) * 1000000 / (whole >> shift) : 0;
}

static void groups(struct writer *w)
{
	uint64_t total = 0;
	for (size_t i = 0; i < w->t->groups.n; i++)
		total += w->t->groups.v[i].ns;
	json_open(&w->j, "groups", '[');
	for (size_t i = 0; i < w->t->groups.n; i++) {
		const struct tail_group *g = &w->t->groups.v[i];
		json_open(&w->j, NULL, '{');
		struct tail_root shared = w->t->rows.v[g->row].root;
		if (g->unnamed)
			shared.function = 0;
		json_open(&w->j, "root", '{');
		root_members(w, &shared);
		json_close(&w->j, '}');
		holder(w, &w->t->rows.v[g->row].holder);
		buf_clear(&w->text);
		describe_group(&w->text, w->t, g);
		json_text(&w->j, "name", buf_cstr(&w->text), w->text.n);
		json_u64(&w->j, "count", g->count);
		json_u64(&w->j, "ns", g->ns);
		/* a share for people and charts; everything exact is in ns */
		buf_clear(&w->text);
		uint64_t e6 = millionths(g->ns, total);
		buf_fmt(&w->text, "%u.%06u", (unsigned)(e6 / 1000000),
			(unsigned)(e6 % 1000000));
		json_raw(&w->j, "share", buf_cstr(&w->text));
		json_close(&w->j, '}');
	}
	json_close(&w->j, ']');
}

/* --- episodes ------------------------------------------------------------------------- */

/* The futex of a lock wait, "0x55d0c0a01040": a text, because numbers that large lose
 * digits. */
static void lock_address(struct writer *w, const struct explanation *x)
{
	const struct offcpu *o = x->offcpu != TL_NONE ? &w->tl->offcpu.v[x->offcpu] : NULL;
	char text[24];
	if (!o || !offcpu_is_lock(o) || o->arg_kind != ARG_FUTEX) {
		json_null(&w->j, "lock");
		json_null(&w->j, "lock_name");
		return;
	}
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)offcpu_arg(w->tl, o));
	json_str(&w->j, "lock", text);
	if (*offcpu_variable(w->tl, o))
		json_str(&w->j, "lock_name", offcpu_variable(w->tl, o));
	else
		json_null(&w->j, "lock_name");
}

static void target(struct writer *w, const struct explanation *x)
{
	const char *text =
		x->offcpu != TL_NONE ? fact_target(w->tl, &w->tl->offcpu.v[x->offcpu]) : NULL;
	if (text)
		json_str(&w->j, "target", text);
	else
		json_null(&w->j, "target");
}

/* The disk request whose completion ended a wait. */
static void disk(struct writer *w, uint32_t offcpu)
{
	const struct disk_request *q = NULL;
	char text[DISK_NAME];
	if (offcpu != TL_NONE &&
	    evidence_disk(explainer_evidence(w->t->explainer), offcpu, &q, NULL))
		w->j.b->failed = ERR_NOMEM;
	if (!q) {
		json_null(&w->j, "disk");
		return;
	}
	json_open(&w->j, "disk", '{');
	json_str(&w->j, "name", disk_name(w->tl, w->tl->offcpu.v[offcpu].thread, q, text));
	json_str(&w->j, "operation", disk_operation(q));
	json_u64(&w->j, "bytes", q->bytes);
	if (q->has_insert)
		json_u64(&w->j, "queued_ns", q->issue_ns - q->insert_ns);
	else
		json_null(&w->j, "queued_ns");
	json_u64(&w->j, "served_ns", q->end_ns - q->issue_ns);
	json_close(&w->j, '}');
}

static void waker(struct writer *w, const struct explanation *x)
{
	const struct offcpu *o = x->offcpu != TL_NONE ? &w->tl->offcpu.v[x->offcpu] : NULL;
	if (!o || o->waker_context == WAKER_NONE) {
		json_null(&w->j, "waker");
		return;
	}
	json_open(&w->j, "waker", '{');
	if (o->waker == TL_NONE) {
		json_null(&w->j, "tid");
		json_null(&w->j, "pid");
		json_null(&w->j, "comm");
	} else {
		const struct tl_thread *t = &w->tl->threads.v[o->waker];
		json_i64(&w->j, "tid", t->tid);
		json_i64(&w->j, "pid", t->pid);
		string(w, "comm", t->comm);
	}
	json_str(&w->j, "context", waker_context_name(o->waker_context));
	stack(w, "stack", o->waker_path);
	json_close(&w->j, '}');
}

static void prio(struct writer *w, int prio)
{
	if (prio < 0)
		json_null(&w->j, "prio");
	else
		json_i64(&w->j, "prio", prio);
}

static void corunners(struct writer *w, const struct corunner *v, size_t n)
{
	json_open(&w->j, "corunners", '[');
	for (size_t i = 0; i < n; i++) {
		const struct tl_thread *t = &w->tl->threads.v[v[i].thread];
		json_open(&w->j, NULL, '{');
		json_i64(&w->j, "tid", t->tid);
		string(w, "comm", t->comm);
		prio(w, v[i].prio);
		json_u64(&w->j, "ns", v[i].ns);
		json_close(&w->j, '}');
	}
	json_close(&w->j, ']');
}

/* The innermost function of the application in a stack. */
static void put_function(struct writer *w, uint32_t path)
{
	frame_text(w, "function", appframe_reported(w->tl, path));
}

/* The links of a chain, and how much of each the next one explains. */
static void chain(struct writer *w, const struct explanation *x)
{
	json_open(&w->j, "chain", '[');
	for (size_t i = 0; i < x->chain.n; i++) {
		const struct chain_link *l = &x->chain.v[i];
		const struct tl_thread *t = &w->tl->threads.v[l->thread];
		json_open(&w->j, NULL, '{');
		json_i64(&w->j, "tid", t->tid);
		string(w, "comm", l->comm);
		json_str(&w->j, "state", part_state_name(l->state));
		cause(w, l->state, l->cause);
		json_u64(&w->j, "ns", l->ns);
		stack(w, "stack", l->path);
		json_i64(&w->j, "pid", t->pid);
		json_str(&w->j, "via", link_via_name(l->via));
		prio(w, l->prio);
		json_u64(&w->j, "next_ns", l->next_ns);
		put_function(w, l->path);
		json_close(&w->j, '}');
	}
	json_close(&w->j, ']');
}

/* The thread that kept a link in a part for longest. */
static void actor(struct writer *w, const struct chain_part *p)
{
	if (p->actor == TL_NONE) {
		json_null(&w->j, "actor");
		return;
	}
	json_open(&w->j, "actor", '{');
	json_i64(&w->j, "tid", w->tl->threads.v[p->actor].tid);
	string(w, "comm", w->tl->threads.v[p->actor].comm);
	json_u64(&w->j, "ns", p->actor_ns);
	frame_text(w, "function", p->actor_function);
	json_close(&w->j, '}');
}

/* The thread that gave a kernel thread its work. */
static void behind(struct writer *w, const struct behind *by)
{
	if (!by->ns) {
		json_null(&w->j, "behind");
		return;
	}
	json_open(&w->j, "behind", '{');
	if (by->thread == TL_NONE) {
		json_null(&w->j, "tid");
		json_null(&w->j, "comm");
	} else {
		json_i64(&w->j, "tid", w->tl->threads.v[by->thread].tid);
		string(w, "comm", w->tl->threads.v[by->thread].comm);
	}
	json_u64(&w->j, "ns", by->ns);
	put_function(w, by->path);
	json_close(&w->j, '}');
}

/* The root with all facts of its sentence, and the sentence. */
static void root(struct writer *w, const struct tail_root *r, const struct explanation *x)
{
	const struct chain_link *l = explanation_root(x);
	json_open(&w->j, "root", '{');
	root_members(w, r);
	json_u64(&w->j, "samples", l->samples);
	json_open(&w->j, "parts", '[');
	for (uint32_t i = 0; i < l->nparts; i++) {
		const struct chain_part *p = &x->parts.v[l->part + i];
		json_open(&w->j, NULL, '{');
		json_str(&w->j, "state", part_state_name(p->state));
		cause(w, p->state, p->cause);
		frame_text(w, "function", p->function);
		json_u64(&w->j, "ns", p->ns);
		if (p->end == END_NONE)
			json_null(&w->j, "end");
		else
			json_str(&w->j, "end", part_end_name(p->end));
		if (p->vector)
			json_str(&w->j, "vector",
				 strtab_get(&w->tl->stacks->strings, p->vector));
		else
			json_null(&w->j, "vector");
		actor(w, p);
		disk(w, p->state == PART_BLOCKED ? p->offcpu : TL_NONE);
		json_close(&w->j, '}');
	}
	json_close(&w->j, ']');
	corunners(w, x->ahead.v, x->ahead.n);
	behind(w, &l->behind);
	struct told told = {.failed = 0};
	told_root(&told, explainer_evidence(w->t->explainer), x);
	buf_clear(&w->text);
	told_text(&w->text, w->tl, &told, 0, told.v.n, BRIEF_NOT);
	json_text(&w->j, "sentence", buf_cstr(&w->text), w->text.n);
	if (w->said)
		told_json(&w->j, "said", w->tl, &told, BRIEF_NOT);
	told_release(&told);
	json_close(&w->j, '}');
}

/* The shares that add up to the episode: the root's parts, and those of the chain's other
 * links. */
static int shares(struct writer *w, const struct explanation *x, struct err *e)
{
	json_open(&w->j, "shares", '[');
	if (explanation_shares(x, &w->shares))
		return err_nomem(e);
	for (size_t i = 0; i < w->shares.n; i++) {
		const struct chain_link *l = &x->chain.v[w->shares.v[i].link];
		const struct chain_part *p = &x->parts.v[w->shares.v[i].part];
		json_open(&w->j, NULL, '{');
		json_i64(&w->j, "tid", w->tl->threads.v[l->thread].tid);
		string(w, "comm", l->comm);
		json_str(&w->j, "state", part_state_name(p->state));
		cause(w, p->state, p->cause);
		frame_text(w, "function", p->function);
		json_u64(&w->j, "ns", w->shares.v[i].ns);
		json_close(&w->j, '}');
	}
	json_close(&w->j, ']');
	return 0;
}

/* Other events of the thread, by name: how often, spans also how long; the first one's fields.
 */
static int events(struct writer *w, const struct episode *ep, struct err *e)
{
	int r = events_inside(explainer_evidence(w->t->explainer), ep, &w->events, e);
	json_open(&w->j, "events", '[');
	for (size_t i = 0; !r && i < w->events.n; i++) {
		const struct inner_event *h = &w->events.v[i];
		json_open(&w->j, NULL, '{');
		string(w, "name", h->name);
		json_u64(&w->j, "count", h->count);
		json_u64(&w->j, "ns", h->ns);
		json_u64(&w->j, "first_ns",
			 timeline_from_origin(w->tl, ep->thread, h->first_ns));
		optional_string(w, "text", h->text);
		json_close(&w->j, '}');
	}
	json_close(&w->j, ']');
	return r;
}

static void missing_line(void *ctx, const char *line)
{
	struct writer *w = ctx;
	json_str(&w->j, NULL, line);
}

static void decomposition(struct writer *w, const struct explanation *x)
{
	json_u64(&w->j, "run_ns", x->run_ns);
	json_u64(&w->j, "interrupted_ns", x->interrupted_ns);
	json_u64(&w->j, "blocked_ns", x->blocked_ns);
	json_u64(&w->j, "runnable_ns", x->runnable_ns);
	json_u64(&w->j, "preempted_ns", x->preempted_ns);
	json_u64(&w->j, "throttled_ns", x->throttled_ns);
	json_u64(&w->j, "unknown_ns", x->unknown_ns);
	json_open(&w->j, "blocked_by", '[');
	for (unsigned c = 0; c < CAUSE_COUNT; c++) {
		if (!x->blocked_by[c])
			continue;
		json_open(&w->j, NULL, '{');
		json_str(&w->j, "cause", cause_name(c));
		json_u64(&w->j, "ns", x->blocked_by[c]);
		json_close(&w->j, '}');
	}
	json_close(&w->j, ']');
	cause(w, x->state, x->cause);
	json_str(&w->j, "state", part_state_name(x->state));
}

static void identity(struct writer *w, const struct episode *ep)
{
	const struct tl_thread *t = &w->tl->threads.v[ep->thread];
	if (w->t->episodes.query.kind == EPISODE_SPAN)
		string(w, "name", w->t->episodes.query.span);
	else
		json_null(&w->j, "name");
	uint32_t key = episode_key_text(&w->t->episodes, w->tl, ep);
	if (key)
		string(w, "key", key);
	else if (ep->key)
		json_u64(&w->j, "key", ep->key);
	else
		json_null(&w->j, "key");
	if (w->tl->labels.n && w->t->episodes.query.kind == EPISODE_SPAN)
		labels_json(&w->j, w->tl, ep->at);
	if (w->tl->counters.n && w->t->episodes.query.kind == EPISODE_SPAN)
		counters_json(&w->j, w->tl, ep->at);
	json_i64(&w->j, "pid", t->pid);
	json_i64(&w->j, "tid", t->tid);
	json_i64(&w->j, "end_tid", w->tl->threads.v[ep->end_thread].tid);
	string(w, "comm", ep->comm);
	const struct tl_part *p = timeline_part_of(w->tl, ep->thread);
	if (p)
		json_i64(&w->j, "recording", p->id);
	json_u64(&w->j, "start_ns", timeline_from_origin(w->tl, ep->thread, ep->start_ns));
	json_u64(&w->j, "end_ns", timeline_from_origin(w->tl, ep->thread, ep->end_ns));
	json_u64(&w->j, "duration_ns", episode_ns(ep));
	json_u64(&w->j, "low_ns", ep->low_ns);
	json_u64(&w->j, "high_ns", ep->high_ns);
}

/* The verdict of the wait site of the episode's longest wait. */
static void verdict(struct writer *w, const struct explanation *x)
{
	const struct offcpu *o = x->offcpu != TL_NONE ? &w->tl->offcpu.v[x->offcpu] : NULL;
	if (!o || !o->site) {
		json_null(&w->j, "verdict");
		json_null(&w->j, "reason");
		return;
	}
	const struct tl_site *s = timeline_site(w->tl, o->site);
	json_str(&w->j, "verdict", site_verdict_name(s->verdict));
	json_str(&w->j, "reason", site_reason_name(s->reason));
}

/* Members of any episode, selected or not. */
static int episode_members(struct writer *w, const struct episode *ep,
			   const struct explanation *x, struct err *e)
{
	identity(w, ep);
	decomposition(w, x);
	if (ep->cpu == TL_NOCPU)
		json_null(&w->j, "cpu");
	else
		json_u64(&w->j, "cpu", timeline_cpu(w->tl, ep->cpu));
	stack(w, "stack", x->path);
	put_function(w, x->path);
	verdict(w, x);
	lock_address(w, x);
	target(w, x);
	disk(w, x->offcpu);
	waker(w, x);
	corunners(w, x->corunners.v, x->corunners.n);
	json_u64(&w->j, "samples", x->samples);
	int r = events(w, ep, e);
	chain(w, x);
	return r ? r : shares(w, x, e);
}

static int episode(struct writer *w, size_t rank, struct err *e)
{
	const struct explanation *x;
	const struct tail_row *row = &w->t->rows.v[rank];
	const struct episode *ep = &w->t->episodes.v.v[row->episode];
	int r = tail_explain_row(w->t, rank, &x, e);
	if (r)
		return r;
	json_open(&w->j, NULL, '{');
	json_u64(&w->j, "rank", rank + 1);
	buf_clear(&w->text);
	episode_id_put(&w->text, w->tl, w->t->episodes.query.kind, ep);
	json_text(&w->j, "id", buf_cstr(&w->text), w->text.n);
	r = episode_members(w, ep, x, e);
	holder(w, &row->holder);
	root(w, &row->root, x);
	json_bool(&w->j, "suspect", ep->flags & OFF_SUSPECT || explanation_suspect(x));
	json_bool(&w->j, "open", ep->flags & OFF_OPEN);
	json_open(&w->j, "missing", '[');
	describe_missing(w->tl, x->missing, missing_line, w);
	json_close(&w->j, ']');
	json_close(&w->j, '}');
	return r;
}

int tailjson_median(struct buf *b, struct tail *t, struct err *e)
{
	struct writer w = {.j = {.b = b}, .t = t, .tl = t->tl};
	const struct explanation *x;
	tail_episodes median = {0};
	int r = tail_around_median(t, &median, e);
	if (!r && !median.n)
		json_null(&w.j, NULL);
	if (!r && median.n) {
		uint32_t at = median.v[median.n / 2];
		json_open(&w.j, NULL, '{');
		r = tail_explain_episode(t, at, &x, e);
		r = r ? r : episode_members(&w, &t->episodes.v.v[at], x, e);
		json_close(&w.j, '}');
	}
	vec_release(&w.frames);
	vec_release(&w.shares);
	vec_release(&w.events);
	vec_release(&median);
	buf_release(&w.text);
	return r ? r : buf_failed(b) ? err_nomem(e) : 0;
}

/* The opening sentence, as words and as clauses. */
static int answer(struct writer *w, struct err *e)
{
	struct told told = {.failed = 0};
	size_t sentence = 0;
	buf_clear(&w->text);
	int r = told_answer(&told, w->t, &sentence, e);
	enum told_brief level =
		r ? BRIEF_NOT : told_answer_text(&w->text, w->tl, &told, sentence);
	json_text(&w->j, "answer", buf_cstr(&w->text), w->text.n);
	if (w->said)
		told_json(&w->j, "said", w->tl, &told, level);
	told_release(&told);
	return r;
}

int tailjson_write(struct buf *b, struct tail *t, uint64_t rows, int said, struct err *e)
{
	struct writer w = {.j = {.b = b}, .t = t, .tl = t->tl, .said = said};
	int r = 0;
	json_open(&w.j, NULL, '{');
	json_u64(&w.j, "schema", 2);
	recordings(&w);
	json_str(&w.j, "by", episode_kind_name(t->episodes.query.kind));
	if (t->episodes.query.kind == EPISODE_SPAN)
		string(&w, "span", t->episodes.query.span);
	else
		json_null(&w.j, "span");
	r = answer(&w, e);
	no_kernel_symbols(&w);
	population(&w);
	unclear(&w);
	sites(&w);
	histogram(&w);
	recurrence(&w);
	slow_cycles(&w);
	json_str(&w.j, "group_by", tail_group_name(t->group_by));
	groups(&w);
	json_open(&w.j, "episodes", '[');
	for (size_t i = 0; !r && i < tail_rows_shown(t, rows); i++) {
		buf_char(b, i ? ' ' : '\n');
		r = episode(&w, i, e);
		buf_char(b, '\n');
	}
	json_close(&w.j, ']');
	json_close(&w.j, '}');
	buf_char(b, '\n');
	vec_release(&w.frames);
	vec_release(&w.shares);
	vec_release(&w.events);
	r = r ? r : buf_failed(b) || buf_failed(&w.text) ? err_nomem(e) : 0;
	buf_release(&w.text);
	return r;
}
