/*
 * told.h - the sentences of `tail` as data: clauses, each a form (told_forms.h) and its
 * arguments. render/tail/told_text.h puts them into words, tail_json.h writes them as they are.
 *
 *	{held-that, thread = low, what = the lock, waiter = high} {in, function = append_line}
 *	    "low held the lock that high wanted in append_line()"
 */
#ifndef LIBTIME_EXPLAIN_TOLD_H
#define LIBTIME_EXPLAIN_TOLD_H

#include "base/arena.h"
#include "libtime/explain/tail_model.h"
#include "libtime/explain/told_forms.h"

#include <string.h>

#define TOLD_ENUM(id, key, words) TOLD_##id,
/* The forms, in the order of their table. */
enum told_form { TOLD_FORMS(TOLD_ENUM) TOLD_FORM_COUNT };

/* A form's key, "held-that", and its words with places. */
struct told_form_text {
	const char *key, *words;
};
extern const struct told_form_text told_form_texts[TOLD_FORM_COUNT];

enum told_kind {
	TOLD_ABSENT,
	TOLD_NUMBER,    /* the place says how it is written (told_text.h) */
	TOLD_SIGNED,    /* number is an int64_t */
	TOLD_MECHANISM, /* of: its words, "the GIL" */
	TOLD_TEXT,      /* text, number bytes: from the recording, or a word of perfkit */
	TOLD_STRING,    /* number is a strings id */
	TOLD_SHORT,     /* a frame id: the function, shortened */
	TOLD_FUNC,      /* a frame id: the function in full */
	TOLD_FRAME,     /* a frame id: its name alone */
	TOLD_WHO,       /* number is a thread, whole its name then: "name/tid" */
	TOLD_PATH,      /* number is a stack, whole the most frames of it */
};

struct told_arg {
	const char *name; /* of the place; static */
	enum told_kind kind;
	union {
		const char *text;
		const struct mechanism *of;
	};
	uint64_t number, whole; /* whole: the sum of which number is a part, for its unit */
};

/* What is left out first if a sentence is too long. */
enum told_brief {
	BRIEF_NOT,
	BRIEF_SYSCALLS,
	BRIEF_NAMES,
	BRIEF_WAITER,
	BRIEF_TARGETS,
	BRIEF_PLAIN, /* "waiting for" instead of "front waited for" */
	BRIEF_CALLERS,
	BRIEF_LEVELS
};

/* A clause is said at the levels from .. until - 1 of brevity. */
struct told_clause {
	enum told_form form;
	uint8_t from, until;
	uint32_t arg, nargs; /* told.args[arg ..] */
};

/* Zero-initialised is empty. The arguments' texts and ids are the timeline's, except those in
 * `texts`. */
struct told {
	VEC(struct told_clause) v;
	VEC(struct told_arg) args;
	struct arena texts;
	uint8_t from, until; /* of clauses to come; until 0: all levels */
	int failed;          /* ERR_NOMEM */
};

/* Append a clause; absent arguments are left out. */
void told_say(struct told *to, enum told_form form, const struct told_arg *args, size_t n);
#define TELL(to, form, ...)                                               \
	told_say(to, TOLD_##form, (const struct told_arg[]){__VA_ARGS__}, \
		 sizeof((const struct told_arg[]){__VA_ARGS__}) / sizeof(struct told_arg))
#define TELL_BARE(to, form) told_say(to, TOLD_##form, NULL, 0)

/* Free everything. */
void told_release(struct told *to);

/* The opening sentence of an answer: what held up the worst episodes, and which thread did.
 *
 *	20 of 20 worst waits of front-0 and front-1: snapshot held the lock they wanted,
 *	asleep in write_pages().
 *
 * It is about the group with the most time, and describes the chain of the episode that speaks
 * for it. *sentence is the first clause of it; those before are about slow cycles. No clause if
 * no episode is shown. ERR_NOMEM. */
int told_answer(struct told *to, struct tail *t, size_t *sentence, struct err *e);

/* 1 if that sentence names another thread, or a mechanism: not just where the waiting thread
 * was. */
int told_names_cause(const struct tail *t);

/* The root of one episode, without "root cause: ": "thread back/4715 held the lock for 6.4 ms:
 * ...; the other 0.3 ms: ...", which add up to the episode. */
void told_root(struct told *to, struct evidence *ev, const struct explanation *x);

/* What the episodes of a group have in common: for a root also what it did to those that
 * waited, "snapshot: held the lock, asleep in write_pages()". */
void told_group(struct told *to, const struct tail *t, const struct tail_group *g);

/* A root in few words: "snapshot: sleep in write_pages()". */
void told_root_brief(struct told *to, const struct timeline *tl, const struct tail_root *r);

/* The host's part in what the root did: its pressure, what the hypervisor took. */
void told_host(struct told *to, const struct timeline *tl, const struct explanation *x);

/* The sentence about cycles that were slow without waiting. */
void told_slow_time(struct told *to, const struct timeline *tl, const struct slow_time *s);

/* --- parts of sentences ------------------------------------------------------------------- */

/* The target of a wait's descriptor; the disk request that it was for, timeline.offcpu[off];
 * after ", " if `comma`. Nothing if it is not known. */
void told_target(struct told *to, const struct timeline *tl, const struct offcpu *o, int comma);
void told_disk(struct told *to, struct evidence *ev, uint32_t offcpu, int comma);

/* " of 20 ms in 100 ms (/svc)", the CPU quota of a thread's cgroup or container, with `counts`
 * also how often it was used up; nothing if it is not known. */
void told_quota(struct told *to, const struct timeline *tl, uint32_t thread, int counts);

/* "waiting for an idle CPU to wake up (idle state 2)", for a part that ended so. */
void told_idle_cpu(struct told *to, const struct evidence *ev, const struct chain_part *p);

/* 1 if two frames are of functions of one name. */
int told_same_name(const struct timeline *tl, uint32_t a, uint32_t b);

/* The function to name of a wait or a run, whose stack is `path`: `function`, but not one whose
 * name only says that it sleeps. */
uint32_t told_function(const struct timeline *tl, unsigned cause, uint32_t path,
		       uint32_t function);

/* The path down to its innermost user frame; 0: none. */
uint32_t told_user_path(const struct stacks *s, uint32_t path);

/* "waiting for the GIL", "throttled, too many dirty pages". */
void told_mechanism(struct told *to, const struct mechanism *m);

/* 1 if the thread wrote the recording: not the command that it ran. */
int told_is_recorder(const struct timeline *tl, uint32_t thread);

/* Too little of an episode to be read. */
static inline int is_slight(uint64_t ns, uint64_t of)
{
	return ns < of / 20;
}

static inline unsigned told_percent(uint64_t ns, uint64_t whole)
{
	return (unsigned)(100 * (double)ns / (double)whole + 0.5);
}

/* --- arguments; each is absent where there is nothing ------------------------------------- */

static inline struct told_arg arg_number(const char *name, uint64_t n)
{
	return (struct told_arg){.name = name, .kind = TOLD_NUMBER, .number = n};
}

static inline struct told_arg arg_part(const char *name, uint64_t ns, uint64_t whole)
{
	return (struct told_arg){
		.name = name, .kind = TOLD_NUMBER, .number = ns, .whole = whole};
}

static inline struct told_arg arg_signed(const char *name, int64_t n)
{
	return (struct told_arg){.name = name, .kind = TOLD_SIGNED, .number = (uint64_t)n};
}

static inline struct told_arg arg_text(const char *name, const char *text, size_t n)
{
	return (struct told_arg){.name = name,
				 .kind = text ? TOLD_TEXT : TOLD_ABSENT,
				 .text = text,
				 .number = n};
}

static inline struct told_arg arg_word(const char *name, const char *text)
{
	return arg_text(name, text, text ? strlen(text) : 0);
}

static inline struct told_arg arg_mechanism(const struct mechanism *m)
{
	return (struct told_arg){
		.name = "what", .kind = m ? TOLD_MECHANISM : TOLD_ABSENT, .of = m};
}

static inline struct told_arg arg_string(const char *name, uint32_t id)
{
	return (struct told_arg){.name = name, .kind = TOLD_STRING, .number = id};
}

static inline struct told_arg arg_who(uint32_t thread, uint32_t comm)
{
	return (struct told_arg){
		.name = "thread", .kind = TOLD_WHO, .number = thread, .whole = comm};
}

/* `kind` is TOLD_SHORT, TOLD_FUNC or TOLD_FRAME; frame 0 is absent. */
static inline struct told_arg arg_frame(const char *name, enum told_kind kind, uint32_t frame)
{
	return (struct told_arg){
		.name = name, .kind = frame ? kind : TOLD_ABSENT, .number = frame};
}

static inline struct told_arg arg_path(uint32_t path, int most)
{
	return (struct told_arg){
		.name = "stack", .kind = TOLD_PATH, .number = path, .whole = (uint64_t)most};
}

#endif
