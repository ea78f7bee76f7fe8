/*
 * tail_model.h - the answer of `tail` as data: population, the worst episodes with their
 * explanations, and groups of similar ones. render/tail writes it.
 */
#ifndef LIBTIME_EXPLAIN_TAIL_MODEL_H
#define LIBTIME_EXPLAIN_TAIL_MODEL_H

#include "libtime/explain/chain.h"
#include "libtime/explain/gap_answer.h"
#include "libtime/explain/recurrence.h"
#include "libtime/explain/slow_time.h"

/* The root of a chain, in short. */
struct tail_root {
	uint64_t ns,
		part_ns; /* its time, and that of its main part, which the members below are of */
	uint32_t thread, comm;
	uint32_t process;  /* strings id: another process by the name of its first thread, else
			      comm */
	uint32_t function; /* frame id; 0 = not known */
	uint32_t path;     /* its stack; 0: none */
	uint32_t vector;   /* strings id: an interrupt that took its time, or 0 */
	uint8_t state, cause, end, via;
	uint8_t held_cause; /* VIA_WAKER, VIA_OWNER: of the wait that it ended */
	/* What that wait was for, what the root did meanwhile, and its own part; NULL: not
	 * known. */
	const struct mechanism *held_mechanism, *doing, *mechanism;
	uint8_t guessed; /* no samples: function is not known, or taken from a wakeup */
	/* Its own wait for a lock: how many threads had that meanwhile, as far as is known,
	 * and the name of the one that had it longest. */
	uint32_t holders, holder_comm;
};

enum holder_kind {
	HOLDER_NONE,  /* no other thread */
	HOLDER_QUEUE, /* no single one: several took turns on its CPU */
	HOLDER_CPU,   /* had its CPU */
	HOLDER_LOCK,  /* held the lock */
	HOLDER_WAKER, /* ended another kind of wait */
};

/* "none", "queue", "cpu", "lock", "waker". */
const char *holder_kind_name(unsigned int kind);

/* The thread that held the episode up directly: the second link of the chain, root or not. */
struct tail_holder {
	uint32_t thread, comm;         /* TL_NONE, 0 for HOLDER_NONE and HOLDER_QUEUE */
	uint32_t function;             /* where it was meanwhile; 0: not known */
	uint8_t kind;                  /* enum holder_kind */
	uint8_t cause;                 /* HOLDER_WAKER: of the wait that it ended */
	const struct mechanism *doing; /* as chain_link.doing */
};

/* One selected episode, explained in short; tail_explain_row() gives the full explanation. */
struct tail_row {
	uint32_t episode; /* index of episodes.v */
	uint32_t path, offcpu;
	uint8_t state, cause; /* of its largest part */
	uint64_t lock;        /* if it waited for one: equal for the same; 0: not known which */
	const struct mechanism *wanted; /* what it waited for, or NULL; life: the explainer's */
	struct tail_root root;
	struct tail_holder holder;
	uint32_t group;            /* tail_group.id */
	uint32_t kept;             /* index of tail.kept; TL_NONE: not kept */
	uint32_t links;            /* of the chain, itself included */
	uint64_t chain, relations; /* hashes: of who held whom up, by what; of by what alone */
};

enum tail_group_by {
	GROUP_ROOT,
	GROUP_HOLDER,
	GROUP_STACK,
	GROUP_CAUSE,
	GROUP_THREAD,
	GROUP_COMM,
	GROUP_LABEL, /* of spans: by the value of one label */
	GROUP_COUNT,
};

/* "root", "holder", "stack", "cause", "thread", "comm", "label"; "" past the end. */
const char *tail_group_name(unsigned int by);

/* The enum tail_group_by with that name; -1: none. */
int tail_group_of(const char *name);

/* Grouped by root, running or waiting for a CPU in a function and in one that it called is one
 * group, the caller's: in which of the two a sample or a preemption falls is chance. Processes
 * of one name that had the CPU are one group, whatever their threads ran. So are threads of one
 * name that held a lock with a name of its own (mechanism.h).
 *
 * An episode whose root ran without samples joins the largest group of the same thread name and
 * cause. If there is none, such episodes are one group; its function is the one that most of
 * them were in when they left the CPU, if there is one. */
struct tail_group {
	uint64_t count, ns; /* episodes, and the sum of their lengths */
	uint32_t row;    /* its worst episode with the group's function: index of tail.rows */
	uint32_t id;     /* tail_row.group of its members */
	uint8_t unnamed; /* most of its roots do not share a function, so it has none */
};

/* What most of the shown episodes waited for (family.h). */
struct tail_family {
	uint64_t key;       /* family.c's; 0: there is none, and count is 0 */
	uint64_t count, ns; /* episodes, and their lengths, of each up to 3 medians */
	uint64_t cpu_count; /* of these: whose root lacked a CPU */
	uint64_t next_cpu;  /* of these: whose holder or waker lacked it, */
	uint64_t own_cpu;   /* or which lacked it themselves, after that wait */
	uint64_t taken;     /* in how many of these `taker` had it; 0: not known */
	uint32_t taker;     /* strings id of a process */
	uint32_t row;       /* the worst of them: index of tail.rows */
	uint8_t leads;      /* no root explains most of them */
	uint8_t mixed;      /* they do not share row->wanted */
};

/* The shown episodes that the opening sentence speaks of; none before it is made (told.h). */
struct tail_told {
	uint64_t count, ns;
	uint32_t row; /* the worst of them: index of tail.rows */
};

/* Recurrence of the episodes that threads of one name held up, as holder or as root. */
enum { TAIL_RECURRENCES = 3 };
struct tail_recurrence {
	struct recurrence recurrence;
	uint32_t comm;  /* strings id */
	uint64_t count; /* episodes */
};

/* More episodes than are usually written, and little memory: explanations have some KB. */
enum { TAIL_KEPT = 1000 };

/* Which of the selected episodes are shown, by cause and state. */
struct tail_show {
	uint32_t causes; /* bits by enum cause; 0 = all */
	unsigned states; /* bits by enum part_state; 0 = all */
};

struct tail {
	const struct timeline *tl; /* borrowed until tail_release */
	struct explainer *explainer;
	VEC(uint32_t) process_of; /* thread → strings id: tail_root.process */
	struct episodes episodes;
	struct episode_selection selection;
	struct gap_answer gaps;        /* of EPISODE_GAP */
	VEC(struct tail_row) rows;     /* the shown episodes, worst first */
	VEC(struct explanation) kept;  /* of the first TAIL_KEPT rows */
	struct explanation *spare;     /* of the episode last asked for that is not kept */
	VEC(struct tail_group) groups; /* most time first */
	VEC(uint32_t)
	joined; /* tail_group.id → that of the group that it was joined to, or itself */
	struct tail_family family;
	struct tail_told told;
	struct recurrence recurrence; /* of all shown episodes, if they have one root */
	/* otherwise: of those that threads of one name held up */
	struct tail_recurrence recurrences[TAIL_RECURRENCES];
	size_t nrecurrences;
	enum tail_group_by group_by;
	uint32_t group_label;  /* GROUP_LABEL: strings id of its key */
	struct slow_time slow; /* of waits, if no percentile was asked for */
	int too_few; /* so few episodes that the requested percentile is the longest */
};

struct tail_query {
	struct episode_query episodes;
	struct episode_pick pick;
	struct tail_show show;
	enum tail_group_by group_by;
	uint32_t group_label; /* GROUP_LABEL: strings id of its key */
};

/* Collect and select, without explanations. ERR_NOMEM; the caller always releases *out. */
int tail_select(const struct timeline *tl, const struct tail_query *q, struct tail *out,
		struct err *e);

/* Collect, select, explain and group. On failure (ERR_NOMEM) nothing is left to release. */
int tail_make(const struct timeline *tl, const struct tail_query *q, struct tail *out,
	      struct err *e);
void tail_release(struct tail *t);

/* The full explanation of a row, made once for the first TAIL_KEPT rows; or of any episode, by
 * its index of episodes.v. *out is valid until the next call. ERR_NOMEM. */
int tail_explain_row(const struct tail *t, size_t rank, const struct explanation **out,
		     struct err *e);
int tail_explain_episode(const struct tail *t, uint32_t episode, const struct explanation **out,
			 struct err *e);

/* How many episodes are written of at most `rows` (0 = all). */
static inline size_t tail_rows_shown(const struct tail *t, uint64_t rows)
{
	return rows && rows < t->rows.n ? (size_t)rows : t->rows.n;
}

#endif
