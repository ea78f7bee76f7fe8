#include "cmd/answer/source_side.h"
#include "base/mem.h"
#include "cmd/cli/say.h"
#include "cmd/query/source_input.h"

#include <stdlib.h>
#include <string.h>

/* --- weights ---------------------------------------------------------------------------- */

static enum stack_question question(const struct source_opts *o)
{
	return o->tail ? STACKS_OF_TAIL_ROOTS : o->offcpu ? STACKS_OF_WAITS : STACKS_OF_SAMPLES;
}

static int add_row(void *sums, const struct stack_row *r, struct err *e)
{
	return function_sums_add(sums, r->nwakers ? r->wakers->path : 0, r->of.path,
				 r->of.weight, r->of.samples)
		       ? err_nomem(e)
		       : 0;
}

static int choose_event(struct source_side *s)
{
	struct samples *x = &s->src.samples;
	s->src.event = s->opt.wait.tl.in.events.n ? NO_ID : samples_default(x);
	if (x->events.n)
		samples_say_others(x, s->src.event == NO_ID ? 0 : s->src.event,
				   s->src.event == NO_ID ? samples_any_event
							 : samples_same_event);
	s->src.is = samples_same_event;
	s->src.any_order = 1;
	return samples_check_findings(x, s->src.event);
}

/* Which files of frames have a text. Errors as of tlinput_text. */
static int find_texts(struct source_side *s, struct err *e)
{
	const struct stacks *st = s->src.stacks;
	size_t n = strtab_count(&st->strings);
	uint8_t *seen = mem_zalloc(n, 1);
	s->texts = mem_zalloc(n, 1);
	int rc = seen && s->texts ? 0 : err_nomem(e);
	for (size_t i = 1; i < st->frames.n && !rc; i++) {
		const struct frame *f = &st->frames.v[i];
		struct source_row row = {.file = f->srcfile, .dso = f->dso};
		struct source_rows one = {.v = {&row, 1, 1}};
		struct source_part part = {.file = f->srcfile, .n = 1};
		struct source_text t = {0};
		if (!f->srcfile || seen[f->srcfile])
			continue;
		seen[f->srcfile] = 1;
		rc = source_side_text(s, &one, &part, &t, e);
		s->texts[f->srcfile] = t.verdict != SOURCE_ABSENT;
		source_text_release(&t);
	}
	mem_free(seen);
	return rc;
}

/* The events that the shown one's samples also read: of its group. */
static void find_counters(struct source_side *s)
{
	const struct samples *x = &s->src.samples;
	uint32_t shown = s->src.event;
	if (s->src.asked != STACKS_OF_SAMPLES || shown == NO_ID || !x->events.v[shown].group)
		return;
	for (uint32_t i = 0; i < x->events.n && s->ncounters < SOURCE_COUNTERS; i++)
		if (i != shown && x->events.v[i].group == x->events.v[shown].group)
			s->counters[s->ncounters++] = i;
}

void source_side_counters(const struct source_side *s, struct source_counters *out)
{
	const struct samples_event *ev = s->src.samples.events.v;
	*out = (struct source_counters){.n = s->ncounters,
					.cycles = SOURCE_NO_COUNTER,
					.instructions = SOURCE_NO_COUNTER};
	for (int k = -1; k < (int)s->ncounters && s->ncounters; k++) {
		const struct samples_event *x = &ev[k < 0 ? s->src.event : s->counters[k]];
		if (k >= 0)
			out->names[k] = x->name;
		if (x->counts == COUNTS_CYCLES)
			out->cycles = k;
		else if (x->counts == COUNTS_INSTRUCTIONS)
			out->instructions = k;
	}
}

/* The counters into `sums`. */
static int add_counters(struct source_side *s, struct source_sums *sums, struct err *e)
{
	uint32_t shown = s->src.event;
	int rc = 0;
	for (unsigned k = 0; k < s->ncounters && !rc; k++) {
		struct function_sums stacks = {.stacks = s->src.stacks};
		s->src.event = s->counters[k];
		rc = stack_source_rows(&s->src, add_row, &stacks, e);
		if (!rc && source_sums_add_counter(sums, k, &stacks))
			rc = err_nomem(e);
		function_sums_release(&stacks);
	}
	s->src.event = shown;
	return rc;
}

int source_side_open(struct source_side *s, const struct source_opts *o, const char *path,
		     int is_before, int choose)
{
	struct err e = {0};
	enum stack_question asked = question(o);
	s->o = o;
	s->is_before = is_before;
	s->opt = o->t;
	s->opt.wait.tl.in.lines = 1;
	s->opt.wait.tl.in.places = o->instructions;
	if (o->instructions && branches_init(&s->branches))
		return input_fail(NULL, (err_nomem(&e), &e));
	s->opt.wait.tl.in.branches = o->instructions ? &s->branches : NULL;
	int rc = stack_source_open(&s->src, "source", asked, &s->opt, path, NULL, 0);
	s->open = !rc;
	if (!rc && asked == STACKS_OF_SAMPLES)
		rc = choose_event(s);
	if (rc)
		return rc;
	s->stacks.stacks = s->src.stacks;
	s->sums = (struct source_sums){.stacks = s->src.stacks,
				       .waits_of = asked == STACKS_OF_SAMPLES ? NULL
									      : &s->src.ti->tl,
				       .code = o->instructions};
	s->is_choosing = choose;
	if (choose && find_texts(s, &e))
		return input_fail(&s->src.ti->in, &e);
	s->is_choosing = 0;
	s->sums.texts = s->texts;
	s->shown = &s->sums;
	rc = stack_source_rows(&s->src, add_row, &s->stacks, &e);
	if (!rc && source_sums_add_all(&s->sums, &s->stacks))
		rc = err_nomem(&e);
	find_counters(s);
	rc = rc ? rc : add_counters(s, &s->sums, &e);
	return rc ? input_fail(&s->src.ti->in, &e) : 0;
}

int source_side_by_file(struct source_side *s, const char *name)
{
	int n = source_pick_files(&s->sums, name, 0, &s->files);
	if (n <= 0)
		return n;
	s->by_file = (struct source_sums){.stacks = s->sums.stacks,
					  .waits_of = s->sums.waits_of,
					  .files = s->files,
					  .files_name = name};
	s->shown = &s->by_file;
	int rc = source_sums_add_all(&s->by_file, &s->stacks);
	return rc || add_counters(s, &s->by_file, NULL) ? ERR_NOMEM : 1;
}

void source_side_close(struct source_side *s)
{
	source_sums_release(&s->sums);
	source_sums_release(&s->by_file);
	mem_free(s->files);
	mem_free(s->texts);
	function_sums_release(&s->stacks);
	branches_release(&s->branches);
	if (s->open)
		stack_source_close(&s->src);
	s->open = 0;
}

/* --- texts ------------------------------------------------------------------------------ */

int source_check_maps(const char *verb, const struct opt_list *maps)
{
	for (size_t i = 0; i < maps->n; i++)
		if (!strchr(maps->v[i], '=')) {
			say_line("perfkit %s: --source-map %s: FROM=TO is expected", verb,
				 maps->v[i]);
			return 2;
		}
	return 0;
}

int source_side_text(const struct source_side *s, const struct source_rows *rows,
		     const struct source_part *part, struct source_text *out, struct err *e)
{
	const struct input *in = &s->src.ti->in;
	const struct source_opts *o = s->o;
	int own = s->is_before && (o->before_dirs.n || o->before_git);
	const struct opt_list *dirs = own ? &o->before_dirs : &o->dirs;
	struct source_options roots = {.dirs = dirs->v,
				       .ndirs = dirs->n,
				       .maps = o->maps.v,
				       .nmaps = o->maps.n,
				       .fetch = !s->is_choosing,
				       .git = own ? o->before_texts : o->texts,
				       .here = !in->opt->no_local && !in->bundle.recording};
	return tlinput_text(s->src.ti, &roots, &s->src.stacks->strings, part->file,
			    rows->v.v[part->first].dso, out, e);
}

/* --- instructions ----------------------------------------------------------------------- */

void source_code_release(struct code_rows *c)
{
	vec_release(&c->v);
	vec_release(&c->runs);
	strtab_release(&c->texts);
}

struct reading {
	struct code_rows *out;
	struct modules *modules;
	uint32_t dso;
	uint64_t start;
	const char *lines; /* of a store: from the next "OFFSET:LINE" on, or NULL */
	uint32_t line;
};

/* The line of an instruction, as the store's list has it; they come in order. */
static uint32_t next_line(struct reading *r, uint64_t va)
{
	for (char *end; *r->lines; r->lines = end + (*end == ' ')) {
		if (strtoull(r->lines, &end, 10) > va - r->start || *end != ':')
			break;
		r->line = (uint32_t)strtoul(end + 1, &end, 10);
	}
	return r->line;
}

static int take_instruction(void *reading, const struct instruction *i)
{
	struct reading *r = reading;
	struct code_row row = {.va = i->va, .target = i->jumps ? i->target : 0};
	int rc = 0;
	if (r->lines)
		row.line = next_line(r, i->va);
	else if (r->dso != NO_ID)
		rc = modules_line(r->modules, r->dso, i->va, &row.line);
	if (rc < 0 || strtab_intern(&r->out->texts, i->text, &row.text))
		return ERR_NOMEM;
	return vec_push(&r->out->v, row);
}

/* Give each instruction of a place its weight; an address inside one is its. */
static void weigh(const struct source_sums *s, uint32_t place, uint64_t start,
		  struct code_rows *c)
{
	for (size_t i = 0; i < s->codes.n; i++) {
		const struct source_code *x = &s->codes.v[i];
		uint64_t va = start + x->at;
		if (x->place != place || !c->v.n || va < c->v.v[0].va)
			continue;
		size_t lo = 0, hi = c->v.n;
		while (hi - lo > 1) {
			size_t mid = lo + (hi - lo) / 2;
			if (c->v.v[mid].va <= va)
				lo = mid;
			else
				hi = mid;
		}
		c->v.v[lo].self += x->self;
		c->v.v[lo].total += x->total;
	}
}

/* Give jumps what the samples' branch records say of them. */
static void add_branches(const struct source_side *s, const struct function_code *code,
			 struct code_rows *c)
{
	const struct machine *m = &s->src.ti->in.profile->machine;
	uint64_t offset, va;
	size_t row;
	for (size_t i = 0; i < s->branches.taken.v.n; i++) {
		const struct branch *b = &s->branches.taken.v.v[i];
		if (!branch_offset(m, b, code->dso, &offset) ||
		    !elf_file_vaddr(code->file, offset, &va) || !code_row_at(c, va, &row))
			continue;
		struct code_row *r = &c->v.v[row];
		r->taken += b->taken;
		r->mispredicted += b->mispredicted;
		r->cycles += b->cycles;
		r->timed += b->timed;
		c->has_branches = 1;
		c->has_cycles |= b->timed > 0;
	}
}

/* The most cycles first; without cycles, the most times. */
static int run_order(const void *a, const void *b)
{
	const struct code_run *x = a, *y = b;
	if (x->cycles != y->cycles)
		return x->cycles > y->cycles ? -1 : 1;
	if (x->times != y->times)
		return x->times > y->times ? -1 : 1;
	return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
				    : (x->last > y->last) - (x->last < y->last);
}

/* Add the runs that lie in the function. */
static int add_runs(const struct source_side *s, const struct function_code *code,
		    struct code_rows *c)
{
	const struct machine *m = &s->src.ti->in.profile->machine;
	uint64_t offset, va;
	for (size_t i = 0; i < s->branches.runs.v.n; i++) {
		const struct branch *b = &s->branches.runs.v.v[i];
		struct code_run r = {.times = b->taken, .cycles = b->cycles, .timed = b->timed};
		if (!branch_offset(m, b, code->dso, &offset) ||
		    !elf_file_vaddr(code->file, offset, &va) || !code_row_at(c, va, &r.first) ||
		    !code_row_at(c, va + (b->to - b->from), &r.last))
			continue;
		if (vec_push(&c->runs, r))
			return ERR_NOMEM;
		c->has_cycles |= b->timed > 0;
	}
	if (c->runs.n)
		qsort(c->runs.v, c->runs.n, sizeof(*c->runs.v), run_order);
	return 0;
}

static uint32_t heaviest_place(const struct source_sums *s, uint32_t function)
{
	uint32_t best = NO_ID;
	for (uint32_t i = 0; i < s->places.n; i++) {
		const struct source_place *p = &s->places.v[i];
		if (p->function == function && p->caller == NO_ID &&
		    (best == NO_ID || p->w.total > s->places.v[best].w.total))
			best = i;
	}
	return best;
}

int source_side_code(const struct source_side *s, uint32_t function, struct code_rows *out,
		     struct buf *why, struct err *e)
{
	const struct profile *p = s->src.ti->in.profile;
	uint32_t best = heaviest_place(&s->sums, function);
	struct input_code found;
	struct err said = {0};
	*out = (struct code_rows){0};
	if (best == NO_ID) {
		buf_str(why, "it is only inlined: its instructions are those of its callers");
		return 0;
	}
	const struct source_place *place = &s->sums.places.v[best];
	int rc = tlinput_code(s->src.ti, &s->sums, place, &found, e);
	const struct function_code *code = &found.code;
	if (!rc)
		function_code_why(why, code, strtab_get(&s->src.stacks->strings, place->dso));
	if (rc || !code->bytes.v)
		return rc;
	struct reading r = {.out = out,
			    .modules = p ? p->modules : NULL,
			    .dso = code->dso,
			    .start = code->bytes.va,
			    .lines = found.lines};
	rc = disassemble(&code->bytes, take_instruction, &r, &said);
	if (!rc) {
		out->place = best;
		weigh(&s->sums, best, code->bytes.va, out);
		if (code->file && code->status == CODE_KNOWN) {
			add_branches(s, code, out);
			rc = add_runs(s, code, out);
		}
	}
	input_code_release(&found);
	if (!rc)
		return 1;
	source_code_release(out);
	buf_clear(why);
	buf_str(why, said.msg);
	return rc == ERR_NOMEM ? err_nomem(e) : 0;
}
