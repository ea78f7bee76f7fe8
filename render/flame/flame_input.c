#include "render/flame/flame_input.h"
#include "base/check.h"
#include "base/text/longname.h"
#include "base/text/path.h"
#include "libsym/name/simplify.h"

#include <string.h>

void flame_input_init(struct flame_input *fi, const struct stacks *stacks, struct flame *flame,
		      enum flame_split split, int simplify)
{
	*fi = (struct flame_input){
		.stacks = stacks, .flame = flame, .split = split, .simplify = simplify};
}

void flame_input_release(struct flame_input *fi)
{
	buf_release(&fi->text);
	vec_release(&fi->ids);
	vec_release(&fi->path);
	vec_release(&fi->line);
}

int flame_split_parse(const char *text, enum flame_split *out, struct err *e)
{
	static const char *const names[] = {"comm", "pid", "tid", "cpu", "event", "cgroup"};
	ENTRIES(names, SPLIT_LABEL);
	if (!strncmp(text, "label:", 6) && text[6]) {
		*out = SPLIT_LABEL;
		return 0;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(text, names[i])) {
			*out = (enum flame_split)i;
			return 0;
		}
	}
	return err_set(e, ERR_USAGE,
		       "--split is comm, pid, tid, cpu, event, cgroup or label:KEY, not '%s'",
		       text);
}

static uint32_t flame_kind_of(const struct frame *f)
{
	if (f->flags & FRAME_INLINED)
		return FLAME_INLINED;
	switch (f->kind) {
	case FRAME_KERNEL:
		return FLAME_KERNEL;
	case FRAME_JIT:
		return FLAME_JIT;
	case FRAME_MARK:
		return FLAME_MARK;
	default:
		return FLAME_USER;
	}
}

static int intern(struct flame_input *fi, const char *s, size_t n, uint32_t *id)
{
	char cut[LONG_NAME];
	s = long_name(s, &n, cut);
	return strtab_intern_n(&fi->flame->strings, s, n, id);
}

/* The graph's frame for a frame of stacks. */
static int make_frame(struct flame_input *fi, const struct frame *f, uint32_t *id)
{
	const struct strtab *s = &fi->stacks->strings;
	struct flame_frame ff = {
		.kind = flame_kind_of(f), .line = f->line, .addr = f->name ? f->addr : 0};
	const char *dso = strtab_get(s, f->dso);
	buf_clear(&fi->text);
	if (!f->name)
		buf_fmt(&fi->text, "[%s]", f->dso ? path_base(dso) : "unknown");
	else if (fi->simplify)
		simplify(&fi->text, strtab_get(s, f->name), strtab_len(s, f->name),
			 SIMPLIFY_ALL);
	else
		buf_str(&fi->text, strtab_get(s, f->name));
	const char *name = buf_cstr(&fi->text);
	const char *src = strtab_get(s, f->srcfile);
	if (buf_failed(&fi->text) || intern(fi, name, fi->text.n, &ff.name) ||
	    intern(fi, dso, strlen(dso), &ff.dso) || intern(fi, src, strlen(src), &ff.src))
		return ERR_NOMEM;
	return flame_frame(fi->flame, &ff, id);
}

static int frame_id(struct flame_input *fi, uint32_t frame, uint32_t *id)
{
	while (fi->ids.n <= frame)
		if (vec_push(&fi->ids, 0))
			return ERR_NOMEM;
	if (!fi->ids.v[frame]) {
		if (make_frame(fi, &fi->stacks->frames.v[frame], id))
			return ERR_NOMEM;
		fi->ids.v[frame] = *id + 1;
	}
	*id = fi->ids.v[frame] - 1;
	return 0;
}

static int push_text(struct flame_input *fi)
{
	struct flame_frame ff = {.kind = FLAME_USER};
	uint32_t id;
	const char *s = buf_cstr(&fi->text);
	if (buf_failed(&fi->text) || intern(fi, s, fi->text.n, &ff.name) ||
	    flame_frame(fi->flame, &ff, &id))
		return ERR_NOMEM;
	return vec_push(&fi->line, id);
}

/* The levels before the stack: those of --split, and the comm. */
/* The name of a thread; the numbered threads of a pool share one. */
static void add_comm(struct flame_input *fi, const char *comm)
{
	size_t n = strlen(comm), base = n;
	while (fi->merge_threads && base && comm[base - 1] >= '0' && comm[base - 1] <= '9')
		base--;
	if (!base || base == n) {
		buf_str(&fi->text, comm);
		return;
	}
	buf_add(&fi->text, comm, base);
	buf_char(&fi->text, 'N');
}

static int push_first_levels(struct flame_input *fi, const struct folded *f)
{
	const char *comm = strtab_get(&fi->stacks->strings, f->comm);
	buf_clear(&fi->text);
	if (fi->split == SPLIT_CPU) {
		if (f->cpu == UINT32_MAX)
			buf_str(&fi->text, "CPU unknown");
		else
			buf_fmt(&fi->text, "CPU %u", f->cpu);
	} else if (fi->split == SPLIT_EVENT) {
		buf_str(&fi->text, fi->event_name(fi->events, f->event));
	} else if (fi->split == SPLIT_CGROUP)
		buf_str(&fi->text, f->cgroup == NO_ID
					   ? "[cgroup unknown]"
					   : strtab_get(&fi->stacks->strings, f->cgroup));
	else if (fi->split == SPLIT_LABEL)
		buf_str(&fi->text,
			f->label ? strtab_get(&fi->stacks->strings, f->label) : "[no label]");
	if (fi->text.n && push_text(fi))
		return ERR_NOMEM;
	buf_clear(&fi->text);
	add_comm(fi, comm);
	if (fi->split == SPLIT_PID)
		buf_fmt(&fi->text, "-%d", f->pid);
	else if (fi->split == SPLIT_TID)
		buf_fmt(&fi->text, "-%d/%d", f->pid, f->tid);
	return push_text(fi);
}

static int push_path(struct flame_input *fi, uint32_t path, int waker)
{
	size_t n = stacks_depth(fi->stacks, path);
	fi->path.n = 0;
	if (vec_reserve(&fi->path, n))
		return ERR_NOMEM;
	stacks_frames(fi->stacks, path, fi->path.v, n);
	for (size_t i = 0; i < n; i++) {
		uint32_t id, frame = fi->path.v[waker ? n - 1 - i : i];
		if (!frame_is_on(&fi->stacks->frames.v[frame], fi->side))
			continue;
		if (frame_id(fi, frame, &id))
			return ERR_NOMEM;
		if (waker) { /* the same frame, drawn as the waker's */
			struct flame_frame ff = fi->flame->frames.v[id];
			ff.kind = FLAME_WAKER;
			if (flame_frame(fi->flame, &ff, &id))
				return ERR_NOMEM;
		}
		if (vec_push(&fi->line, id))
			return ERR_NOMEM;
	}
	return 0;
}

int flame_input_mark(struct flame_input *fi, const char *text, enum flame_kind kind)
{
	struct flame_frame ff = {.kind = kind};
	uint32_t id;
	if (intern(fi, text, strlen(text), &ff.name) || flame_frame(fi->flame, &ff, &id))
		return ERR_NOMEM;
	return vec_push(&fi->line, id);
}

int flame_input_begin(struct flame_input *fi, const struct folded *f, const char *mark)
{
	fi->line.n = 0;
	if (push_first_levels(fi, f) || (mark && flame_input_mark(fi, mark, FLAME_MARK)))
		return ERR_NOMEM;
	return push_path(fi, f->path, 0);
}

static int add_waker(struct flame_input *fi, uint32_t path, const char *name)
{
	if (flame_input_mark(fi, "--", FLAME_MARK) || push_path(fi, path, 1))
		return ERR_NOMEM;
	buf_clear(&fi->text);
	add_comm(fi, name);
	struct buf waker = fi->text; /* flame_input_mark uses the other one */
	fi->text = (struct buf){0};
	int rc = flame_input_mark(fi, buf_cstr(&waker), FLAME_WAKER);
	buf_release(&waker);
	return rc;
}

int flame_input_end(struct flame_input *fi, uint64_t v0, uint64_t v1, struct err *e)
{
	return flame_add(fi->flame, fi->line.v, fi->line.n, v0, v1, e);
}

static int add_value(struct flame_input *fi, uint32_t label)
{
	uint32_t any;
	const char *name = !label ? "[no label]"
			   : u64map_get(fi->values, label, &any)
				   ? strtab_get(&fi->stacks->strings, label)
				   : "[other values]";
	return flame_input_mark(fi, name, FLAME_WAIT);
}

static int begin_row(struct flame_input *fi, const struct stack_row *r)
{
	int known = r->state || !r->below || !strcmp(r->below, wait_mark_text(WAIT_UNCLEAR));
	const char *above = r->above ? r->above : known ? r->cause : NULL;
	int wait = r->waiting && !fi->values;
	fi->line.n = 0;
	if (push_first_levels(fi, &r->of) ||
	    (r->state && flame_input_mark(fi, r->state, FLAME_MARK)) ||
	    (r->below && flame_input_mark(fi, r->below, FLAME_MARK)) ||
	    push_path(fi, r->of.path, 0) ||
	    (above && flame_input_mark(fi, above, wait ? FLAME_WAIT : FLAME_MARK)))
		return ERR_NOMEM;
	for (size_t i = 0; i < r->nwakers; i++)
		if (add_waker(fi, r->wakers[i].path, r->wakers[i].name))
			return ERR_NOMEM;
	return fi->values ? add_value(fi, r->of.label) : 0;
}

int flame_input_row(struct flame_input *fi, const struct stack_row *r, uint64_t v0, uint64_t v1,
		    struct err *e)
{
	return begin_row(fi, r) ? err_nomem(e) : flame_input_end(fi, v0, v1, e);
}
