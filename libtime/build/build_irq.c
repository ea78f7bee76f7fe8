/*
 * build_irq.c - interrupts, from the tracepoints on their entry and exit: irq:irq_handler_*,
 * irq:softirq_*, irq_vectors:*.
 *
 *	CPU 0   timer ├──────────────────┤
 *	                    virtio ├──┤           nested; each has its whole length
 */
#include "libtime/build/build_internal.h"

#include <string.h>

enum { NESTED = 16 /* most interrupts open on a CPU */ };

/* Numbers of softirqs since Linux 2.6.37 (include/linux/interrupt.h). */
static const char *softirq_name(uint64_t vector)
{
	static const char *const names[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					    "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};
	return vector < sizeof(names) / sizeof(*names) ? names[vector] : "?";
}

static int ends_with(const char *s, const char *tail)
{
	size_t n = strlen(s), k = strlen(tail);
	return n > k && !strcmp(s + n - k, tail);
}

int builder_is_irq(const struct tracepoint *tp, struct source_event *se)
{
	int vectors = !strcmp(tp->system, "irq_vectors"), irq = !strcmp(tp->system, "irq");
	int entry = ends_with(tp->name, "_entry"), exit = ends_with(tp->name, "_exit");
	if (!(vectors || irq) || !(entry || exit))
		return 0;
	se->role = entry ? ROLE_IRQ_ENTRY : ROLE_IRQ_EXIT;
	se->call = vectors ? tp->name : "";
	tracepoint_field(tp,
			 vectors                         ? "vector"
			 : !strncmp(tp->name, "soft", 4) ? "vec"
							 : "irq",
			 &se->a);
	se->kind = vectors ? IRQ_VECTOR : !strncmp(tp->name, "soft", 4) ? IRQ_SOFT : IRQ_HARD;
	if (se->kind == IRQ_HARD)
		tracepoint_field(tp, "name", &se->b);
	return 1;
}

/* "irq 25 virtio0-input", "softirq NET_RX", "local_timer". */
static int vector_name(struct builder *b, const struct source_event *se, const struct sample *s,
		       uint32_t *id)
{
	uint64_t n = (uint64_t)tp_int(&se->a, s->raw, s->raw_size, b->rec->swap);
	struct buf name = {0};
	if (se->kind == IRQ_SOFT)
		buf_fmt(&name, "softirq %s", softirq_name(n));
	else if (se->kind == IRQ_HARD)
		buf_fmt(&name, "irq %llu %s", (unsigned long long)n,
			tp_text(&se->b, s->raw, s->raw_size, b->rec->swap));
	else
		buf_add(&name, se->call, strlen(se->call) - strlen("_entry"));
	int r = buf_failed(&name) || strtab_intern(&b->p->stacks.strings, buf_cstr(&name), id);
	buf_release(&name);
	return r ? ERR_NOMEM : 0;
}

static int lane_of(struct builder *b, uint32_t cpu, struct irq_lane **out)
{
	while (b->irqs.n <= cpu)
		if (vec_push(&b->irqs, (struct irq_lane){0}))
			return ERR_NOMEM;
	*out = &b->irqs.v[cpu];
	return 0;
}

/* Matches exits with entries. By event, since several vectors may have one name. */
static uint64_t key_of(const struct builder *b, const struct source_event *se,
		       const struct sample *s)
{
	uint64_t n = (uint64_t)tp_int(&se->a, s->raw, s->raw_size, b->rec->swap);
	return (uint64_t)se->kind << 32 | (uint32_t)n;
}

int builder_handle_irq(struct builder *b, const struct source_event *se, const struct sample *s,
		       const struct record_id *id, struct err *e)
{
	struct irq_lane *lane;
	uint32_t thread;
	if (id->cpu >= TL_NOCPU)
		return builder_note_current(b, id, e);
	if (lane_of(b, id->cpu, &lane))
		return err_nomem(e);
	if (se->role == ROLE_IRQ_ENTRY) {
		struct irq_open x = {.key = key_of(b, se, s), .start_ns = s->time};
		int r = sched_thread(b->sched, s->pid, s->tid, NULL, &thread, e);
		if (r)
			return r;
		if (vector_name(b, se, s, &x.vector))
			return err_nomem(e);
		x.thread = thread;
		if (lane->n == NESTED)
			lane->n = 0; /* exits were lost */
		lane->v[lane->n++] = x;
		return builder_note_current(b, id, e);
	}
	for (uint32_t i = lane->n; i-- > 0;) {
		const struct irq_open *x = &lane->v[i];
		if (x->key != key_of(b, se, s))
			continue;
		struct tl_interrupt t = {.start_ns = x->start_ns,
					 .end_ns = s->time,
					 .vector = x->vector,
					 .thread = x->thread,
					 .cpu = (uint16_t)id->cpu};
		lane->n = i; /* those still open inside it have lost their exits */
		if (vec_push(&b->tl->interrupts, t))
			return err_nomem(e);
		break;
	}
	return builder_note_current(b, id, e);
}
