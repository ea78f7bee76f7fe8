/* findings_names.c - judges of stacks and of names, by share of the samples they touch. */
#include "base/mem.h"
#include "libstore/findings_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

/* --- stacks: what was asked for and what came ------------------------------------------------
 */

static int is_switch(const struct event *ev)
{
	return ev->name && !strncmp(ev->name, "sched:sched_switch", 18);
}

static int has_stacks(const struct event_attr *a)
{
	return !!(a->sample_type & PERF_SAMPLE_CALLCHAIN) ||
	       (a->sample_type & PERF_SAMPLE_STACK_USER &&
		a->sample_type & PERF_SAMPLE_REGS_USER);
}

static void judge_no_stacks(struct judge *j)
{
	const struct survey *v = j->in->survey;
	const struct event *bare = NULL;
	for (size_t i = 0; i < j->rec->events.n; i++) {
		const struct event *ev = &j->rec->events.v[i];
		int live = !v || (i < v->events.n && v->events.v[i].samples);
		if (!live || has_stacks(&ev->attr) || (ev->is_tracepoint && !is_switch(ev)) ||
		    (ev->name && !strncmp(ev->name, "dummy", 5)))
			continue;
		if (!bare || is_switch(ev))
			bare = ev;
	}
	if (!bare)
		return;
	struct finding *f =
		judge_add(j, "no-stacks", is_switch(bare) ? HARM_PARTIAL : HARM_ADVICE,
			  "%s was recorded without stacks", bare->name);
	judge_record(j, f, &(struct remedy){.stacks = 1});
}

uint32_t judge_dump_asked(const struct judge *j)
{
	uint32_t asked = 0;
	for (size_t i = 0; i < j->rec->events.n; i++)
		if (j->rec->events.v[i].attr.sample_stack_user > asked)
			asked = j->rec->events.v[i].attr.sample_stack_user;
	return asked;
}

uint32_t judge_dump_smaller(const struct judge *j)
{
	uint32_t asked = judge_dump_asked(j), half = asked / 2 & ~7u;
	if (asked <= DUMP_LEAST)
		return asked;
	half = half < DUMP_LEAST ? DUMP_LEAST : half;
	return half > DUMP_ENOUGH ? DUMP_ENOUGH : half;
}

/* Stacks by copies instead of frame pointers. */
static void judge_copy_instead(struct judge *j, struct finding *f)
{
	uint32_t asked = judge_dump_asked(j);
	uint32_t dump = asked > DUMP_ENOUGH ? asked : DUMP_ENOUGH;
	if (j->remedy.spare)
		judge_remedy(
			j, f,
			"stack copies (--call-graph dwarf) would tell, but records are missing "
			"and copies lose more: first a recording that has them all");
	else if (asked && remedy_is_perfkit(j->rec))
		judge_remedy(j, f,
			     "only switches have stack copies in such a recording: perfkit "
			     "record cpu takes them of CPU time, too");
	else
		judge_record(j, f, &(struct remedy){.stacks = 1, .dump = dump, .copies = 1});
}

/* User callchains that are not there: by --kernel-callchains, or since perf, told to copy the
 * stacks of all events, leaves them out of one that is to have a chain instead. */
static void judge_left_out(struct judge *j, const char *event)
{
	if (judge_dump_asked(j)) {
		struct finding *f = judge_add(
			j, "one-sided-stacks", HARM_PARTIAL,
			"%s has no user callchains: --call-graph dwarf, given for all events, "
			"takes them from call-graph=fp",
			event);
		judge_record(j, f, &(struct remedy){.stacks = 1});
		return;
	}
	struct finding *f = judge_add(j, "one-sided-stacks", HARM_PARTIAL,
				      "user callchains were left out on request");
	if (j->remedy.spare)
		judge_record(j, f, &(struct remedy){.stacks = 1});
	else
		judge_copy_instead(j, f);
}

static void judge_sides(struct judge *j)
{
	const struct survey *v = j->in->survey;
	uint64_t kernel = 0, no_user = 0, user = 0, bare = 0;
	const char *left_out = NULL;
	for (size_t i = 0; v && i < v->events.n; i++) {
		const struct survey_event *se = &v->events.v[i];
		const struct event_attr *a = &j->rec->events.v[i].attr;
		if (se->samples && a->sample_type & PERF_SAMPLE_CALLCHAIN &&
		    !(a->sample_type & PERF_SAMPLE_STACK_USER) &&
		    attr_flag(a, ATTR_EXCLUDE_CALLCHAIN_USER))
			left_out = j->rec->events.v[i].name;
		kernel += se->kernel_mode;
		no_user += se->no_user;
		user += se->user_mode;
		bare += se->user_without_frames;
	}
	struct finding *f = NULL;
	if (left_out) {
		judge_left_out(j, left_out);
		return;
	}
	if (no_user >= 20 && percent(no_user, kernel) >= 50)
		f = judge_add(j, "one-sided-stacks", HARM_PARTIAL,
			      "%.0f %% of %llu samples in system calls have no user stack",
			      percent(no_user, kernel), (ull)kernel);
	else if (bare >= 20 && percent(bare, user) >= 50)
		f = judge_add(j, "one-sided-stacks", HARM_PARTIAL,
			      "%.0f %% of %llu samples in user code have no user stack",
			      percent(bare, user), (ull)user);
	judge_copy_instead(j, f);
}

/*
 * The copy that would have held all but a hundredth of the stacks: from the size asked for on,
 * each doubling leaves the part of the stacks too long that the last one left (full of half).
 */
static uint32_t dump_needed(const struct judge *j, double cut)
{
	uint64_t full = 0, half = 0;
	uint64_t size = judge_dump_asked(j);
	const struct survey *v = j->in->survey;
	for (size_t i = 0; v && i < v->events.n; i++) {
		full += v->events.v[i].full;
		half += v->events.v[i].half;
	}
	double left = half && full < half ? (double)full / (double)half : 0.9;
	while (cut > 0.01 && size < DUMP_MAX) {
		size *= 2;
		cut *= left;
	}
	return size < DUMP_MAX ? (uint32_t)size : DUMP_MAX;
}

/* The next size to try: where every switch of all CPUs is copied, a step of four at most. */
static uint32_t next_dump(const struct judge *j, uint32_t need)
{
	uint32_t asked = judge_dump_asked(j);
	for (size_t i = 0; i < j->rec->events.n; i++)
		if (is_switch(&j->rec->events.v[i]) && asked && need / 4 > asked)
			return asked * 4;
	return need;
}

/* Why copies did not lead to a root, in words and with what would help. */
static const struct end_text {
	const char *why, *remedy;
	enum unwind_end ends[3];
} end_texts[] = {
	{"in code without unwind information",
	 "build that code with -fasynchronous-unwind-tables, or with -fno-omit-frame-pointer "
	 "and record with -g; run-time compilers have an option to keep frame pointers",
	 {UNWIND_NO_CFI}},
	{"at memory that was not there when the stack was copied: a page not touched yet",
	 "larger copies do not help: build with -fno-omit-frame-pointer, then record with -g",
	 {UNWIND_HOLE}},
	{"in 32-bit programs, which are not unwound",
	 "build with -fno-omit-frame-pointer, then record with -g",
	 {UNWIND_NO_REGS}},
	{"where no code is, or by broken unwind information",
	 "if that code keeps frame pointers (generated code may be told to), record with -g",
	 {UNWIND_NO_MAP, UNWIND_BAD_READ, UNWIND_LOOP}},
};

enum { END_TEXTS = sizeof(end_texts) / sizeof(*end_texts) };

static uint64_t ended(const struct expand_counts *c, const struct end_text *t)
{
	uint64_t n = 0;
	for (size_t i = 0; i < sizeof(t->ends) / sizeof(*t->ends) && t->ends[i]; i++)
		n += c->by_end[t->ends[i]];
	return n;
}

/* Copies that hold what they should, and still could not be followed to their end. Where files
 * are missing, guesses through them lead astray: unwind-stopped tells of those. */
static void judge_unrooted(struct judge *j)
{
	const struct expand_counts *c = &j->in->profile->unwinding;
	const struct end_text *most = end_texts;
	uint64_t all = 0;
	uint64_t stopped = c->by_end[UNWIND_NO_FILE] + c->by_end[UNWIND_ID_MISMATCH];
	size_t n = percent(stopped, c->unwound) >= 1 ? END_TEXTS - 1 : END_TEXTS;
	for (const struct end_text *t = end_texts; t < end_texts + n; t++) {
		all += ended(c, t);
		most = ended(c, t) > ended(c, most) ? t : most;
	}
	double share = percent(all, c->unwound);
	if (share < 1)
		return;
	struct finding *f = judge_add(
		j, "unrooted-stacks", share >= 5 ? HARM_PARTIAL : HARM_ADVICE,
		"%.1f %% of stack copies were followed, but not to where the stack begins",
		share);
	for (const struct end_text *t = end_texts; t < end_texts + n; t++)
		if (ended(c, t))
			judge_detail(j, f, "%5.1f %%  end %s", percent(ended(c, t), c->unwound),
				     t->why);
	judge_remedy(j, f, "%s", most->remedy);
}

/* More frames than are taken: by the kernel into a callchain, or by the unwinder. */
static void judge_depth(struct judge *j)
{
	const struct expand_counts *c = &j->in->profile->unwinding;
	const struct survey *v = j->in->survey;
	uint64_t chains = 0, longest = 0;
	uint32_t max = 0;
	for (size_t i = 0; v && i < v->events.n; i++) {
		chains += v->events.v[i].chains;
		longest += v->events.v[i].longest;
		if (v->events.v[i].longest)
			max = survey_chain_max(&j->rec->events.v[i].attr);
	}
	if (percent(longest, chains) >= 1) {
		struct finding *f = judge_add(
			j, "deep-stacks", HARM_PARTIAL,
			"%.1f %% of callchains have %u frames, which is all the kernel took",
			percent(longest, chains), max);
		judge_remedy(j, f,
			     "as root on the recorded machine, while nothing records: sysctl "
			     "kernel.perf_event_max_stack=%u; then record again",
			     max < 512 ? 512 : 2 * max);
	}
	if (percent(c->by_end[UNWIND_DEPTH], c->unwound) >= 1 &&
	    !j->in->profile->names.opt.max_stack) {
		struct finding *f = judge_add(j, "deep-stacks", HARM_PARTIAL,
					      "%.1f %% of stacks are deeper than 1024 frames",
					      percent(c->by_end[UNWIND_DEPTH], c->unwound));
		judge_remedy(j, f, "--max-stack 8192 shows more of them");
	}
}

static void judge_dumps(struct judge *j)
{
	const struct expand_counts *c = &j->in->profile->unwinding;
	uint64_t cut = c->by_end[UNWIND_TRUNCATED];
	uint64_t stopped = c->by_end[UNWIND_NO_FILE] + c->by_end[UNWIND_ID_MISMATCH];
	if (percent(cut, c->unwound) >= 1) {
		uint32_t need = dump_needed(j, (double)cut / (double)c->unwound);
		uint32_t asked = judge_dump_asked(j);
		struct finding *f = judge_add(
			j, "truncated-dumps", HARM_PARTIAL,
			"%.1f %% of stack copies were too short: %u bytes, about %u needed",
			percent(cut, c->unwound), asked, need);
		if (need > asked && j->remedy.spare)
			judge_remedy(
				j, f,
				"records are missing, and larger copies lose more: first a "
				"recording that has them all; then larger copies, fewer "
				"events with stacks, or --call-graph fp where programs keep "
				"frame pointers");
		else if (need > asked)
			judge_record(j, f,
				     &(struct remedy){.stacks = 1, .dump = next_dump(j, need)});
		else
			judge_remedy(j, f,
				     "the kernel copies no more: build the program with "
				     "-fno-omit-frame-pointer, then record with -g");
	}
	if (percent(stopped, c->unwound) >= 1) {
		struct finding *f = judge_add(
			j, "unwind-stopped", HARM_PARTIAL,
			"%.1f %% of stack copies end where the right file is not at hand",
			percent(stopped, c->unwound));
		judge_remedy(j, f,
			     "copy the files named below, or run perfkit pack on the "
			     "recorded machine");
	}
	if (c->deferred_missing)
		judge_add(j, "deferred-missing", HARM_PARTIAL,
			  "%llu samples announce a user stack that never came",
			  (ull)c->deferred_missing);
}

/* --- stacks and names by weight --------------------------------------------------------------
 */

/* Frames of one DSO, by samples that have at least one. */
struct dso_row {
	uint32_t name, dso;             /* strings id; of the machine, or NO_ID */
	int kernel;                     /* is_lost_kernel */
	uint64_t unnamed, leaf, frames; /* samples; with it innermost; frames, weighed */
	const char *detail;
	enum dso_reason reason;
};

/* What a frame says about a stack that it is on. */
enum {
	SORTED_OUT = 1, /* the frame has been looked at */
	USER = 2,
	NOT_LIBC = 4, /* user code outside the C library */
	WORK = 8,     /* user code that is not how a thread starts */
	NAMELESS = 16,
};

struct weights {
	uint64_t *by_path; /* samples (and waits) that end there */
	uint64_t *below;   /* … there or in a path that goes on from there */
	uint8_t *says;     /* by path: of all its frames together */
	uint8_t *frame_says;
	uint32_t *nameless; /* by path: the nearest one up whose frame has no name, or 0 */
	uint64_t total, frames, with_user, only_libc;
	VEC(struct dso_row) rows;
	struct u64map index;
};

static int sum_paths(struct weights *w, const struct findings_input *in)
{
	const struct profile *p = in->profile;
	const struct timeline *tl = in->timeline;
	size_t n = p->stacks.paths.n;
	w->by_path = mem_zalloc(n ? n : 1, sizeof(*w->by_path));
	if (!w->by_path)
		return ERR_NOMEM;
	for (size_t i = 0; !tl && i < p->folded.n; i++)
		w->by_path[p->folded.v[i].path] += n ? p->folded.v[i].samples : 0;
	for (size_t i = 0; tl && n && i < tl->samples.n; i++)
		w->by_path[tl->samples.v[i].path]++;
	for (size_t i = 0; tl && n && i < tl->off.n; i++)
		w->by_path[tl->off.v[i].path]++;
	for (size_t i = 0; tl && n && i < tl->totals.n; i++)
		w->by_path[tl->totals.v[i].path]++;
	for (size_t i = 1; i < n; i++)
		w->total += w->by_path[i];
	return 0;
}

/* An address that only a kernel can have, in no mapping: the upper half of x86-64 and arm64,
 * the linear map of ppc64. */
static int is_lost_kernel(const struct frame *fr)
{
	return !fr->dso && (fr->addr >> 48 == 0xffff || fr->addr >> 60 == 0xc);
}

/* Of a frame: by DSO; what no mapping holds, apart for the kernel and the rest. */
static struct dso_row *row_of(struct weights *w, const struct profile *p,
			      const struct frame *fr)
{
	uint32_t at, name = fr->dso;
	struct dso_row row = {.name = name, .detail = "", .reason = DSO_NOT_A_FILE};
	row.kernel = is_lost_kernel(fr);
	uint64_t key = (uint64_t)name << 1 | (uint64_t)row.kernel;
	if (u64map_get(&w->index, key, &at))
		return &w->rows.v[at];
	row.dso = modules_dso_named(p->modules, name);
	if (row.dso != NO_ID)
		row.reason = modules_reason(p->modules, row.dso, &row.detail);
	if (u64map_put(&w->index, key, (uint32_t)w->rows.n) || vec_push(&w->rows, row))
		return NULL;
	return &w->rows.v[w->rows.n - 1];
}

static int is_libc(const char *path)
{
	static const char *const names[] = {"libc.so", "libc-2", "libpthread",
					    "libm.so", "libm-2", "libc.musl"};
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(base, names[i], strlen(names[i])))
			return 1;
	return 0;
}

/* The dynamic linker, which works before any code of the application does. */
static int is_linker(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	return !strncmp(base, "ld-linux", 8) || !strncmp(base, "ld-2", 4) ||
	       !strncmp(base, "ld-musl", 7);
}

/* Names of the C library that run before, or without, any code of the application. */
static int is_start(const char *name)
{
	return unwind_root_name(name) || !strncmp(name, "start_thread", 12) ||
	       !strncmp(name, "__libc_start", 12) || !strncmp(name, "clone", 5) ||
	       !strncmp(name, "__clone", 7) || !strncmp(name, "_dl_", 4) ||
	       !strncmp(name, "dl_main", 7);
}

static uint8_t frame_says(struct weights *w, const struct profile *p, uint32_t frame)
{
	const struct strtab *s = &p->stacks.strings;
	const struct frame *fr = &p->stacks.frames.v[frame];
	uint8_t says = w->frame_says[frame];
	if (says)
		return says;
	says = SORTED_OUT;
	if (!fr->name && fr->kind != FRAME_MARK)
		says |= NAMELESS;
	if (fr->kind == FRAME_USER || fr->kind == FRAME_JIT) {
		const char *dso = strtab_get(s, fr->dso);
		int linker = is_linker(dso);
		says |= USER;
		if (fr->kind == FRAME_JIT || (!linker && !is_libc(dso)))
			says |= NOT_LIBC;
		if (!linker && !is_start(strtab_get(s, fr->name)))
			says |= WORK;
	}
	return w->frame_says[frame] = says;
}

static int same_row(const struct frame *a, const struct frame *b)
{
	return a->dso == b->dso && is_lost_kernel(a) == is_lost_kernel(b);
}

/* A frame without a name: a sample counts once for a DSO, however many it has of it. */
static int count_nameless(struct weights *w, const struct profile *p, uint32_t path)
{
	const struct stacks *s = &p->stacks;
	const struct frame *fr = &s->frames.v[s->paths.v[path].frame];
	uint32_t up = w->nameless[path];
	struct dso_row *row = row_of(w, p, fr);
	if (!row)
		return ERR_NOMEM;
	while (up && !same_row(&s->frames.v[s->paths.v[up].frame], fr))
		up = w->nameless[up];
	if (!up)
		row->unnamed += w->below[path];
	row->leaf += w->by_path[path];
	row->frames += w->below[path];
	return 0;
}

/* Each path once, for all samples whose stack it is part of. */
static int count_path(struct weights *w, const struct profile *p, uint32_t path)
{
	const struct call_path *at = &p->stacks.paths.v[path];
	uint8_t above = w->says[at->parent];
	uint8_t all = above | frame_says(w, p, at->frame);
	int parent_nameless =
		at->parent && w->frame_says[p->stacks.paths.v[at->parent].frame] & NAMELESS;
	w->says[path] = all;
	w->nameless[path] = parent_nameless ? at->parent : w->nameless[at->parent];
	w->frames += w->below[path];
	w->with_user += all & USER ? w->by_path[path] : 0;
	w->only_libc += !(all & NOT_LIBC) && all & WORK ? w->by_path[path] : 0;
	return w->frame_says[at->frame] & NAMELESS ? count_nameless(w, p, path) : 0;
}

/* Callers have lower numbers than what they call. */
static int count_paths(struct weights *w, const struct profile *p)
{
	size_t n = p->stacks.paths.n;
	int rc = 0;
	w->below = mem_zalloc(n + 1, sizeof(*w->below));
	w->says = mem_zalloc(n + 1, sizeof(*w->says));
	w->nameless = mem_zalloc(n + 1, sizeof(*w->nameless));
	w->frame_says = mem_zalloc(p->stacks.frames.n + 1, sizeof(*w->frame_says));
	if (!w->below || !w->says || !w->nameless || !w->frame_says)
		return ERR_NOMEM;
	for (size_t i = n; i-- > 1;) {
		w->below[i] += w->by_path[i];
		w->below[p->stacks.paths.v[i].parent] += w->below[i];
	}
	for (uint32_t i = 1; !rc && i < n; i++)
		if (w->below[i])
			rc = count_path(w, p, i);
	return rc;
}

static void weights_release(struct weights *w)
{
	mem_free(w->by_path);
	mem_free(w->below);
	mem_free(w->says);
	mem_free(w->nameless);
	mem_free(w->frame_says);
	vec_release(&w->rows);
	u64map_release(&w->index);
}

/* Callchains without stack copies. */
static int by_frame_pointer(const struct judge *j)
{
	uint64_t types = 0;
	for (size_t i = 0; i < j->rec->events.n; i++)
		types |= j->rec->events.v[i].attr.sample_type;
	return types & PERF_SAMPLE_CALLCHAIN && !(types & PERF_SAMPLE_STACK_USER);
}

static void judge_libc(struct judge *j, const struct weights *w)
{
	if (!by_frame_pointer(j) || w->only_libc < 20 ||
	    percent(w->only_libc, w->with_user) < 5)
		return;
	struct finding *f = judge_add(j, "fp-ends-in-libc", HARM_PARTIAL,
				      "%.1f %% of user stacks begin and end in the C library",
				      percent(w->only_libc, w->with_user));
	judge_copy_instead(j, f);
}

/* --- names -----------------------------------------------------------------------------------
 */

static int by_unnamed(const void *a, const void *b, void *strings)
{
	const struct dso_row *x = a, *y = b;
	if (x->unnamed != y->unnamed)
		return x->unnamed > y->unnamed ? -1 : 1;
	return strcmp(strtab_get(strings, x->name), strtab_get(strings, y->name));
}

static const char *why(const struct dso_row *r)
{
	if (!r->name)
		return "no mapping holds the address";
	return r->reason == DSO_FOUND ? "no symbol covers the address"
				      : dso_reason_text(r->reason);
}

/* Which finding the nameless frames of a DSO belong to. */
static const char *name_finding(const struct judge *j, const struct dso_row *r)
{
	const struct dso *d = r->dso == NO_ID ? NULL : &j->in->profile->machine.dsos.v[r->dso];
	if (d && (d->kind == DSO_KERNEL || d->kind == DSO_MODULE))
		return r->reason == DSO_ZERO_KALLSYMS ? "kptr-restrict"
		       : r->reason == DSO_MISMATCH    ? "kernel-mismatch"
						      : "no-kernel-symbols";
	if (!r->name)
		return !r->kernel         ? "unmapped-frames"
		       : j->no_kernel_map ? "kptr-restrict"
					  : "no-kernel-symbols";
	if (r->reason == DSO_MISMATCH)
		return "build-id-mismatch";
	if (d && d->kind == DSO_FILE && !d->id.len &&
	    (r->reason == DSO_UNTRUSTED || r->reason == DSO_NOT_FOUND))
		return "no-build-ids";
	return "missing-symbols";
}

static const struct name_text {
	const char *id, *title, *remedy;
} name_texts[] = {
	{"kptr-restrict", "of samples have kernel frames that only zeroed symbols could name",
	 "as root on the recorded machine: sysctl kernel.kptr_restrict=0; cat /proc/kallsyms "
	 ">kallsyms; then --kallsyms kallsyms"},
	{"kernel-mismatch", "of samples have frames of a kernel that is not the one here",
	 "copy /proc/kallsyms of that boot (as root), then --kallsyms FILE; or its vmlinux and "
	 "--vmlinux FILE"},
	{"no-kernel-symbols", "of samples have kernel frames without names",
	 "on the recorded machine, before it boots anew: sudo cat /proc/kallsyms >kallsyms; "
	 "then "
	 "--kallsyms kallsyms"},
	{"build-id-mismatch", "of samples have frames of files that are another build here",
	 "copy the very files from the recorded machine below DIR, then --symfs DIR"},
	{"no-build-ids", "of samples have frames of files recorded without build-id", NULL},
	{"unmapped-frames", "of samples have frames at addresses that no mapping holds", NULL},
	{"missing-symbols", "of samples have frames without names",
	 "copy the files (or their debug files) from the recorded machine below DIR, then "
	 "--symfs "
	 "DIR; or DEBUGINFOD_URLS; or perfkit pack there"},
};

static void detail_of(struct judge *j, struct finding *f, const struct weights *w,
		      const struct dso_row *r)
{
	const struct profile *p = j->in->profile;
	char hex[2 * BUILD_ID_MAX + 1] = "";
	if (r->dso != NO_ID && p->machine.dsos.v[r->dso].id.len)
		build_id_hex(&p->machine.dsos.v[r->dso].id, hex);
	judge_detail(j, f, "%5.1f %%  %s: %s%s%s", percent(r->unnamed, w->total),
		     r->name ? strtab_get(&p->stacks.strings, r->name) : "[unknown]", why(r),
		     *hex ? ", build-id " : "", hex);
	if (f && f->ndetails)
		f->dsos[f->ndetails - 1] = r->dso;
}

/* Nameless callers far from the leaf cost an answer little: the first frames of every stack lie
 * in the C library. */
static enum finding_harm name_harm(const struct weights *w, const struct dso_row *r)
{
	return percent(r->leaf, w->total) >= 5 || percent(r->frames, w->frames) >= 25
		       ? HARM_PARTIAL
		       : HARM_ADVICE;
}

/* One finding for all DSOs that lack names for the same reason; its share is that of the worst
 * of them, since one stack may need several. */
static void judge_group(struct judge *j, const struct weights *w, const struct name_text *t)
{
	struct finding *f = NULL;
	for (size_t i = 0; i < w->rows.n; i++) {
		const struct dso_row *r = &w->rows.v[i];
		double share = percent(r->unnamed, w->total);
		if (share < 1 || strcmp(name_finding(j, r), t->id))
			continue;
		if (!f)
			f = judge_add(j, t->id, HARM_ADVICE, "%.1f %% %s", share, t->title);
		if (f && f->harm < name_harm(w, r))
			f->harm = (uint8_t)name_harm(w, r);
		if (f && r->name && f->ndetails < FINDING_DETAILS)
			detail_of(j, f, w, r);
	}
	if (!f)
		return;
	if (t->remedy)
		judge_remedy(j, f, "%s", t->remedy);
	else if (!strcmp(t->id, "no-build-ids"))
		judge_record(j, f, &(struct remedy){.build_ids = 1});
	else if (by_frame_pointer(j))
		judge_copy_instead(j, f);
	else
		judge_remedy(j, f,
			     "code made at run time, or of a process whose mappings were not "
			     "recorded: let perf start before it");
}

typedef VEC(const char *) note_vec;

static int take_note(void *notes, const char *note)
{
	return vec_push((note_vec *)notes, note);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The order in which units are read, on several threads, is no order. */
static void judge_debug_parts(struct judge *j)
{
	note_vec notes = {0};
	if (modules_each_note(j->in->profile->modules, take_note, &notes))
		j->failed = ERR_NOMEM;
	if (notes.n && !j->failed) {
		qsort(notes.v, notes.n, sizeof(*notes.v), by_text);
		struct finding *f =
			judge_add(j, "debug-parts-missing", HARM_PARTIAL,
				  "%zu part%s of debug information could not be used", notes.n,
				  notes.n == 1 ? "" : "s");
		for (size_t i = 0; i < notes.n; i++)
			judge_detail(j, f, "%s", notes.v[i]);
		judge_remedy(j, f,
			     "copy them to where they were built, or beside the program; or "
			     "perfkit pack on the machine that has them");
	}
	vec_release(&notes);
}

static int is_user_only(const struct judge *j)
{
	for (size_t i = 0; i < j->rec->events.n; i++)
		if (j->in->survey->events.n > i && j->in->survey->events.v[i].samples &&
		    !attr_flag(&j->rec->events.v[i].attr, ATTR_EXCLUDE_KERNEL))
			return 0;
	return 1;
}

/* Kernel frames, but no mapping of the kernel: perf could not read its symbols, or had no
 * reason to. */
static void judge_no_kernel_map(struct judge *j)
{
	const struct survey *v = j->in->survey;
	if (!v || !v->kernel_samples || v->kernel_maps || j->rec->events.n == 0)
		return;
	double share = percent(v->kernel_samples, j->samples);
	j->no_kernel_map = 1;
	if (share < 1) /* strays of a recording of user code */
		return;
	if (is_user_only(j)) {
		struct finding *f =
			judge_add(j, "kptr-restrict", HARM_ADVICE,
				  "%llu samples of user code came late, in the kernel (skid)",
				  (ull)v->kernel_samples);
		judge_remedy(j, f,
			     "record without :u as root (or kernel.perf_event_paranoid=1) to "
			     "see what the kernel does there");
		return;
	}
	struct finding *f =
		judge_add(j, "kptr-restrict", share >= 5 ? HARM_PARTIAL : HARM_ADVICE,
			  "%llu samples in the kernel, but perf could not see where it lies",
			  (ull)v->kernel_samples);
	judge_remedy(j, f,
		     "as root on the recorded machine: sysctl kernel.kptr_restrict=0, then "
		     "record again");
}

void judge_stacks(struct judge *j)
{
	judge_no_stacks(j);
	judge_sides(j);
	judge_dumps(j);
	judge_unrooted(j);
	judge_depth(j);
}

void judge_names(struct judge *j)
{
	const struct profile *p = j->in->profile;
	struct weights w = {0};
	judge_no_kernel_map(j);
	int rc = sum_paths(&w, j->in);
	if (!rc)
		rc = count_paths(&w, p);
	if (rc)
		j->failed = rc;
	if (w.rows.n)
		qsort_r(w.rows.v, w.rows.n, sizeof(*w.rows.v), by_unnamed,
			(void *)&p->stacks.strings);
	judge_libc(j, &w);
	for (size_t i = 0; i < sizeof(name_texts) / sizeof(*name_texts); i++)
		if (!j->no_kernel_map || strcmp(name_texts[i].id, "kptr-restrict") != 0)
			judge_group(j, &w, &name_texts[i]);
	judge_debug_parts(j);
	weights_release(&w);
}
