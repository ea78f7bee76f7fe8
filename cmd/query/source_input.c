#include "cmd/query/source_input.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* --- a store's --------------------------------------------------------------------------- */

static int is_chosen(const struct tlinput *ti, int64_t id)
{
	for (size_t i = 0; i < ti->tl.parts.n; i++)
		if (ti->tl.parts.v[i].id == id)
			return 1;
	return !ti->tl.parts.n && ti->recording == id;
}

static int read_kept(const struct tlinput *ti, struct kept_source *out, struct err *e)
{
	const struct store_recording *v;
	struct store *s;
	size_t n = 0;
	int rc = store_open(&s, ti->path, e);
	if (rc)
		return rc;
	rc = store_recordings(s, &v, &n, e);
	for (size_t i = 0; i < n && !rc; i++)
		if (is_chosen(ti, v[i].id))
			rc = store_read_source(s, v[i].id, out, e);
	store_close(s);
	return rc;
}

/* Of the recordings that were opened, read once. */
static int kept_of(struct tlinput *ti, const struct kept_source **out, struct err *e)
{
	int rc = 0;
	if (!ti->kept) {
		ti->kept = mem_zalloc(1, sizeof(*ti->kept));
		rc = ti->kept ? read_kept(ti, ti->kept, e) : err_nomem(e);
	}
	*out = ti->kept;
	return rc;
}

static int same_bytes(const struct store_bytes *a, const struct store_bytes *b)
{
	return a->n == b->n && (!a->n || !memcmp(a->v, b->v, a->n));
}

/* The row of a function; *several: recordings have different ones. NULL: none. */
static const struct kept_code *kept_row(const struct kept_source *k, const char *dso,
					const char *name, uint64_t address, int *several)
{
	const struct kept_code *found = NULL;
	uint32_t d, f;
	*several = 0;
	if (!strtab_find(&k->stacks.strings, dso, &d) ||
	    !strtab_find(&k->stacks.strings, name, &f))
		return NULL;
	for (size_t i = 0; i < k->code.n; i++) {
		const struct kept_code *x = &k->code.v[i];
		if (x->address != address || x->dso != d || x->name != f)
			continue;
		*several |= found && found->bytes.n && x->bytes.n &&
			    !same_bytes(&found->bytes, &x->bytes);
		found = found && found->bytes.n ? found : x;
	}
	return found;
}

static int kept_code(struct tlinput *ti, const char *dso, const char *name, uint64_t address,
		     struct input_code *out, struct err *e)
{
	const struct kept_source *k;
	size_t n = 0;
	int several, rc = kept_of(ti, &k, e);
	if (rc)
		return rc;
	const struct kept_code *x = kept_row(k, dso, name, address, &several);
	out->code.dso = NO_ID;
	out->code.status = several ? CODE_OTHER_BUILD : x ? x->status : CODE_NOT_KEPT;
	out->code.reason = x ? x->reason : 0;
	if (!x || several || !x->bytes.n)
		return 0;
	rc = kept_unpack(&x->bytes, DISASSEMBLE_MAX + 1, &out->own, &n);
	if (rc)
		return rc == ERR_NOMEM ? err_nomem(e)
				       : err_set(e, rc, "%s: a damaged store: the code of %s",
						 ti->path, name);
	out->code.bytes = (struct code_bytes){.v = (const uint8_t *)out->own,
					      .n = n,
					      .va = x->start,
					      .machine = (uint16_t)x->machine,
					      .narrow = x->narrow,
					      .swapped = x->swapped};
	out->lines = strtab_get(&k->stacks.strings, x->lines);
	return 0;
}

/* 1 and the MD5 that 32 digits say. */
static int md5_of_hex(const char *hex, uint8_t md5[16])
{
	size_t i = 0;
	for (unsigned byte; i < 16 && sscanf(hex + 2 * i, "%2x", &byte) == 1; i++)
		md5[i] = (uint8_t)byte;
	return i == 16;
}

/* Add what the store knows of a text: the caller frees kept->text. */
static int kept_text(struct tlinput *ti, const char *dso, struct source_name *name,
		     struct source_text *kept, uint8_t md5[16], struct err *e)
{
	const struct kept_source *k;
	uint32_t d, f;
	int rc = kept_of(ti, &k, e);
	if (rc || !strtab_find(&k->stacks.strings, dso, &d) ||
	    !strtab_find(&k->stacks.strings, name->path, &f))
		return rc;
	for (size_t i = 0; i < k->texts.n; i++) {
		const struct kept_text *x = &k->texts.v[i];
		if (x->dso != d || x->file != f)
			continue;
		if (md5_of_hex(strtab_get(&k->stacks.strings, x->md5), md5))
			name->md5 = md5;
		if (!x->text.n || x->verdict == SOURCE_ABSENT)
			return 0;
		kept->verdict = x->verdict;
		kept->path = (char *)strtab_get(&k->stacks.strings, x->path);
		rc = kept_unpack(&x->text, KEPT_TEXT_MAX, &kept->text, &kept->n);
		if (!rc && !x->path)
			name->text = kept->text;
		return rc == ERR_FORMAT ? err_set(e, rc, "%s: a damaged store: the text of %s",
						  ti->path, name->path)
		       : rc             ? err_nomem(e)
					: 0;
	}
	return 0;
}

/* --- either ------------------------------------------------------------------------------ */

int tlinput_code(struct tlinput *ti, const struct source_sums *s,
		 const struct source_place *place, struct input_code *out, struct err *e)
{
	struct profile *p = ti->in.profile;
	const struct strtab *strings = &s->stacks->strings;
	*out = (struct input_code){0};
	if (p)
		return function_code_find(p->modules, &p->machine, place->dso, place->name,
					  place->addr, &out->code)
			       ? err_nomem(e)
			       : 0;
	out->code = (struct function_code){.status = CODE_NO_SYMBOL, .dso = NO_ID};
	return place->name ? kept_code(ti, strtab_get(strings, place->dso),
				       strtab_get(strings, place->name), place->addr, out, e)
			   : 0;
}

void input_code_release(struct input_code *c)
{
	mem_free(c->own);
	*c = (struct input_code){0};
}

/* When the recording ended, or was written; 0: not known. */
static int64_t written_ns(const struct tlinput *ti)
{
	const struct tl_recording *r = &ti->tl.rec;
	if (ti->in.profile)
		return ti->in.profile->rec->written_ns;
	return r->wall_ns ? (int64_t)(r->wall_ns + (r->end_ns - r->origin_ns)) : 0;
}

int tlinput_text(struct tlinput *ti, const struct source_options *roots,
		 const struct strtab *strings, uint32_t file, uint32_t dso,
		 struct source_text *out, struct err *e)
{
	struct profile *p = ti->in.profile;
	struct source_options opt = *roots;
	struct source_name name = {.path = strtab_get(strings, file)};
	struct source_text kept = {0};
	uint8_t md5[16];
	int rc = 0;
	*out = (struct source_text){0};
	if (!file)
		return 0;
	opt.symfs = ti->in.opt->symfs;
	opt.bundle = ti->in.bundle.dir;
	opt.written_ns = written_ns(ti);
	if (!p)
		rc = kept_text(ti, strtab_get(strings, dso), &name, &kept, md5, e);
	else if (modules_source(p->modules, modules_dso_named(p->modules, dso), name.path,
				&name))
		rc = err_nomem(e);
	opt.kept = kept.text && !name.text ? &kept : NULL;
	rc = rc ? rc : source_text_load(out, &opt, &name, e);
	mem_free(kept.text);
	return rc;
}

/* --- what import keeps -------------------------------------------------------------------- */

/* A function, or a source file, and the share of samples or waits that pass through it. */
struct passed {
	uint64_t addr;
	uint32_t dso, name; /* strings ids; of a file: its path */
	double share;
};

struct keeping {
	struct tlinput *ti;
	struct profile *p;
	const struct stacks *stacks;
	struct kept_source *out;
	VEC(struct passed) functions, files;
	struct err *e;
};

/* What passes through each frame: shares of samples, and of waits, whichever is more. */
static double *shares_of_frames(const struct keeping *k)
{
	const struct timeline *tl = &k->ti->tl;
	size_t paths = k->stacks->paths.n, frames = k->stacks->frames.n;
	uint64_t *samples = mem_zalloc(paths + 1, sizeof(*samples)),
		 *waits = mem_zalloc(paths + 1, sizeof(*waits)), all[2] = {1, 1};
	double *share = mem_zalloc(frames + 1, sizeof(*share));
	for (size_t i = 0; waits && i < tl->offcpu.n; i++) {
		waits[tl->offcpu.v[i].path] += offcpu_ns(&tl->offcpu.v[i]);
		all[1] += offcpu_ns(&tl->offcpu.v[i]);
	}
	for (size_t i = 0; samples && i < tl->samples.n; i++, all[0]++)
		samples[tl->samples.v[i].path]++;
	for (size_t i = 0; samples && i < tl->event_samples.n; i++, all[0]++)
		samples[tl->event_samples.v[i].path]++;
	for (size_t i = paths; samples && waits && share && i-- > 1;) {
		const struct call_path *c = &k->stacks->paths.v[i]; /* after its parent */
		samples[c->parent] += samples[i];
		waits[c->parent] += waits[i];
		double s = (double)samples[i] / (double)all[0],
		       w = (double)waits[i] / (double)all[1];
		share[c->frame] += s > w ? s : w;
	}
	int done = samples && waits && share;
	mem_free(samples);
	mem_free(waits);
	if (!done) {
		mem_free(share);
		share = NULL;
	}
	return share;
}

static int by_what(const void *a, const void *b)
{
	const struct passed *x = a, *y = b;
	if (x->dso != y->dso)
		return x->dso < y->dso ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int by_share(const void *a, const void *b)
{
	const struct passed *x = a, *y = b;
	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return by_what(a, b);
}

/* Those of n that differ, with the sum of their shares, the largest first; returns how many. */
static size_t sum_up(struct passed *v, size_t n)
{
	size_t m = 0;
	if (!n)
		return 0;
	qsort(v, n, sizeof(*v), by_what);
	for (size_t i = 1; i < n; i++)
		if (!by_what(&v[m], &v[i]))
			v[m].share += v[i].share;
		else
			v[++m] = v[i];
	qsort(v, m + 1, sizeof(*v), by_share);
	return m + 1;
}

static int list_passed(struct keeping *k)
{
	double *share = shares_of_frames(k);
	int rc = share ? 0 : ERR_NOMEM;
	for (size_t i = 1; i < k->stacks->frames.n && !rc; i++) {
		const struct frame *f = &k->stacks->frames.v[i];
		struct passed fn = {f->addr, f->dso, f->name, share[i]};
		struct passed file = {0, f->dso, f->srcfile, share[i]};
		if (f->name && f->kind != FRAME_MARK && !(f->flags & FRAME_INLINED))
			rc = vec_push(&k->functions, fn);
		if (f->srcfile && !rc)
			rc = vec_push(&k->files, file);
	}
	mem_free(share);
	k->functions.n = rc ? 0 : sum_up(k->functions.v, k->functions.n);
	k->files.n = rc ? 0 : sum_up(k->files.v, k->files.n);
	return rc;
}

static const char *string(const struct keeping *k, uint32_t id)
{
	return strtab_get(&k->stacks->strings, id);
}

static int keep_name(struct keeping *k, const char *s, uint32_t *id)
{
	return s ? strtab_intern_line(&k->out->stacks.strings, s, strlen(s), id) : 0;
}

static int keep_lines(struct keeping *k, const struct function_code *c, uint32_t *id)
{
	struct buf b = {0};
	uint32_t last = 0, line;
	int rc = 0;
	for (uint64_t at = 0; at < c->bytes.n && c->dso != NO_ID && rc >= 0; at++) {
		rc = modules_line(k->p->modules, c->dso, c->bytes.va + at, &line);
		line = rc > 0 ? line : 0;
		if (line == last)
			continue;
		buf_fmt(&b, "%s%llu:%u", b.n ? " " : "", (unsigned long long)at, line);
		last = line;
	}
	rc = rc < 0 || buf_failed(&b) ? ERR_NOMEM : keep_name(k, buf_cstr(&b), id);
	buf_release(&b);
	return rc;
}

/* Keep a function's code if it has at most *left bytes. */
static int keep_function(struct keeping *k, const struct passed *x, size_t *left)
{
	struct function_code c;
	int rc =
		function_code_find(k->p->modules, &k->p->machine, x->dso, x->name, x->addr, &c);
	if (rc || c.bytes.n > *left)
		return rc;
	struct kept_code row = {.address = x->addr,
				.start = c.bytes.va,
				.machine = c.bytes.machine,
				.narrow = c.bytes.narrow,
				.swapped = c.bytes.swapped,
				.status = c.status,
				.reason = c.reason};
	rc = keep_name(k, string(k, x->dso), &row.dso);
	rc = rc ? rc : keep_name(k, string(k, x->name), &row.name);
	if (!rc && c.bytes.v) {
		*left -= c.bytes.n;
		rc = kept_pack(k->out, c.bytes.v, c.bytes.n, &row.bytes);
		rc = rc ? rc : keep_lines(k, &c, &row.lines);
	}
	return rc ? rc : vec_push(&k->out->code, row);
}

static int keep_md5(struct keeping *k, const uint8_t *md5, uint32_t *id)
{
	char hex[33] = "";
	for (size_t i = 0; md5 && i < 16; i++)
		snprintf(hex + 2 * i, 3, "%02x", md5[i]);
	return keep_name(k, hex, id);
}

/* Keep what is known of a file; its text if it has at most *left bytes. */
static int keep_file(struct keeping *k, const struct passed *x, size_t *left)
{
	static const struct source_options roots; /* symfs and the bundle are added */
	struct source_name name;
	struct source_text t = {0};
	struct kept_text row = {0};
	struct modules *ms = k->p->modules;
	const char *path = string(k, x->name);
	int rc = modules_source(ms, modules_dso_named(ms, x->dso), path, &name);
	rc = rc ? rc
		: tlinput_text(k->ti, &roots, &k->stacks->strings, x->name, x->dso, &t, k->e);
	if (!rc && t.verdict != SOURCE_ABSENT && t.n && t.n <= *left) {
		*left -= t.n;
		row.verdict = (uint8_t)t.verdict;
		rc = kept_pack(k->out, t.text, t.n, &row.text);
		rc = rc ? rc : keep_name(k, t.path, &row.path);
	}
	if (!rc && (name.md5 || row.text.n)) {
		rc = keep_name(k, string(k, x->dso), &row.dso);
		rc = rc ? rc : keep_name(k, path, &row.file);
		rc = rc ? rc : keep_md5(k, name.md5, &row.md5);
		rc = rc ? rc : vec_push(&k->out->texts, row);
	}
	source_text_release(&t);
	return rc;
}

int tlinput_kept_source(struct tlinput *ti, struct kept_source *out, struct err *e)
{
	struct keeping k = {.ti = ti, .p = ti->in.profile, .out = out, .e = e};
	size_t code = KEPT_CODE_MAX, text = KEPT_TEXT_MAX;
	*out = (struct kept_source){0};
	if (!k.p)
		return read_kept(ti, out, e);
	k.stacks = &k.p->stacks;
	int rc = list_passed(&k);
	for (size_t i = 0; i < k.functions.n && i < KEPT_FUNCTIONS && !rc; i++)
		rc = keep_function(&k, &k.functions.v[i], &code);
	for (size_t i = 0; i < k.files.n && !rc; i++)
		rc = keep_file(&k, &k.files.v[i], &text);
	vec_release(&k.functions);
	vec_release(&k.files);
	return rc == ERR_NOMEM ? err_nomem(e) : rc;
}
