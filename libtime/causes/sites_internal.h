/*
 * sites_internal.h - what the parts of sites (sites.h) share.
 *
 *	site_place.c     call paths: the application's functions on them, and the roles of their
 *			 frames together
 *	sites.c          puts intervals into sites and counts them, and what other stacks
 *			 show of each role's work
 *	site_verdict.c   finds each site's verdict and puts it into the intervals
 */
#ifndef LIBTIME_CAUSES_SITES_INTERNAL_H
#define LIBTIME_CAUSES_SITES_INTERNAL_H

#include "libtime/causes/sites.h"

enum { SITE_ENOUGH = 4 }; /* waits, or stacks, that are evidence */

/* What the frames of a path show together. */
enum place_flag {
	WHOLE = 1,         /* reaches the thread's start */
	INTERPRETED = 2,   /* an opaque frame hides which function runs */
	IN_RUNTIME = 4,    /* the innermost user frame is not the application's */
	WORK_WAIT = 8,     /* below a known work wait */
	TAKES_WORK = 16,   /* below a function that fetches work */
	PROGRAM_LOOP = 32, /* directly in a program's own loop */
	LIBRARY_LOOP = 64, /* directly in a library's loop */
	IN_HANDLER = 128,  /* below a signal handler's caller */
	ASKED_WORK = 256,  /* --work-frame */
	ASKED_IDLE = 512,  /* --idle-frame, of the innermost application function */
	SENDS = 1024,      /* in the kernel, sends to a socket */
	DECIDED = WORK_WAIT | TAKES_WORK | PROGRAM_LOOP,
};

/* A call path: the path of its application functions alone ("app path", without lines and files
 * of calls), and what the roles of its frames show. */
struct place {
	uint32_t app;   /* app path; 0 = no application function */
	uint32_t role;  /* outermost application function; 0 = not known */
	uint32_t known; /* the frame that DECIDED is about; 0 = none */
	uint32_t loop;  /* a poll loop with only unnamed functions below it; 0 = none */
	uint32_t flags; /* enum place_flag */
};

struct app_path {
	uint32_t parent, function;
};

struct role {
	uint32_t program, name; /* strings ids */
	uint64_t work, all;     /* stacks that count for step 5 */
	uint64_t events;        /* waits for other threads that look like its loop's */
};

struct share { /* a role's stacks that have one function on them */
	uint64_t work, all;
};

struct site {
	uint32_t role, path, app, flags;
	uint64_t answered, packets;
	uint32_t args; /* what was waited on: bits by enum wait_arg */
};

/* Equal stacks of a role, counted. */
struct stack_count {
	uint32_t role, path;
	uint64_t n;
	int work;
};

/* What was found for the intervals, or wakeups, of a thread with the same stack. */
struct found {
	uint32_t thread, comm, path;
	uint32_t how;   /* 0: nothing yet; 1 + its cause and OFF_RUNNING, or WORKS */
	uint32_t site;  /* of intervals */
	uint32_t count; /* of sites.count, or NO_COUNT */
};

enum { RECENT = 256 };

struct sites {
	struct causes *c;
	struct timeline *tl;
	const struct stacks *s;
	int dwarf;
	VEC(uint8_t) asked;      /* by frame: enum frame_asked */
	VEC(uint32_t) function;  /* frame → the first one of the same function */
	VEC(struct place) place; /* by path */
	VEC(struct app_path) app;
	VEC(uint32_t) program; /* thread → strings id */
	VEC(struct role) role;
	VEC(struct site) site; /* parallel to tl->sites */
	VEC(struct stack_count) count;
	VEC(struct share) share;
	VEC(uint32_t) near;  /* thread → where the last search in its intervals ended */
	VEC(uint32_t) stamp; /* function → the last stack it was counted for */
	struct u64map app_of, role_of, key_of, site_of, waits_at, count_of[2], share_of;
	struct found recent[RECENT];
};

/* Look up a key; a new one is added with the value *id. ERR_NOMEM. */
int sites_first_of(struct u64map *m, uint64_t key, uint32_t *id);

/* May a wait of this cause be for work? */
int sites_may_idle(unsigned cause);

/* Fill function, asked, place and app. ERR_NOMEM. */
int sites_find_places(struct sites *x);

/* Verdict, reason and hint of each site; the bits of OFF_SITE of each interval. */
void sites_set_verdicts(struct sites *x);

#endif
