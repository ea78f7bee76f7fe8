#include "libtime/tables/source_sums.h"
#include "base/mem.h"
#include "base/text/name_id.h"
#include "libtime/causes/app_frame.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* What finds things again, and which stack counted in them last (its number, from 1). */
struct source_index {
	struct u64map functions; /* name << 32 | module */
	struct u64map lines;     /* parent + 1 << 32 | number among `plain` */
	struct idmap plain;      /* function, file, line → line */
	struct idmap places;
	struct u64map codes; /* place << 32 | at */
	uint32_t *of_frame;  /* frame id → its plain line + 1; 0: not made */
	size_t nframes;
	VEC(uint32_t) seen_function, seen_line, seen_place, seen_code;
	VEC(uint32_t) seen_inlined; /* the same for functions: by an inlined call in them */
	VEC(uint32_t) frames;       /* of the stack, as ids */
	VEC(uint32_t) plains;       /* … and as lines */
	uint32_t stack;
	unsigned counter; /* that is added, + 1; 0: the weights */
};

/* 1 the first time a stack asks for x. */
static int first(struct source_index *x, uint32_t *seen)
{
	int is = *seen != x->stack;
	*seen = x->stack;
	return is;
}

/* --- functions and lines ---------------------------------------------------------------- */

static int function_at(struct source_sums *s, uint32_t name, uint32_t module, uint32_t *out)
{
	uint64_t key = (uint64_t)name << 32 | module;
	if (u64map_get(&s->index->functions, key, out))
		return 0;
	*out = (uint32_t)s->functions.n;
	struct source_function f = {.name = name, .module = module};
	return vec_push(&s->functions, f) || vec_push(&s->index->seen_function, 0) ||
			       vec_push(&s->index->seen_inlined, 0)
		       ? ERR_NOMEM
		       : u64map_put(&s->index->functions, key, *out);
}

static int function_of(struct source_sums *s, const struct frame *f, uint32_t *out)
{
	uint32_t name, module;
	if (s->files && f->srcfile && s->files[f->srcfile])
		return strtab_intern(&s->names, s->files_name, &name)
			       ? ERR_NOMEM
			       : function_at(s, name, 0, out);
	return function_key(&s->names, s->stacks, f, &name, &module)
		       ? ERR_NOMEM
		       : function_at(s, name, module, out);
}

static int line_new(struct source_sums *s, const struct source_line *l, uint32_t *out)
{
	*out = (uint32_t)s->lines.n;
	return vec_push(&s->lines, *l) || vec_push(&s->index->seen_line, 0) ? ERR_NOMEM : 0;
}

/* The function's own line of a frame. */
static int plain_line(struct source_sums *s, uint32_t frame, uint32_t *out)
{
	const struct frame *f = &s->stacks->frames.v[frame];
	struct source_index *x = s->index;
	struct source_line l = {
		.parent = NO_ID, .dso = f->dso, .file = f->srcfile, .line = f->line};
	if (x->of_frame[frame]) {
		*out = x->of_frame[frame] - 1;
		return 0;
	}
	if (function_of(s, f, &l.function))
		return ERR_NOMEM;
	uint64_t h = hash_u64((uint64_t)l.file << 32 | l.line) ^ hash_u64(l.function);
	size_t at = 0;
	int found = 0;
	while (!found && idmap_next(&x->plain, h, &at, out)) {
		const struct source_line *y = &s->lines.v[*out];
		found = y->function == l.function && y->file == l.file && y->line == l.line;
	}
	if (!found && (line_new(s, &l, out) || idmap_put(&x->plain, h, *out)))
		return ERR_NOMEM;
	x->of_frame[frame] = *out + 1;
	return 0;
}

/* A plain line as it is inlined in another line. */
static int inlined_line(struct source_sums *s, uint32_t parent, uint32_t plain, uint32_t *out)
{
	uint64_t key = ((uint64_t)parent + 1) << 32 | plain;
	if (u64map_get(&s->index->lines, key, out))
		return 0;
	struct source_line l = s->lines.v[plain];
	l.parent = parent;
	l.w = (struct source_weight){0};
	memset(l.counts, 0, sizeof(l.counts));
	return line_new(s, &l, out) ? ERR_NOMEM : u64map_put(&s->index->lines, key, *out);
}

/* --- places and instructions ------------------------------------------------------------ */

static int place_at(struct source_sums *s, const struct source_place *p, uint32_t *out)
{
	uint64_t h = hash_u64((uint64_t)p->function << 32 | p->caller) ^
		     hash_u64(p->addr ^ (uint64_t)p->dso << 48);
	size_t at = 0;
	while (idmap_next(&s->index->places, h, &at, out)) {
		const struct source_place *y = &s->places.v[*out];
		if (y->function == p->function && y->caller == p->caller &&
		    y->addr == p->addr && y->dso == p->dso)
			return 0;
	}
	*out = (uint32_t)s->places.n;
	return vec_push(&s->places, *p) || vec_push(&s->index->seen_place, 0)
		       ? ERR_NOMEM
		       : idmap_put(&s->index->places, h, *out);
}

static int code_at(struct source_sums *s, uint32_t place, uint32_t at, uint32_t *out)
{
	uint64_t key = (uint64_t)place << 32 | at;
	struct source_code c = {.place = place, .at = at};
	if (u64map_get(&s->index->codes, key, out))
		return 0;
	*out = (uint32_t)s->codes.n;
	return vec_push(&s->codes, c) || vec_push(&s->index->seen_code, 0)
		       ? ERR_NOMEM
		       : u64map_put(&s->index->codes, key, *out);
}

/* --- a stack ---------------------------------------------------------------------------- */

/* How a stack counts where it passes: it goes on, ends in an inlined call, or ends here. */
enum ends { GOES_ON, ENDS_INLINED, ENDS_HERE };

static void weigh(struct source_weight *w, int new, enum ends ends, uint64_t weight)
{
	w->total += new ? weight : 0;
	w->self += ends == ENDS_HERE ? weight : 0;
	w->inlined += ends == ENDS_INLINED ? weight : 0;
}

/* How a stack counts in a function: inlined calls once, or not at all if it ends in it, too. */
static enum ends ends_in_function(struct source_sums *s, uint32_t function, enum ends ends)
{
	struct source_index *x = s->index;
	uint32_t leaf = s->lines.v[x->plains.v[x->plains.n - 1]].function;
	return ends == ENDS_INLINED &&
			       (leaf == function || !first(x, &x->seen_inlined.v[function]))
		       ? GOES_ON
		       : ends;
}

/* The same of a counter. */
static void count_frame(struct source_sums *s, uint32_t line, enum ends ends, uint64_t weight)
{
	unsigned k = s->index->counter - 1;
	struct source_line *l = &s->lines.v[line];
	if (ends_in_function(s, l->function, ends) != GOES_ON)
		s->functions.v[l->function].counts[k] += weight;
	l->counts[k] += ends != GOES_ON ? weight : 0;
}

static int has_code(const struct frame *f, enum ends ends)
{
	return f->name && (f->kind == FRAME_USER || f->kind == FRAME_JIT) &&
	       (f->at || ends != GOES_ON);
}

/* The instruction of a frame that is a symbol's. */
static int add_code(struct source_sums *s, const struct frame *f, uint32_t place,
		    enum ends ends, uint64_t weight)
{
	uint32_t code;
	int is_kernel = f->name && f->kind == FRAME_KERNEL && (f->at || ends != GOES_ON);
	if (!has_code(f, ends) && !is_kernel)
		return 0;
	if (code_at(s, place, f->at, &code))
		return ERR_NOMEM;
	s->codes.v[code].total += first(s->index, &s->index->seen_code.v[code]) ? weight : 0;
	s->codes.v[code].self += ends != GOES_ON ? weight : 0;
	return 0;
}

/* Frame k of the stack: its line, its function and its place, which is that of the group of
 * inlined frames [from, to) it is in. */
static int add_frame(struct source_sums *s, size_t k, size_t from, enum ends ends,
		     uint64_t weight, uint64_t samples)
{
	struct source_index *x = s->index;
	const struct frame *f = &s->stacks->frames.v[x->frames.v[k]];
	struct source_line *l = &s->lines.v[x->plains.v[k]];
	struct source_function *fn = &s->functions.v[l->function];
	struct source_place p = {.function = l->function,
				 .dso = f->dso,
				 .name = f->name,
				 .addr = f->name ? f->addr : 0,
				 .caller = NO_ID};
	uint32_t place;
	if (x->counter) {
		count_frame(s, x->plains.v[k], ends, weight);
		return 0;
	}
	if (k > from) {
		p.addr = p.name = 0;
		p.caller = x->plains.v[k - 1];
	}
	if (place_at(s, &p, &place))
		return ERR_NOMEM;
	enum ends once = ends_in_function(s, l->function, ends);
	weigh(&l->w, first(x, &x->seen_line.v[x->plains.v[k]]), ends, weight);
	weigh(&fn->w, first(x, &x->seen_function.v[l->function]), once, weight);
	weigh(&s->places.v[place].w, first(x, &x->seen_place.v[place]), ends, weight);
	fn->samples += ends == ENDS_HERE ? samples : 0;
	return !s->code || k > from ? 0 : add_code(s, f, place, ends, weight);
}

/* What the line of frame k has inlined: the frames after it, up to `to`. */
static int add_inlined(struct source_sums *s, size_t k, size_t to, int ends, uint64_t weight)
{
	struct source_index *x = s->index;
	uint32_t at = x->plains.v[k];
	for (size_t m = k + 1; m < to; m++) {
		if (inlined_line(s, at, x->plains.v[m], &at))
			return ERR_NOMEM;
		if (x->counter) {
			s->lines.v[at].counts[x->counter - 1] += ends ? weight : 0;
			continue;
		}
		weigh(&s->lines.v[at].w, first(x, &x->seen_line.v[at]),
		      !ends         ? GOES_ON
		      : m + 1 == to ? ENDS_HERE
				    : ENDS_INLINED,
		      weight);
	}
	return 0;
}

/* The frames [from, to) are one symbol's code, and what was inlined in it. */
static int add_group(struct source_sums *s, size_t from, size_t to, int ends, uint64_t weight,
		     uint64_t samples)
{
	int rc = 0;
	for (size_t k = from; k < to && !rc; k++) {
		rc = add_frame(s, k, from,
			       !ends         ? GOES_ON
			       : k + 1 == to ? ENDS_HERE
					     : ENDS_INLINED,
			       weight, samples);
		rc = rc ? rc : add_inlined(s, k, to, ends, weight);
	}
	return rc;
}

static int prepare(struct source_sums *s)
{
	if (!s->index)
		s->index = mem_zalloc(1, sizeof(*s->index));
	struct source_index *x = s->index;
	size_t n = s->stacks->frames.n + 1;
	if (x && x->nframes < n) {
		uint32_t *v = mem_resize(x->of_frame, n, sizeof(*v));
		if (!v)
			return ERR_NOMEM;
		memset(v + x->nframes, 0, (n - x->nframes) * sizeof(*v));
		x->of_frame = v;
		x->nframes = n;
	}
	return x ? 0 : ERR_NOMEM;
}

/* A stack without frames is a function of its own, as in function_sums_rows. */
static int add_none(struct source_sums *s, uint64_t weight, uint64_t samples)
{
	uint32_t name, fn;
	if (strtab_intern(&s->names, "[no stack]", &name) || function_at(s, name, 0, &fn))
		return ERR_NOMEM;
	weigh(&s->functions.v[fn].w, 1, ENDS_HERE, weight);
	s->functions.v[fn].samples += samples;
	return 0;
}

static int has_line(const struct source_sums *s, size_t i)
{
	const struct source_line *l = &s->lines.v[s->index->plains.v[i]];
	return l->file && l->line;
}

static int has_text(const struct source_sums *s, size_t i)
{
	return has_line(s, i) && s->texts && s->texts[s->lines.v[s->index->plains.v[i]].file];
}

/* Waits in inlined code, which often only calls the kernel, are shown in the function that
 * contains it. */
static size_t container(const struct source_sums *s, size_t near)
{
	const struct source_index *x = s->index;
	while (s->waits_of && near &&
	       s->stacks->frames.v[x->frames.v[near]].flags & FRAME_INLINED &&
	       has_line(s, near - 1) && (has_text(s, near - 1) || !has_text(s, near)))
		near--;
	return near;
}

/* Count a stack for the function of its nearest frame that has a text, or a line. */
static void weigh_nearest(struct source_sums *s, uint32_t path, uint64_t weight)
{
	const struct source_index *x = s->index;
	uint32_t app = s->waits_of ? appframe_reported(s->waits_of, path) : 0;
	size_t i = x->plains.n, near = i;
	while (app && i-- > 0 && near == x->plains.n)
		if (x->frames.v[i] == app && has_line(s, i))
			near = i;
	for (i = x->plains.n; i-- > 0 && near == x->plains.n;)
		if (has_text(s, i))
			near = i;
	for (i = x->plains.n; i-- > 0 && near == x->plains.n;)
		if (has_line(s, i))
			near = i;
	if (near == x->plains.n)
		return;
	near = container(s, near);
	s->functions.v[s->lines.v[x->plains.v[near]].function].near += weight;
}

/* Append the frames of a stack, as ids and as lines, to the index. */
static int append_stack(struct source_sums *s, uint32_t path)
{
	struct source_index *x = s->index;
	size_t n = stacks_depth(s->stacks, path), at = x->plains.n;
	if (vec_reserve(&x->frames, at + n) || vec_reserve(&x->plains, at + n))
		return ERR_NOMEM;
	stacks_frames(s->stacks, path, x->frames.v + at, n);
	n = s->waits_of ? function_sums_of_program(s->stacks, x->frames.v + at, n) : n;
	for (; x->plains.n < at + n; x->plains.n++)
		if (plain_line(s, x->frames.v[x->plains.n], &x->plains.v[x->plains.n]))
			return ERR_NOMEM;
	return 0;
}

/* A stack, and the one with which it goes on (0: none). */
static int load_stack(struct source_sums *s, uint32_t path, uint32_t then)
{
	if (prepare(s))
		return ERR_NOMEM;
	s->index->frames.n = s->index->plains.n = 0;
	int rc = append_stack(s, path);
	return rc || !then ? rc : append_stack(s, then);
}

/* Where the code of the symbol at frame `from` ends, and what was inlined in it. */
static size_t group_end(const struct source_sums *s, size_t from)
{
	const struct source_index *x = s->index;
	size_t to = from + 1;
	while (to < x->plains.n && s->stacks->frames.v[x->frames.v[to]].flags & FRAME_INLINED)
		to++;
	return to;
}

static int add_stack(struct source_sums *s, const struct path_sum *of)
{
	uint32_t path = of->path, then = of->window;
	uint64_t weight = of->weight, samples = of->samples;
	int rc = load_stack(s, path, then);
	if (rc)
		return rc;
	struct source_index *x = s->index;
	size_t n = x->plains.n;
	x->stack++;
	if (x->counter) {
		s->counted[x->counter - 1] += weight;
	} else {
		s->all += weight;
		s->samples += samples;
		weigh_nearest(s, then ? then : path, weight);
	}
	if (!stacks_depth(s->stacks, path) && !stacks_depth(s->stacks, then))
		return x->counter ? 0 : add_none(s, weight, samples);
	for (size_t from = 0, to; from < n && !rc; from = to) {
		to = group_end(s, from);
		rc = add_group(s, from, to, to == n, weight, samples);
	}
	return rc;
}

int source_sums_add_counter(struct source_sums *s, unsigned counter,
			    const struct function_sums *from)
{
	if (prepare(s))
		return ERR_NOMEM;
	s->index->counter = counter + 1;
	int rc = source_sums_add_all(s, from);
	s->index->counter = 0;
	return rc;
}

/* The instruction of the frame `from` of the stack, which is a symbol's. */
static int passed_code(struct source_sums *s, size_t from, enum ends ends, uint32_t *out)
{
	const struct source_index *x = s->index;
	const struct frame *f = &s->stacks->frames.v[x->frames.v[from]];
	struct source_place p = {.function = s->lines.v[x->plains.v[from]].function,
				 .dso = f->dso,
				 .name = f->name,
				 .addr = f->name ? f->addr : 0,
				 .caller = NO_ID};
	uint32_t place;
	*out = NO_ID;
	if (!s->code || !has_code(f, ends))
		return 0;
	return place_at(s, &p, &place) ? ERR_NOMEM : code_at(s, place, f->at, out);
}

int source_sums_lines(struct source_sums *s, uint32_t path,
		      int (*take)(void *ctx, const struct source_passed *p), void *ctx)
{
	VEC(uint32_t) lines = {0};
	int rc = load_stack(s, path, 0);
	size_t n = rc ? 0 : s->index->plains.n;
	for (size_t from = 0, to; from < n && !rc; from = to) {
		to = group_end(s, from);
		lines.n = 0;
		for (size_t k = from; k < to && !rc; k++) {
			uint32_t at = s->index->plains.v[k];
			rc = vec_push(&lines, at);
			for (size_t m = k + 1; m < to && !rc; m++) {
				rc = inlined_line(s, at, s->index->plains.v[m], &at);
				rc = rc ? rc : vec_push(&lines, at);
			}
		}
		struct source_passed p = {.lines = lines.v, .n = lines.n, .ends = to == n};
		rc = rc ? rc : passed_code(s, from, p.ends ? ENDS_HERE : GOES_ON, &p.code);
		rc = rc ? rc : take(ctx, &p);
	}
	vec_release(&lines);
	return rc;
}

int source_sums_add_all(struct source_sums *s, const struct function_sums *from)
{
	int rc = 0;
	for (size_t i = 0; i < from->v.n && !rc; i++)
		rc = add_stack(s, &from->v.v[i]);
	return rc;
}

void source_sums_release(struct source_sums *s)
{
	struct source_index *x = s->index;
	if (x) {
		u64map_release(&x->functions);
		u64map_release(&x->lines);
		idmap_release(&x->plain);
		idmap_release(&x->places);
		u64map_release(&x->codes);
		mem_free(x->of_frame);
		vec_release(&x->seen_function);
		vec_release(&x->seen_inlined);
		vec_release(&x->seen_line);
		vec_release(&x->seen_place);
		vec_release(&x->seen_code);
		vec_release(&x->frames);
		vec_release(&x->plains);
		mem_free(x);
	}
	strtab_release(&s->names);
	vec_release(&s->functions);
	vec_release(&s->lines);
	vec_release(&s->places);
	vec_release(&s->codes);
	*s = (struct source_sums){0};
}

/* --- choosing --------------------------------------------------------------------------- */

static int hotter(const void *a, const void *b, void *sums)
{
	const struct source_sums *s = sums;
	const struct source_function *x = &s->functions.v[*(const uint32_t *)a];
	const struct source_function *y = &s->functions.v[*(const uint32_t *)b];
	uint64_t own[2] = {x->w.self, y->w.self};
	if (own[0] != own[1])
		return own[0] > own[1] ? -1 : 1;
	if (x->w.total != y->w.total)
		return x->w.total > y->w.total ? -1 : 1;
	int c = strcmp(strtab_get(&s->names, x->name), strtab_get(&s->names, y->name));
	return c ? c
		 : strcmp(strtab_get(&s->names, x->module), strtab_get(&s->names, y->module));
}

/* 1 if `name` is what comes after a separator in `full`: "get" of "cache::get". */
static int is_end_of(const char *full, const char *name)
{
	size_t n = strlen(full), m = strlen(name);
	return n > m && !strcmp(full + n - m, name) && strchr(":./", full[n - m - 1]);
}

enum { WHOLE, END, PATTERN, PART, WAYS };

static int names(const char *full, const char *name, int how)
{
	switch (how) {
	case WHOLE:
		return !strcmp(full, name);
	case END:
		return is_end_of(full, name);
	case PATTERN:
		return strpbrk(name, "*?[") && !fnmatch(name, full, 0);
	default:
		return strstr(full, name) != NULL;
	}
}

/* Choose the functions with that id. ERR_NOMEM. */
static int pick_id(const struct source_sums *s, const char *id, source_picks *out)
{
	struct buf full = {0};
	int rc = 0;
	for (uint32_t i = 0; i < s->functions.n && !rc; i++) {
		const struct source_function *f = &s->functions.v[i];
		buf_clear(&full);
		name_of_function(&full, strtab_get(&s->names, f->name),
				 strtab_get(&s->names, f->module));
		rc = buf_failed(&full) ||
		     (name_has_id("function", id, buf_cstr(&full)) && vec_push(out, i));
	}
	buf_release(&full);
	return rc ? ERR_NOMEM : 0;
}

int source_pick_functions(const struct source_sums *s, const char *name, source_picks *out)
{
	out->n = 0;
	if (name && name_is_id("function", name) && pick_id(s, name, out))
		return ERR_NOMEM;
	for (int how = WHOLE; how < WAYS && !out->n; how++)
		for (uint32_t i = 0; i < s->functions.n; i++)
			if ((!name ||
			     names(strtab_get(&s->names, s->functions.v[i].name), name, how)) &&
			    vec_push(out, i))
				return ERR_NOMEM;
	if (out->n)
		qsort_r(out->v, out->n, sizeof(*out->v), hotter, (void *)s);
	return 0;
}

int source_pick_files(const struct source_sums *s, const char *name, uint32_t line,
		      uint8_t **files)
{
	const struct strtab *strings = &s->stacks->strings;
	int n = 0;
	*files = mem_zalloc(strtab_count(strings) + 1, 1);
	if (!*files)
		return ERR_NOMEM;
	for (size_t i = 0; i < s->lines.n; i++) {
		const struct source_line *l = &s->lines.v[i];
		const char *path = strtab_get(strings, l->file);
		size_t m = strlen(path), k = strlen(name);
		int is = m >= k && k && !strcmp(path + m - k, name) &&
			 (m == k || path[m - k - 1] == '/');
		if (is && (!line || line == l->line) && !(*files)[l->file]) {
			(*files)[l->file] = 1;
			n++;
		}
	}
	return n;
}

int source_pick_in_files(const struct source_sums *s, const uint8_t *files, uint32_t line,
			 source_picks *out)
{
	uint8_t *has = mem_zalloc(s->functions.n + 1, 1);
	int rc = has ? 0 : ERR_NOMEM;
	out->n = 0;
	for (size_t i = 0; i < s->lines.n && !rc; i++) {
		const struct source_line *l = &s->lines.v[i];
		if (l->parent == NO_ID && l->file && files[l->file] && !has[l->function] &&
		    (!line || line == l->line)) {
			has[l->function] = 1;
			rc = vec_push(out, l->function);
		}
	}
	mem_free(has);
	if (!rc && out->n)
		qsort_r(out->v, out->n, sizeof(*out->v), hotter, (void *)s);
	return rc;
}
