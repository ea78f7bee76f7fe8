/*
 * frame_table.h - the roles of frames by name: the table in frames.rules. Unwinding, causes,
 * wait sites, chains and findings all use it.
 *
 *	start_thread        start
 *	worker, get_job
 *	pthread_cond_wait   runtime
 *	[kernel] futex_wait
 *	[kernel] schedule   scheduler
 *
 *	struct frame_table *t;
 *	frame_table_new(&t, &e);                         // the built-in table
 *	frame_table_parse(t, text, n, "my.rules", &e);   // --causes FILE
 *	unsigned roles = frame_roles(t, 0, "pthread_cond_wait", "/lib/libc.so.6");
 *	frame_table_free(t);
 *
 * The head of frames.rules is the documentation of the rules and of each role.
 */
#ifndef LIBSYM_NAME_FRAME_TABLE_H
#define LIBSYM_NAME_FRAME_TABLE_H

#include "base/err.h"

#include <stddef.h>

/* A frame may have several roles. None: a function of the application, or other kernel code. */
enum frame_role {
	ROLE_RUNTIME = 1 << 0,       /* of a language or a library: says how, not where */
	ROLE_START = 1 << 1,         /* where a thread or a process begins */
	ROLE_WRAPPER = 1 << 2,       /* named after the wait: its caller says more */
	ROLE_OPAQUE = 1 << 3,        /* an interpreter's: hides which function runs */
	ROLE_SCHEDULER = 1 << 4,     /* kernel: switches any thread off its CPU */
	ROLE_INTERRUPT = 1 << 5,     /* kernel: an interrupt or softirq begins */
	ROLE_HELPER = 1 << 6,        /* kernel: waits or enters on behalf of its caller */
	ROLE_WORK_WAIT = 1 << 7,     /* a wait below it is part of a piece of work */
	ROLE_TAKES_WORK = 1 << 8,    /* a wait below it is for the next piece of work */
	ROLE_LOOP = 1 << 9,          /* a program's own loop: a wait directly in it is idle */
	ROLE_LIBRARY_LOOP = 1 << 10, /* of an event library; proves nothing */
	ROLE_HANDLER = 1 << 11,      /* a signal handler's caller: interrupts work */
	ROLE_POLL_LOOP = 1 << 12,    /* the same, and through functions without names */
	ROLE_ROOT_START = 1 << 13,   /* ROLE_START, if nothing called it */
	ROLE_EXCLUSIVE = 1 << 14, /* the lock it lets go or waits for was not held by readers */
	ROLE_PLUMBING = 1 << 15,  /* begins a thread's work as START; a thin row in pictures */
	ROLE_APPLICATION = 1 << 16, /* by the user: the application's, whatever else matches */
	ROLE_SENDS = 1 << 17,       /* a wait in it is for room, not for data */
	ROLE_SPAWNS = 1 << 18,      /* a wait in it is for a child to call exec, not to exit */
	ROLE_TAKES_LOCK = 1 << 19,  /* kernel: takes a lock for its caller */
	ROLE_SHARED_INLINE = 1 << 20, /* inlined into several functions; not of the table, but
					 set by timeline_set_roles */
};

/* What pictures fold to a thin row. */
enum { ROLES_FOLDED = ROLE_START | ROLE_SCHEDULER | ROLE_HELPER | ROLE_PLUMBING };

struct frame_table;

/* The text of frames.rules. */
extern const char frames_builtin[];

/* The built-in table. ERR_NOMEM. */
int frame_table_new(struct frame_table **out, struct err *e);

/* NULL is accepted. */
void frame_table_free(struct frame_table *t);

/*
 * Add the rules of a text; a name's roles add up. Lines that begin with a word other than a
 * role are skipped: causes.h reads and checks them. ERR_FORMAT "NAME:LINE: ..."; ERR_LIMIT;
 * ERR_NOMEM.
 */
int frame_table_parse(struct frame_table *t, const char *text, size_t n, const char *name,
		      struct err *e);

/* The role of a word of rules, "takes-work"; 0 for none. */
unsigned frame_role_named(const char *word);

/* The word of a role, "takes-work"; "" for anything else. */
const char *frame_role_name(unsigned role);

/*
 * The roles of a frame, bits of enum frame_role: `kernel` is 1 for one of the kernel, `symbol`
 * its name as shown ("" for none), `dso` the path or [name] of its mapping ("" if not known).
 * It takes a few hash lookups: cache the result for a frame that is looked up often.
 */
unsigned frame_roles(const struct frame_table *t, int kernel, const char *symbol,
		     const char *dso);

/*
 * The name that is compared with rules, cut to size - 1 bytes: no argument lists, template
 * arguments, return types, "__GI_", symbol versions, nor what compilers append
 * (".constprop.0").
 *
 *	void std::condition_variable::wait<f()::{lambda()#1}>(...)
 *	     → std::condition_variable::wait
 *	<tokio::runtime::park::CachedParkThread>::park
 *	     → tokio::runtime::park::CachedParkThread::park
 *	node::(anonymous namespace)::PlatformWorkerThread
 *	     → node::PlatformWorkerThread
 */
void frame_plain_name(const char *symbol, char *out, size_t size);

#endif
