#include "libtime/explain/told.h"
#include "libtime/sched/facts.h"

#define TOLD_ROW(id, key, words) {key, words},
const struct told_form_text told_form_texts[TOLD_FORM_COUNT] = {TOLD_FORMS(TOLD_ROW)};

void told_say(struct told *to, enum told_form form, const struct told_arg *args, size_t n)
{
	struct told_clause c = {form, to->from, to->until ? to->until : UINT8_MAX,
				(uint32_t)to->args.n, 0};
	for (size_t i = 0; i < n && !to->failed; i++)
		if (args[i].kind && vec_push(&to->args, args[i]))
			to->failed = ERR_NOMEM;
	c.nargs = (uint32_t)to->args.n - c.arg;
	if (!to->failed && vec_push(&to->v, c))
		to->failed = ERR_NOMEM;
}

void told_release(struct told *to)
{
	vec_release(&to->v);
	vec_release(&to->args);
	arena_release(&to->texts);
}

int told_same_name(const struct timeline *tl, uint32_t a, uint32_t b)
{
	const struct frame *frames = tl->stacks->frames.v;
	return a == b || (a && b && frames[a].name && frames[a].name == frames[b].name);
}

uint32_t told_function(const struct timeline *tl, unsigned cause, uint32_t path,
		       uint32_t function)
{
	return cause == CAUSE_SLEEP && function &&
			       told_same_name(tl, appframe_reported(tl, path), function)
		       ? appframe_of_sleep(tl, path)
		       : function;
}

uint32_t told_user_path(const struct stacks *s, uint32_t path)
{
	while (path && s->frames.v[s->paths.v[path].frame].kind == FRAME_KERNEL)
		path = s->paths.v[path].parent;
	return path;
}

void told_quota(struct told *to, const struct timeline *tl, uint32_t thread, int counts)
{
	struct fact_quota q;
	if (!fact_quota(tl, thread, &q))
		return;
	uint32_t name = fact_container(tl, thread, q.cgroup);
	struct told_arg args[] = {
		arg_number("quota", q.quota_ns), arg_number("period", q.period_ns),
		arg_string("cgroup", name ? name : q.cgroup),
		arg_number("throttled", q.throttled), arg_number("periods", q.periods)};
	if (!counts || !q.throttled)
		told_say(to, TOLD_QUOTA, args, 3);
	else
		told_say(to, q.periods ? TOLD_QUOTA_OFTEN : TOLD_QUOTA_USED, args,
			 q.periods ? 5 : 4);
}

void told_target(struct told *to, const struct timeline *tl, const struct offcpu *o, int comma)
{
	const char *target = fact_target(tl, o);
	if (!target)
		return;
	if (comma)
		TELL_BARE(to, COMMA);
	TELL(to, TARGET, arg_word(*target == '/' ? "path" : "peer", target),
	     arg_word("device", fact_device(tl, o->thread, target)));
}

/* Times until it was submitted, in its queue, at the disk. */
void told_disk(struct told *to, struct evidence *ev, uint32_t offcpu, int comma)
{
	enum { SHARE = 20 };
	const struct offcpu *o = &ev->tl->offcpu.v[offcpu];
	const struct disk_request *q;
	char text[DISK_NAME];
	if (evidence_disk(ev, offcpu, &q, NULL))
		to->failed = ERR_NOMEM;
	if (to->failed || !q)
		return;
	const char *name = disk_name(ev->tl, o->thread, q, text);
	const char *kept = arena_strndup(&to->texts, name, strlen(name));
	uint64_t late = q->insert_ns > o->start_ns ? q->insert_ns - o->start_ns : 0;
	struct told_arg none = {.kind = TOLD_ABSENT};
	to->failed = kept ? to->failed : ERR_NOMEM;
	if (comma)
		TELL_BARE(to, COMMA);
	TELL(to, DISK, arg_word("operation", disk_operation(q)),
	     q->bytes ? arg_number("bytes", q->bytes) : none,
	     arg_word(q->op == 'R'   ? "source"
		      : q->op == 'W' ? "sink"
				     : "disk",
		      kept),
	     late > o->blocked_ns / SHARE ? arg_number("late", late) : none,
	     q->has_insert ? arg_number("queued", q->issue_ns - q->insert_ns) : none,
	     arg_number("served", q->end_ns - q->issue_ns));
}

void told_idle_cpu(struct told *to, const struct evidence *ev, const struct chain_part *p)
{
	const struct offcpu *o = p->offcpu != TL_NONE ? &ev->tl->offcpu.v[p->offcpu] : NULL;
	int state = o ? evidence_idle_state(ev, o->cpu_in, o->start_ns + o->blocked_ns) : -1;
	if (state >= 0)
		TELL(to, IDLE_CPU, arg_number("state", (unsigned)state));
	else
		TELL_BARE(to, IDLE_CPU);
}

int told_is_recorder(const struct timeline *tl, uint32_t thread)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	return t->flags & THREAD_RECORDER &&
	       strcmp(strtab_get(&tl->stacks->strings, t->comm), "sleep") != 0;
}

void told_mechanism(struct told *to, const struct mechanism *m)
{
	int state = m->kind == MECHANISM_STATE || m->kind == MECHANISM_STOP;
	struct told_arg what = arg_mechanism(m);
	told_say(to, state ? TOLD_MECHANISM_STATE : TOLD_WAITING_FOR, &what, 1);
}
