/*
 * diversity FILE - how hard a recording is to fold: its samples, their processes, the distinct
 * callchains of a process, and those apart from the leaf, whose address is nearly unique.
 */
#include "base/hash.h"
#include "libparse/recording.h"
#include "libparse/sample.h"

#include <inttypes.h>
#include <stdio.h>

struct counts {
	uint64_t samples, words;
	struct u64map processes, chains, callers;
};

/* Markers of a callchain ("what follows is user") lie in its last page: perf_event.h. */
static int is_marker(uint64_t ip)
{
	return ip >= (uint64_t)-4095;
}

/* Of the process and the chain's addresses; `leaf`: with the first one. */
static uint64_t chain_hash(const struct sample *s, int swap, int leaf)
{
	uint64_t h = hash_u64((uint32_t)s->pid + 1u);
	for (uint64_t i = 0, seen = 0; i < s->callchain.n; i++) {
		uint64_t ip = load_u64(s->callchain.p + 8 * i, swap);
		if (is_marker(ip) || (!seen++ && !leaf))
			continue;
		h = hash_u64(h ^ ip) + i;
	}
	return h;
}

static int count(struct counts *c, const struct sample *s, int swap)
{
	c->samples++;
	c->words += s->callchain.n;
	return u64map_put(&c->processes, (uint32_t)s->pid, 0) ||
	       u64map_put(&c->chains, chain_hash(s, swap, 1), 0) ||
	       u64map_put(&c->callers, chain_hash(s, swap, 0), 0);
}

int main(int argc, char **argv)
{
	struct recording *rec;
	struct record r;
	struct sample s;
	struct counts c = {0};
	struct err e = {0};
	int got = 0;
	if (argc != 2 || recording_open(&rec, argv[1], &e)) {
		fprintf(stderr, "diversity: %s\n", argc == 2 ? e.msg : "usage: diversity FILE");
		return 1;
	}
	while (!got && (got = recording_next(rec, &r, &e)) == 1) {
		const struct event *ev =
			r.type == PERF_RECORD_SAMPLE ? recording_event(rec, &r) : NULL;
		got = ev && !sample_decode(&r, ev, rec->swap, &s, &e) ? count(&c, &s, rec->swap)
								      : 0;
	}
	printf("%" PRIu64
	       " samples, %.1f words each; %zu processes; %zu chains of a process, %zu without "
	       "the leaf\n",
	       c.samples, c.samples ? (double)c.words / (double)c.samples : 0, c.processes.n,
	       c.chains.n, c.callers.n);
	recording_close(rec);
	return got < 0;
}
