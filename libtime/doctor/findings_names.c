/* findings_names.c - findings about names, by share of the samples affected. */
#include "base/mem.h"
#include "base/text/path.h"
#include "libtime/doctor/findings_internal.h"
#include "libtime/record/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- stacks and names by weight ----------------------------------------------------- */

/* Frames of one DSO, by samples that have at least one. */
struct dso_row {
	uint32_t name, dso; /* strings id; of the machine, or NO_ID */
	int kernel;         /* is_lost_kernel */
	uint64_t unnamed, leaf,
		frames; /* samples with one, samples with one as leaf, weighted frames */
	uint32_t open;  /* how many of its unnamed frames the walk is below */
	const char *detail;
	enum dso_reason reason;
	size_t group; /* of name_forms */
};

enum { NAME_FORMS = 8 };

/* What a frame shows about a stack that it is on. */
enum {
	CLASSIFIED = 1, /* the other bits are set */
	USER = 2,
	NOT_LIBC = 4, /* user code outside the C and C++ runtime */
	WORK = 8,     /* user code that is not how a thread starts */
	UNNAMED = 16,
};

/* A walk over all paths from the roots: a path is followed by those that continue it. */
struct walk {
	uint32_t *size;  /* by path: how many continue it, including itself */
	uint32_t *order; /* paths in the order of the walk */
	VEC(struct open_frame {
		uint32_t row, until; /* it is below it up to that place of the walk */
	})
	open; /* unnamed frames that the walk is below */
};

/* The sums. */
struct name_weights {
	uint64_t total, frames, with_user, only_libc;
	VEC(struct dso_row) rows;
	struct u64map index;
	int no_kernel_map; /* as in struct diagnosis */
	/* by group of name_forms: samples with an unnamed frame of any of its DSOs, and how many
	 * of these the walk is below */
	uint64_t samples[NAME_FORMS];
	uint32_t open[NAME_FORMS];
};

struct weights {
	uint64_t *by_path; /* samples (and waits) with that stack */
	uint64_t *below;   /* … or with one that continues it */
	uint8_t *shows;    /* by path: the bits of all its frames */
	uint8_t *frame_shows;
	uint8_t last_shows;        /* the bits of unnamed frames like … */
	struct frame last_unnamed; /* … this one, the last that was seen */
	struct walk walk;
	struct name_weights *out;
};

uint64_t *diagnose_path_sums(const struct findings_input *in)
{
	const struct profile *p = in->profile;
	const struct timeline *tl = in->timeline;
	size_t n = p->stacks.paths.n;
	uint64_t *sums = mem_zalloc(n ? n : 1, sizeof(*sums));
	if (!sums)
		return NULL;
	for (size_t i = 0; !tl && i < p->folded.n; i++)
		sums[p->folded.v[i].path] += n ? p->folded.v[i].samples : 0;
	for (size_t i = 0; tl && n && i < tl->samples.n; i++)
		sums[tl->samples.v[i].path]++;
	for (size_t i = 0; tl && n > 1 && i < tl->offcpu.n; i++) /* 0: no stack */
		sums[tl->offcpu.v[i].path]++;
	for (size_t i = 0; tl && n && i < tl->totals.n; i++)
		sums[tl->totals.v[i].path]++;
	return sums;
}

static int sum_paths(struct weights *w, const struct findings_input *in)
{
	w->by_path = diagnose_path_sums(in);
	for (size_t i = 1; w->by_path && i < in->profile->stacks.paths.n; i++)
		w->out->total += w->by_path[i];
	return w->by_path ? 0 : ERR_NOMEM;
}

/* An address that only a kernel can have, in no mapping: the upper half of x86-64 and arm64,
 * the linear map of ppc64. */
static int is_lost_kernel(const struct frame *fr)
{
	return !fr->dso && (fr->addr >> 48 == 0xffff || fr->addr >> 60 == 0xc);
}

int diagnose_is_unmapped(const struct frame *fr)
{
	return fr->kind == FRAME_USER && !fr->dso && !fr->name && !is_lost_kernel(fr);
}

/* The finding that a DSO's unnamed frames belong to. */
static enum form name_finding(const struct profile *p, int no_kernel_map,
			      const struct dso_row *r)
{
	const struct dso *d = r->dso == NO_ID ? NULL : &p->machine.dsos.v[r->dso];
	if (d && (d->kind == DSO_KERNEL || d->kind == DSO_MODULE))
		return r->reason == DSO_ZERO_KALLSYMS ? FORM_KPTR_RESTRICT
		       : r->reason == DSO_MISMATCH    ? FORM_KERNEL_MISMATCH
						      : FORM_NO_KERNEL_SYMBOLS;
	if (!r->name)
		return !r->kernel      ? FORM_UNMAPPED_FRAMES
		       : no_kernel_map ? FORM_KPTR_RESTRICT
				       : FORM_NO_KERNEL_SYMBOLS;
	if (names_is_data(strtab_get(&p->stacks.strings, r->name)))
		return FORM_UNMAPPED_FRAMES;
	if (r->reason == DSO_MISMATCH)
		return FORM_BUILD_ID_MISMATCH;
	if (r->reason == DSO_SHARED_PATH)
		return FORM_SHARED_PATH;
	if (d && d->kind == DSO_FILE && !d->id.len &&
	    (r->reason == DSO_UNTRUSTED || r->reason == DSO_NOT_FOUND))
		return FORM_NO_BUILD_IDS;
	return FORM_MISSING_SYMBOLS;
}

/* The findings, each of a group of DSOs. FORM_NONE: depends on more. */
static const struct name_form {
	enum form title, remedy;
} name_forms[NAME_FORMS] = {
	{FORM_KPTR_RESTRICT, FORM_READ_KALLSYMS},
	{FORM_KERNEL_MISMATCH, FORM_COPY_KALLSYMS},
	{FORM_NO_KERNEL_SYMBOLS, FORM_SAVE_KALLSYMS},
	{FORM_BUILD_ID_MISMATCH, FORM_COPY_FILES},
	{FORM_SHARED_PATH, FORM_NONE},
	{FORM_NO_BUILD_IDS, FORM_NONE},
	{FORM_UNMAPPED_FRAMES, FORM_NONE},
	{FORM_MISSING_SYMBOLS, FORM_COPY_OR_FETCH},
};

static size_t group_of(const struct profile *p, int no_kernel_map, const struct dso_row *r)
{
	enum form title = name_finding(p, no_kernel_map, r);
	size_t i = 0;
	while (i + 1 < NAME_FORMS && name_forms[i].title != title)
		i++;
	return i;
}

/* The row of a frame's DSO. Frames in no mapping have two rows: the kernel's and others. */
static struct dso_row *row_of(struct name_weights *w, const struct profile *p,
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
	row.group = group_of(p, w->no_kernel_map, &row);
	if (u64map_put(&w->index, key, (uint32_t)w->rows.n) || vec_push(&w->rows, row))
		return NULL;
	return &w->rows.v[w->rows.n - 1];
}

/* Is it the dynamic linker, which runs before any code of the application? */
static int is_linker(const char *path)
{
	const char *base = path_base(path);
	return !strncmp(base, "ld-linux", 8) || !strncmp(base, "ld-2", 4) ||
	       !strncmp(base, "ld-musl", 7);
}

static uint8_t look_at(const struct profile *p, const struct frame *fr)
{
	const struct strtab *s = &p->stacks.strings;
	uint8_t shows = CLASSIFIED;
	if (!frame_is_named(fr) && fr->kind != FRAME_MARK)
		shows |= UNNAMED;
	if (fr->kind == FRAME_USER || fr->kind == FRAME_JIT) {
		const struct frame_table *t = modules_frames(p->modules);
		const char *dso = strtab_get(s, fr->dso), *name = strtab_get(s, fr->name);
		shows |= USER;
		if (fr->kind == FRAME_JIT || !(frame_roles(t, 0, "", dso) & ROLE_RUNTIME))
			shows |= NOT_LIBC;
		if (!is_linker(dso) && !(frame_roles(t, 0, name, dso) & ROLE_START))
			shows |= WORK;
	}
	return shows;
}

/* There may be an unnamed frame for each address; those of one DSO and kind show the same. */
static uint8_t frame_shows(struct weights *w, const struct profile *p, uint32_t frame)
{
	const struct frame *fr = &p->stacks.frames.v[frame];
	uint8_t *shows = &w->frame_shows[frame];
	if (*shows)
		return *shows;
	if (frame_is_named(fr))
		return *shows = look_at(p, fr);
	if (!w->last_shows || fr->dso != w->last_unnamed.dso ||
	    fr->kind != w->last_unnamed.kind)
		w->last_shows = look_at(p, fr);
	w->last_unnamed = *fr;
	return *shows = w->last_shows;
}

/* Count an unnamed frame: a sample counts once for a DSO and for a group, however many such
 * frames it has. */
static int count_unnamed(struct weights *w, const struct profile *p, uint32_t place)
{
	struct walk *k = &w->walk;
	uint32_t path = k->order[place];
	while (k->open.n && k->open.v[k->open.n - 1].until <= place) {
		struct dso_row *left = &w->out->rows.v[k->open.v[--k->open.n].row];
		left->open--;
		w->out->open[left->group]--;
	}
	struct dso_row *row =
		row_of(w->out, p, &p->stacks.frames.v[p->stacks.paths.v[path].frame]);
	if (!row)
		return ERR_NOMEM;
	if (!row->open++)
		row->unnamed += w->below[path];
	if (!w->out->open[row->group]++)
		w->out->samples[row->group] += w->below[path];
	row->leaf += w->by_path[path];
	row->frames += w->below[path];
	struct open_frame open = {(uint32_t)(row - w->out->rows.v), place + k->size[path]};
	return vec_push(&k->open, open);
}

/* Count a path once, for all samples whose stack it is part of. */
static int count_path(struct weights *w, const struct profile *p, uint32_t place)
{
	uint32_t path = w->walk.order[place];
	const struct call_path *at = &p->stacks.paths.v[path];
	uint8_t all = w->shows[at->parent] | frame_shows(w, p, at->frame);
	w->shows[path] = all;
	w->out->frames += w->below[path];
	w->out->with_user += all & USER ? w->by_path[path] : 0;
	w->out->only_libc += !(all & NOT_LIBC) && all & WORK ? w->by_path[path] : 0;
	return w->frame_shows[at->frame] & UNNAMED ? count_unnamed(w, p, place) : 0;
}

/* Callers have lower ids than what they call. */
static int walk_init(struct walk *k, const struct stacks *s)
{
	size_t n = s->paths.n;
	uint32_t *next =
		mem_zalloc(n + 1, sizeof(*next)); /* by path: the next callee's place */
	k->size = mem_zalloc(n + 1, sizeof(*k->size));
	k->order = mem_zalloc(n + 1, sizeof(*k->order));
	int rc = next && k->size && k->order ? 0 : ERR_NOMEM;
	for (size_t i = n; !rc && i-- > 1;)
		k->size[s->paths.v[i].parent] += ++k->size[i];
	for (uint32_t i = 1; !rc && i < n; i++) {
		uint32_t parent = s->paths.v[i].parent, place = next[parent];
		k->order[place] = i;
		next[parent] += k->size[i];
		next[i] = place + 1;
	}
	mem_free(next);
	return rc;
}

static int count_paths(struct weights *w, const struct profile *p)
{
	size_t n = p->stacks.paths.n;
	w->below = mem_zalloc(n + 1, sizeof(*w->below));
	w->shows = mem_zalloc(n + 1, sizeof(*w->shows));
	w->frame_shows = mem_zalloc(p->stacks.frames.n + 1, sizeof(*w->frame_shows));
	int rc = w->below && w->shows && w->frame_shows ? walk_init(&w->walk, &p->stacks)
							: ERR_NOMEM;
	for (size_t i = n; !rc && i-- > 1;) {
		w->below[i] += w->by_path[i];
		w->below[p->stacks.paths.v[i].parent] += w->below[i];
	}
	for (uint32_t place = 0; !rc && place + 1 < n; place++)
		if (w->below[w->walk.order[place]])
			rc = count_path(w, p, place);
	return rc;
}

static void weights_release(struct weights *w)
{
	mem_free(w->by_path);
	mem_free(w->below);
	mem_free(w->shows);
	mem_free(w->walk.size);
	mem_free(w->walk.order);
	vec_release(&w->walk.open);
	mem_free(w->frame_shows);
}

void name_weights_free(struct name_weights *w)
{
	if (!w)
		return;
	vec_release(&w->rows);
	u64map_release(&w->index);
	mem_free(w);
}

/* Are there callchains, but no stack copies? */
static int by_frame_pointer(const struct diagnosis *j)
{
	uint64_t types = 0;
	for (size_t i = 0; i < j->rec->events.n; i++)
		types |= j->rec->events.v[i].attr.sample_type;
	return types & PERF_SAMPLE_CALLCHAIN && !(types & PERF_SAMPLE_STACK_USER);
}

static void diagnose_libc(struct diagnosis *j, const struct name_weights *w)
{
	if (!by_frame_pointer(j) || w->only_libc < 20 ||
	    percent(w->only_libc, w->with_user) < 5)
		return;
	struct finding *f =
		diagnose_add(j, FORM_ENDS_IN_LIBC, SEVERITY_PARTIAL,
			     FACTS(fact_share("stacks", w->only_libc, w->with_user)));
	diagnose_suggest_copies(j, f);
}

/* --- names ---------------------------------------------------------------------------- */

static int by_unnamed(const void *a, const void *b, void *strings)
{
	const struct dso_row *x = a, *y = b;
	if (x->unnamed != y->unnamed)
		return x->unnamed > y->unnamed ? -1 : 1;
	return strcmp(strtab_get(strings, x->name), strtab_get(strings, y->name));
}

/* Add a file that a finding is about, with the facts that missing_get needs to fetch it. */
static void name_file(struct diagnosis *j, struct finding *f, const struct name_weights *w,
		      const struct dso_row *r)
{
	const struct profile *p = j->in->profile;
	const struct strtab *s = &p->stacks.strings;
	const struct dso *d = r->dso == NO_ID ? NULL : &p->machine.dsos.v[r->dso];
	char id[2 * BUILD_ID_MAX + 1] = "";
	struct fact facts[8] = {fact_share("samples", r->unnamed, w->total),
				fact_text("file", FACT_FILE, strtab_get(s, r->name)),
				fact_text("reason", FACT_REASON, store_reason_word(r->reason))};
	size_t n = 3;
	if (r->reason == DSO_UNREADABLE && *r->detail)
		facts[n++] = fact_text("detail", FACT_MESSAGE, r->detail);
	if (d && d->id.len)
		facts[n++] = fact_text("build_id", FACT_BUILD_ID, build_id_hex(&d->id, id));
	if (d) {
		facts[n++] = fact_text("kind", FACT_KIND, store_kind_word(d->kind + 1));
		facts[n++] = fact_text("path", FACT_PATH, strtab_get(s, d->path));
		if (d->pid >= 0)
			facts[n++] = fact_number("pid", FACT_PID, (uint64_t)d->pid);
	}
	diagnose_detail(j, f, FORM_FILE, facts, n);
}

/* Unnamed frames that diagnose_maps has not reported. */
static uint64_t unnamed(const struct diagnosis *j, const struct dso_row *r)
{
	if (r->name || r->kernel)
		return r->unnamed;
	return r->unnamed > j->mapless ? r->unnamed - j->mapless : 0;
}

/* Unnamed callers far from the leaf cost an answer little: the first frames of every stack are
 * in the C library. */
static enum finding_severity name_severity(const struct diagnosis *j,
					   const struct name_weights *w,
					   const struct dso_row *r)
{
	uint64_t named = r->unnamed - unnamed(j, r);
	uint64_t leaf = r->leaf > named ? r->leaf - named : 0;
	uint64_t frames = r->frames > named ? r->frames - named : 0;
	return percent(leaf, w->total) >= 5 || percent(frames, w->frames) >= 25
		       ? SEVERITY_PARTIAL
		       : SEVERITY_ADVICE;
}

/* The samples with unnamed frames of a group, less those that diagnose_maps has reported. */
static uint64_t group_samples(const struct diagnosis *j, const struct name_weights *w,
			      size_t group)
{
	uint64_t n = w->samples[group];
	for (size_t i = 0; i < w->rows.n; i++)
		if (w->rows.v[i].group == group)
			n -= w->rows.v[i].unnamed - unnamed(j, &w->rows.v[i]);
	return n;
}

/* 1 unless this perf is known to be older than 5.12. */
static int has_mapped_ids(const struct recording *rec)
{
	const char *version = rec->features.version;
	int major, minor;
	return !version || sscanf(version, "%d.%d", &major, &minor) != 2 ||
	       major * PERF_MINORS + minor >= 5 * PERF_MINORS + 12;
}

/* --buildid-all lists the files that perf finds in the end: of one that it found no more, or
 * whose path has several, the kernel knows the build-id when it is mapped. */
static void diagnose_ids(struct diagnosis *j, struct finding *f, struct remedy ids)
{
	ids.own_ids |= !diagnose_line_changes(j, &ids);
	ids.own_ids &= has_mapped_ids(j->rec);
	diagnose_record(j, f, &ids);
}

/* Make one finding for all DSOs that lack names for the same reason. */
static void diagnose_group(struct diagnosis *j, const struct name_weights *w, size_t group)
{
	const struct name_form *t = &name_forms[group];
	uint64_t samples = group_samples(j, w, group);
	struct finding *f = NULL;
	struct remedy ids = {.build_ids = 1};
	for (size_t i = 0; i < w->rows.n; i++) {
		const struct dso_row *r = &w->rows.v[i];
		if (percent(unnamed(j, r), w->total) < 1 || r->group != group)
			continue;
		if (!f)
			f = diagnose_add(j, t->title, SEVERITY_ADVICE,
					 FACTS(fact_share("samples", samples, w->total)));
		if (f && f->severity < name_severity(j, w, r))
			f->severity = (uint8_t)name_severity(j, w, r);
		ids.own_ids |= r->reason == DSO_SHARED_PATH;
		if (f && r->name && f->ndetails < FINDING_DETAILS)
			name_file(j, f, w, r);
	}
	if (!f)
		return;
	if (t->remedy)
		diagnose_remedy(j, f, t->remedy, NO_FACTS);
	else if (t->title == FORM_NO_BUILD_IDS || t->title == FORM_SHARED_PATH)
		diagnose_ids(j, f, ids);
	else if (by_frame_pointer(j))
		diagnose_suggest_copies(j, f);
	else
		diagnose_remedy(j, f, FORM_START_PERF_FIRST, NO_FACTS);
}

typedef VEC(const char *) note_vec;

static int add_note(void *notes, const char *note)
{
	return vec_push((note_vec *)notes, note);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sort the notes: units are read by several threads, in any order. */
static void diagnose_debug_parts(struct diagnosis *j)
{
	note_vec notes = {0};
	if (modules_each_note(j->in->profile->modules, add_note, &notes))
		j->failed = ERR_NOMEM;
	if (notes.n && !j->failed) {
		qsort(notes.v, notes.n, sizeof(*notes.v), by_text);
		struct finding *f =
			diagnose_add(j, FORM_DEBUG_PARTS, SEVERITY_PARTIAL,
				     FACTS(fact_number("parts", FACT_COUNT, notes.n)));
		for (size_t i = 0; i < notes.n; i++)
			diagnose_detail(j, f, FORM_DEBUG_PART,
					FACTS(fact_text("part", FACT_MESSAGE, notes.v[i])));
		diagnose_remedy(j, f, FORM_COPY_PARTS, NO_FACTS);
	}
	vec_release(&notes);
}

static int is_user_only(const struct diagnosis *j)
{
	for (size_t i = 0; i < j->rec->events.n; i++)
		if (j->in->survey->events.n > i && j->in->survey->events.v[i].samples &&
		    !attr_flag(&j->rec->events.v[i].attr, ATTR_EXCLUDE_KERNEL))
			return 0;
	return 1;
}

/* Kernel frames, but no mapping of the kernel: perf could not read its symbols, or had no
 * reason to. */
static void diagnose_no_kernel_map(struct diagnosis *j)
{
	const struct survey *v = j->in->survey;
	if (!v || !v->kernel_samples || v->kernel_maps || j->rec->events.n == 0)
		return;
	double share = percent(v->kernel_samples, j->samples);
	j->no_kernel_map = 1;
	if (share < 1) /* a few, in a recording of user code */
		return;
	if (is_user_only(j)) {
		struct finding *f = diagnose_add(
			j, FORM_SKID, SEVERITY_ADVICE,
			FACTS(fact_number("samples", FACT_COUNT, v->kernel_samples)));
		diagnose_remedy(j, f, FORM_SEE_KERNEL, NO_FACTS);
		return;
	}
	struct finding *f = diagnose_add(
		j, FORM_KERNEL_UNSEEN, share >= 5 ? SEVERITY_PARTIAL : SEVERITY_ADVICE,
		FACTS(fact_number("samples", FACT_COUNT, v->kernel_samples)));
	diagnose_remedy(j, f, FORM_SHOW_KERNEL, NO_FACTS);
}

/* Sum up the names of the input in *out; incomplete after ERR_NOMEM. */
static int weigh(const struct diagnosis *j, struct name_weights *out)
{
	const struct findings_input *in = j->in;
	const struct profile *p = in->profile;
	struct weights w = {.out = out};
	out->no_kernel_map = j->no_kernel_map;
	int rc = sum_paths(&w, in);
	if (!rc)
		rc = count_paths(&w, p);
	if (out->rows.n)
		qsort_r(out->rows.v, out->rows.n, sizeof(*out->rows.v), by_unnamed,
			(void *)&p->stacks.strings);
	weights_release(&w);
	return rc;
}

void diagnose_names(struct diagnosis *j)
{
	struct name_weights *own = NULL, **w = j->in->names ? j->in->names : &own;
	diagnose_no_kernel_map(j);
	if (!*w && (!(*w = mem_zalloc(1, sizeof(**w))) || weigh(j, *w)))
		j->failed = ERR_NOMEM;
	if (!*w)
		return;
	diagnose_libc(j, *w);
	for (size_t i = 0; i < NAME_FORMS; i++)
		if (!j->no_kernel_map || name_forms[i].title != FORM_KPTR_RESTRICT)
			diagnose_group(j, *w, i);
	diagnose_debug_parts(j);
	name_weights_free(own);
}
