/*
 * forget FILE WHAT [PERCENT [SEED [CPU]]] - a recording some of whose scheduler events were never
 * made: in place, they become records of a type that no program knows. WHAT is "idle" (switches
 * out of the idle task, as virtual machines and filters on prev_pid leave them out), or the name
 * of an event ("sched_switch"), or "sched" for all; PERCENT of them, at random, of one CPU or of
 * all. FILE is a perf.data file as perf on this machine writes it.
 */
#include "libparse/sample.h"
#include "libparse/tracepoint.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NO_TYPE = 200 }; /* beyond all types of perf */

struct forgetter {
	struct tracepoints *formats;
	uint8_t *file;
	const char *what;
	uint64_t percent, seed;
	long cpu; /* -1: all */
	uint64_t forgotten, of;
};

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

static int is_forgotten(struct forgetter *x, const struct record *r, const struct event *ev)
{
	const struct tracepoint *tp = tracepoint_of(x->formats, ev);
	int idle = !strcmp(x->what, "idle");
	struct tp_field prev;
	struct sample s;
	int32_t tid = 0;
	if (!tp || strncmp(ev->name, "sched:", 6) || sample_decode(r, ev, 0, &s, NULL) ||
	    !s.raw || (x->cpu >= 0 && s.cpu != (uint32_t)x->cpu))
		return 0;
	if (strcmp(idle ? "sched_switch" : x->what, ev->name + 6) && strcmp(x->what, "sched"))
		return 0;
	if (idle) {
		if (!tracepoint_field(tp, "prev_pid", &prev) ||
		    prev.offset + sizeof(tid) > s.raw_size)
			return 0;
		memcpy(&tid, s.raw + prev.offset, sizeof(tid));
	}
	x->of++;
	return !tid && next_random(&x->seed) % 100 < x->percent;
}

static int forget(struct forgetter *x, struct recording *rec, struct err *e)
{
	struct record r;
	uint32_t type = NO_TYPE;
	int got;
	while ((got = recording_next(rec, &r, e)) == 1) {
		const struct event *ev = recording_event(rec, &r);
		if (!ev || r.type != PERF_RECORD_SAMPLE || !is_forgotten(x, &r, ev))
			continue;
		memcpy(x->file + r.offset, &type, sizeof(type));
		x->forgotten++;
	}
	return got;
}

int main(int argc, char **argv)
{
	struct recording *rec;
	struct err e = {0};
	struct stat st;
	int fd = argc >= 3 ? open(argv[1], O_RDWR) : -1;
	if (fd < 0 || fstat(fd, &st)) {
		fprintf(stderr, "usage: forget FILE WHAT [PERCENT [SEED [CPU]]]\n");
		return 1;
	}
	struct forgetter x = {.what = argv[2],
			      .percent = argc > 3 ? strtoul(argv[3], NULL, 10) : 100,
			      .seed = argc > 4 ? strtoul(argv[4], NULL, 10) : 1,
			      .cpu = argc > 5 ? strtol(argv[5], NULL, 10) : -1};
	x.file = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int bad = x.file == MAP_FAILED || recording_open(&rec, argv[1], &e);
	if (!bad) {
		bad = rec->swap || rec->compressed || tracepoints_new(&x.formats, rec, &e) ||
		      forget(&x, rec, &e);
		tracepoints_free(x.formats);
		recording_close(rec);
	}
	if (bad)
		fprintf(stderr, "forget: %s: %s\n", argv[1], e.msg);
	else
		printf("%llu of %llu events\n", (unsigned long long)x.forgotten,
		       (unsigned long long)x.of);
	return bad;
}
