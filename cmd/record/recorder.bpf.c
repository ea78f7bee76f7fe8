/*
 * recorder.bpf.c - runs in the kernel: copies what tracepoints say into rings, and keeps each
 * chosen thread's stack while it waits, of which only long waits' reach a ring (bpf_recorder.h).
 *
 * perf copies a stack into its ring at every switch, takes 2 to 6 us for it, and writes all of
 * it to disk. Here a stack is copied over the thread's last one, in 0.4 us, and most are never
 * read.
 */
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef long long int64_t;
typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

#define BPF_MAP_TYPE_ARRAY 2 /* enum bpf_map_type in linux/bpf.h */
#define BPF_MAP_TYPE_PERCPU_ARRAY 6
#define BPF_MAP_TYPE_ARRAY_OF_MAPS 12
#define BPF_MAP_TYPE_RINGBUF 27
#define BPF_RB_NO_WAKEUP 1
#define BPF_F_USER_STACK 256

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_hits.h"

/* bpf_get_stack and bpf_probe_read_kernel are for programs under the GPL, too. */
char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* The fields that are read; libbpf finds where this kernel has them. */
#define IN_KERNEL __attribute__((preserve_access_index))
struct rq;
struct cfs_rq {
	struct rq *rq;
} IN_KERNEL;
struct sched_entity {
	struct cfs_rq *cfs_rq;
} IN_KERNEL;
struct thread_info {
	uint32_t cpu;
} IN_KERNEL;
struct task_struct {
	struct thread_info thread_info;
	struct sched_entity se;
	int pid, tgid, prio, exit_state;
	unsigned int flags;
	char comm[16];
	struct task_struct *real_parent;
} IN_KERNEL;
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax,
		ip, cs, flags, sp, ss;
} IN_KERNEL;

enum { KERNEL_THREAD = 0x00200000 /* PF_KTHREAD */, PAGE = 4096 };
enum { SERVING_SOFTIRQ = 0x100, IN_HARDIRQ = 0xf0000 }; /* linux/preempt.h */
enum { FLAG_HARDIRQ = 0x08, FLAG_SOFTIRQ = 0x10 };      /* linux/trace_events.h */

const volatile struct kernel_setup setup = {.copy_bytes = 4096};
struct kernel_live live;

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__array(values, struct ring);
} rings SEC(".maps");

/* The last wait of each chosen thread, in the place of its tid modulo their number; both are set
 * before loading. Of two that share a place, the one that waits keeps it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct kernel_left);
} waits SEC(".maps");

/* Whether the thread of a tid and name is chosen, as found last. */
struct verdict {
	uint64_t comm[2];
	uint32_t tid, choice;
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, VERDICTS);
	__type(key, uint32_t);
	__type(value, struct verdict);
} verdicts SEC(".maps");

struct scratch {
	uint64_t count;         /* address of the CPU's preempt_count */
	uint64_t window, spent; /* when it began, and bytes of stacks since */
	uint64_t lost,
		lost_at; /* hits that were not handed over yet, and when the last one was */
	struct kernel_woken woken;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct scratch);
} scratches SEC(".maps");

static struct scratch *this_scratch(void)
{
	uint32_t zero = 0;
	return bpf_map_lookup_elem(&scratches, &zero);
}

/*
 * preempt_count is a variable of the CPU, whose address only kernels with CONFIG_KALLSYMS_ALL
 * tell. But the current thread's run queue is one of the same CPU's variables, and BTF has the
 * distance of both; that the number beside it is this CPU's shows that it is right.
 */
static uint64_t find_count(void)
{
	const struct task_struct *t = bpf_get_current_task_btf();
	uint64_t rq = (uint64_t)t->se.cfs_rq->rq;
	uint32_t number = ~0u;
	if (!setup.count_at || !rq ||
	    bpf_probe_read_kernel(&number, sizeof(number), (void *)(rq + setup.number_at)) ||
	    number != bpf_get_smp_processor_id())
		return 0;
	return rq + setup.count_at;
}

static uint8_t interrupt_flags(void)
{
	struct scratch *s = this_scratch();
	uint32_t n = 0;
	if (s && !s->count)
		s->count = find_count();
	if (!s || !s->count || bpf_probe_read_kernel(&n, sizeof(n), (void *)s->count))
		return 0;
	return (n & IN_HARDIRQ ? FLAG_HARDIRQ : 0) | (n & SERVING_SOFTIRQ ? FLAG_SOFTIRQ : 0);
}

static void *this_ring(void)
{
	uint32_t cpu = bpf_get_smp_processor_id();
	return bpf_map_lookup_elem(&rings, &cpu);
}

static void fill(struct kernel_entry *e, uint64_t now, int kind, int event)
{
	uint64_t id = bpf_get_current_pid_tgid();
	e->time = now;
	e->pid = id >> 32;
	e->tid = (uint32_t)id;
	e->kind = kind;
	e->event = event;
	e->cpu = bpf_get_smp_processor_id();
}

static void hand_over(void *entry, uint64_t size)
{
	void *ring = this_ring();
	if (ring)
		bpf_ringbuf_output(ring, entry, size, BPF_RB_NO_WAKEUP);
}

/* The hits that were lost before, now that there is room again. */
static __always_inline void put_lost(void *ring, struct scratch *s)
{
	struct kernel_lost *e = bpf_ringbuf_reserve(ring, sizeof(*e), 0);
	if (!e)
		return;
	fill(&e->of, s->lost_at, KERNEL_LOST, 0);
	e->lost = s->lost;
	s->lost = 0;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

/* Room for a hit, or 0 and counted. */
static __always_inline void *reserve(uint64_t size)
{
	void *ring = this_ring();
	struct scratch *s = this_scratch();
	if (!s)
		return 0;
	if (ring && s->lost)
		put_lost(ring, s);
	void *e = !ring || s->lost ? 0 : bpf_ringbuf_reserve(ring, size, 0);
	if (!e) {
		s->lost++;
		s->lost_at = bpf_ktime_get_ns();
		__sync_fetch_and_add(&live.lost, 1);
	}
	return e;
}
#define RESERVE(e) ((e) = reserve(sizeof(*(e))))

/* --- tracepoints as they are ----------------------------------------------------------- */

/* The cookie of an attached program: its index, and from here on the tracepoint's id. */
enum { COOKIE_ID = 16 };

#define HIT(NAME, SIZE)                                                                \
	SEC("tracepoint")                                                              \
	int hit_##NAME(void *ctx)                                                      \
	{                                                                              \
		struct {                                                               \
			struct kernel_entry of;                                        \
			struct raw_entry raw;                                          \
			uint8_t rest[SIZE - sizeof(struct raw_entry)];                 \
		} * e;                                                                 \
		uint64_t cookie = bpf_get_attach_cookie(ctx);                          \
		RESERVE(e);                                                            \
		if (!e)                                                                \
			return 1;                                                      \
		fill(&e->of, bpf_ktime_get_ns(), KERNEL_HIT, (uint16_t)cookie);        \
		bpf_probe_read_kernel(e->rest, sizeof(e->rest), ctx + sizeof(e->raw)); \
		/* perf fills these in after its programs have run */                  \
		e->raw = (struct raw_entry){cookie >> COOKIE_ID, interrupt_flags(), 0, \
					    e->of.tid};                                \
		bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);                               \
		return 1; /* other recorders of the tracepoint want it, too */         \
	}
HIT(small, HIT_SMALL)
HIT(large, HIT_LARGE)

/* --- switches and wakings ---------------------------------------------------------------- */

/* As __trace_sched_switch_state() and __task_state_index() in include/trace/events/sched.h and
 * include/linux/sched.h: a bit for the highest state that is reported. */
static uint64_t state_of(int preempted, uint32_t state, uint32_t exit_state)
{
	enum {
		REPORTED = 0x7f,
		SLEEP = 2,
		NOLOAD = 0x400,
		RTLOCK = 0x1000,
		FROZEN = 0x8000,
		IDLE = 0x80,
		PREEMPTED = 0x100
	};
	uint32_t bits = (state | exit_state) & REPORTED;
	if (preempted)
		return PREEMPTED;
	if ((state & (SLEEP | NOLOAD)) == (SLEEP | NOLOAD))
		bits = IDLE;
	if (state & (RTLOCK | FROZEN))
		bits = SLEEP;
	for (uint32_t bit = IDLE; bit; bit >>= 1)
		if (bits & bit)
			return bit;
	return 0;
}

static void put_switch(uint64_t now, int preempted, const struct task_struct *prev,
		       const struct task_struct *next, uint32_t state)
{
	struct {
		struct kernel_entry of;
		struct raw_switch raw;
	} * e;
	RESERVE(e);
	if (!e)
		return;
	fill(&e->of, now, KERNEL_HIT, setup.switched.event);
	e->raw.of = (struct raw_entry){setup.switched.id, 0, 0, e->of.tid};
	__builtin_memcpy(e->raw.prev_comm, prev->comm, sizeof(e->raw.prev_comm));
	__builtin_memcpy(e->raw.next_comm, next->comm, sizeof(e->raw.next_comm));
	e->raw.prev_pid = prev->pid;
	e->raw.prev_prio = prev->prio;
	e->raw.prev_state = state_of(preempted, state, prev->exit_state);
	e->raw.next_pid = next->pid;
	e->raw.next_prio = next->prio;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

static void put_waking(uint64_t now, const struct task_struct *t, uint32_t target)
{
	struct {
		struct kernel_entry of;
		struct raw_waking raw;
		uint32_t none; /* a ring's entries are multiples of 8 */
	} * e;
	RESERVE(e);
	if (!e)
		return;
	fill(&e->of, now, KERNEL_HIT, setup.waking.event);
	e->raw.of = (struct raw_entry){setup.waking.id, interrupt_flags(), 0, e->of.tid};
	__builtin_memcpy(e->raw.comm, t->comm, sizeof(e->raw.comm));
	e->raw.pid = t->pid;
	e->raw.prio = t->prio;
	e->raw.target_cpu = target;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

/* --- stacks ------------------------------------------------------------------------------ */

static int fits(const volatile struct kernel_choice *c, const char *comm)
{
	for (uint32_t i = 0; i < CHOICE_EXACT; i++) {
		if (i == c->length)
			return 1;
		if (c->comm[i] != comm[i] && (c->comm[i] != '?' || !comm[i]))
			return 0;
		if (!comm[i])
			return 1;
	}
	return 1;
}

/* By perfkit: the command, perf. */
static int is_started_here(const struct task_struct *t)
{
	enum { GENERATIONS = 8 };
	for (int i = 0; i < GENERATIONS && t->pid > 1; i++, t = t->real_parent)
		if (t->tgid == (int)setup.recorder)
			return 1;
	return 0;
}

static int choose(const struct task_struct *t, const char *comm)
{
	if (t->flags & KERNEL_THREAD)
		return 0;
	for (uint32_t i = 0; i < CHOICES && i < setup.nchoices; i++)
		if (setup.choices[i].length ? fits(&setup.choices[i], comm)
					    : setup.choices[i].tid == (uint32_t)t->pid)
			return CHOSEN;
	return setup.nchoices ? NOT_CHOSEN : is_started_here(t) ? CHOSEN : ONE_OF_ALL;
}

/* Found once for each name that a thread has. */
static int choice_of(const struct task_struct *t)
{
	uint32_t at = t->pid & (VERDICTS - 1);
	struct verdict now = {.tid = t->pid}, *v = bpf_map_lookup_elem(&verdicts, &at);
	if (!v || !now.tid)
		return 0;
	__builtin_memcpy(now.comm, t->comm, sizeof(now.comm));
	if (v->tid != now.tid || v->comm[0] != now.comm[0] || v->comm[1] != now.comm[1]) {
		now.choice = choose(t, (char *)now.comm);
		*v = now;
	}
	return v->choice;
}

static struct kernel_left *wait_of(const struct task_struct *t)
{
	uint32_t at = t->pid & setup.waits_mask;
	return bpf_map_lookup_elem(&waits, &at);
}

static void copy_regs(struct kernel_left *w, const struct pt_regs *r)
{
	w->regs[0] = r->ax;
	w->regs[1] = r->bx;
	w->regs[2] = r->cx;
	w->regs[3] = r->dx;
	w->regs[4] = r->si;
	w->regs[5] = r->di;
	w->regs[6] = r->bp;
	w->regs[7] = r->sp;
	w->regs[8] = r->ip;
	w->regs[9] = r->flags;
	w->regs[10] = r->cs;
	w->regs[11] = r->ss;
	w->regs[12] = r->r8;
	w->regs[13] = r->r9;
	w->regs[14] = r->r10;
	w->regs[15] = r->r11;
	w->regs[16] = r->r12;
	w->regs[17] = r->r13;
	w->regs[18] = r->r14;
	w->regs[19] = r->r15;
}

/* What is mapped behind the stack pointer: all that is asked for, else up to a page's end. */
static uint32_t copy_stack(struct kernel_left *w)
{
	uint64_t sp = w->regs[7];
	if (!bpf_probe_read_user(w->copy, setup.copy_bytes, (void *)sp))
		return setup.copy_bytes;
	for (uint32_t pages = 2; pages; pages--) {
		uint32_t n = pages * PAGE - (sp & (PAGE - 1));
		if (n < setup.copy_bytes && !bpf_probe_read_user(w->copy, n, (void *)sp))
			return n;
	}
	return 0;
}

/* May a wait's stack be handed over? A burst of long ones may exceed a window. */
static int affords(uint64_t now, uint64_t began, uint32_t choice, uint32_t size)
{
	enum { LONG = 1000000, LONGER = 8, BURST = 4, LEAST = 4096 };
	struct scratch *s = this_scratch();
	uint64_t waited = now - began, room = setup.window_bytes;
	if (!s || waited < live.over_ns)
		return 0;
	if (size < LEAST) /* what it takes besides its bytes */
		size = LEAST;
	__sync_fetch_and_add(&live.wanted, size);
	if (now - s->window >= WINDOW_NS) {
		s->window = now;
		s->spent = 0;
	}
	if (waited >= LONG && waited >= LONGER * live.over_ns)
		room *= BURST;
	if (choice == ONE_OF_ALL)
		room /= 2;
	if (s->spent + size > room)
		return 0;
	s->spent += size;
	return 1;
}

static void keep_wait(const struct task_struct *t, uint64_t now, int choice)
{
	struct kernel_left *w = wait_of(t);
	if (!w || (w->of.time && w->of.tid != (uint32_t)t->pid))
		return;
	fill(&w->of, now, KERNEL_LEFT, 0);
	w->choice = choice;
	copy_regs(w, (const struct pt_regs *)bpf_task_pt_regs((struct task_struct *)t));
	w->copied = copy_stack(w);
}

static void end_wait(struct task_struct *t, uint64_t now)
{
	struct kernel_left *w = wait_of(t);
	if (!w || !w->of.time || w->of.tid != (uint32_t)t->pid)
		return;
	if (affords(now, w->of.time, w->choice, sizeof(*w) + setup.copy_bytes)) {
		long n = bpf_get_task_stack(t, w->kernel, sizeof(w->kernel), 0);
		w->frames = n > 0 ? n / sizeof(*w->kernel) : 0;
		hand_over(w, sizeof(*w) + setup.copy_bytes);
	}
	w->of.time = 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, int preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int state)
{
	uint64_t now = bpf_ktime_get_ns();
	put_switch(now, preempt & 1, prev, next, state);
	if (!setup.stacks)
		return 0;
	int choice = choice_of(prev);
	if (choice)
		keep_wait(prev, now, choice);
	end_wait(next, now);
	return 0;
}

static void keep_waker(void *ctx, const struct task_struct *t, uint64_t now)
{
	struct kernel_left *w = wait_of(t);
	struct scratch *s = this_scratch();
	if (!w || !s || !w->of.time || w->of.tid != (uint32_t)t->pid ||
	    !affords(now, w->of.time, w->choice, sizeof(s->woken)))
		return;
	struct kernel_woken *k = &s->woken;
	fill(&k->of, now, KERNEL_WOKEN, 0);
	long n = bpf_get_stack(ctx, k->ip, KERNEL_DEPTH * sizeof(*k->ip), 0);
	k->frames = n > 0 ? n / sizeof(*k->ip) : 0;
	if (k->frames > KERNEL_DEPTH)
		return;
	n = bpf_get_stack(ctx, k->ip + k->frames, USER_DEPTH * sizeof(*k->ip),
			  BPF_F_USER_STACK);
	k->users = n > 0 ? n / sizeof(*k->ip) : 0;
	hand_over(k, sizeof(*k));
}

SEC("tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *t)
{
	uint64_t now = bpf_ktime_get_ns();
	put_waking(now, t, t->thread_info.cpu);
	if (setup.stacks)
		keep_waker(ctx, t, now);
	return 0;
}
