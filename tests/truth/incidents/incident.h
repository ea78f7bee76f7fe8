/*
 * incident.h - what the programs of this folder share: `front` asks for 1.5 s, a quick request each
 * 3 ms, and every 60 ms something makes one slow. Requests of more than 8 ms are logged: "slow".
 */
#ifndef TESTS_TRUTH_INCIDENTS_INCIDENT_H
#define TESTS_TRUTH_INCIDENTS_INCIDENT_H

#include "../truth.h"

enum { EVERY = 60, LONG = 30 }; /* ms */

struct incident {
	const char *name;
	void (*run)(void);
};

static uint64_t until;

static inline int goes_on(void)
{
	return now_ns() < until;
}

static inline void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(77);
}

/* Ask for as long as it goes on. */
static inline void requests(void (*ask)(void), void (*rest)(void))
{
	while (goes_on()) {
		uint64_t from = now_ns();
		ask();
		if (now_ns() - from > 8 * MS)
			truth("slow", from, now_ns());
		rest();
	}
}

NOINLINE static void think(void)
{
	sleep_ns(3 * MS);
	STAY();
}

/* Run the one that the command line names: PROGRAM LOG NAME. 2 where there is none. */
static inline int run_incident(const struct incident *all, size_t n, int argc, char **argv)
{
	truth_begin(argc, argv, "front");
	until = now_ns() + 1500 * (uint64_t)MS;
	for (size_t i = 0; i < n; i++) {
		if (argc < 3 || strcmp(all[i].name, argv[2]))
			continue;
		all[i].run();
		truth_write();
		return 0;
	}
	return 2;
}

#endif
