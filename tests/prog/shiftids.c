/*
 * shiftids FILE BY - every pid and tid of a recording, in place, larger by BY: those of
 * records, of what follows them, of samples and of scheduler tracepoints. 0 (idle), 1 and 2
 * (the parent of kernel threads) stay. FILE is a perf.data file as perf on this machine writes
 * it, not compressed.
 */
#include "libparse/sample.h"
#include "libparse/tracepoint.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LAST_KEPT = 2 };

struct shifter {
	struct tracepoints *formats;
	uint8_t *file;
	size_t size;
	uint32_t by;
	uint64_t shifted;
};

static void shift(struct shifter *x, const struct record *r, size_t at)
{
	uint32_t id;
	if (at + sizeof(id) > r->size || r->offset + r->size > x->size)
		return;
	uint8_t *p = x->file + r->offset + at;
	memcpy(&id, p, sizeof(id));
	if ((int32_t)id <= LAST_KEPT)
		return;
	id += x->by;
	memcpy(p, &id, sizeof(id));
	x->shifted++;
}

/* How many ids a record begins with: include/uapi/linux/perf_event.h. */
static size_t leading_ids(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_EXIT:
	case PERF_RECORD_FORK:
		return 4;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_NAMESPACES:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return 2;
	default:
		return 0;
	}
}

static void shift_trailer(struct shifter *x, const struct record *r, const struct event *ev)
{
	const uint64_t parts = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	uint64_t type = ev->attr.sample_type;
	size_t n = 8 * (size_t)__builtin_popcountll(type & parts);
	if (!(type & PERF_SAMPLE_TID) || !attr_flag(&ev->attr, ATTR_SAMPLE_ID_ALL) ||
	    n + RECORD_HEADER_SIZE > r->size)
		return;
	shift(x, r, r->size - n);
	shift(x, r, r->size - n + 4);
}

static void shift_sample(struct shifter *x, const struct record *r, const struct event *ev)
{
	static const char *const names[] = {"common_pid", "pid",        "prev_pid",
					    "next_pid",   "parent_pid", "child_pid"};
	uint64_t type = ev->attr.sample_type;
	size_t at = RECORD_HEADER_SIZE + (type & PERF_SAMPLE_IDENTIFIER ? 8 : 0) +
		    (type & PERF_SAMPLE_IP ? 8 : 0);
	const struct tracepoint *tp = tracepoint_of(x->formats, ev);
	struct sample s;
	if (type & PERF_SAMPLE_TID) {
		shift(x, r, at);
		shift(x, r, at + 4);
	}
	if (!tp || sample_decode(r, ev, 0, &s, NULL) || !s.raw)
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct tp_field f;
		if (tracepoint_field(tp, names[i], &f) && f.size == 4 &&
		    f.offset + 4 <= s.raw_size)
			shift(x, r, (size_t)(s.raw - r->p) + f.offset);
	}
}

static int shift_all(struct shifter *x, struct recording *rec, struct err *e)
{
	struct record r;
	int got;
	while ((got = recording_next(rec, &r, e)) == 1) {
		const struct event *ev = recording_event(rec, &r);
		for (size_t i = 0; i < leading_ids(r.type); i++)
			shift(x, &r, RECORD_HEADER_SIZE + 4 * i);
		if (ev && r.type == PERF_RECORD_SAMPLE)
			shift_sample(x, &r, ev);
		else if (ev && r.type < PERF_RECORD_HEADER_ATTR)
			shift_trailer(x, &r, ev);
	}
	return got;
}

int main(int argc, char **argv)
{
	struct recording *rec;
	struct err e = {0};
	struct stat st;
	int fd = argc == 3 ? open(argv[1], O_RDWR) : -1;
	if (fd < 0 || fstat(fd, &st)) {
		fprintf(stderr, "usage: shiftids FILE BY\n");
		return 1;
	}
	struct shifter x = {.size = (size_t)st.st_size,
			    .by = (uint32_t)strtoul(argv[2], NULL, 10)};
	x.file = mmap(NULL, x.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int bad = x.file == MAP_FAILED || recording_open(&rec, argv[1], &e);
	if (!bad) {
		bad = rec->swap || rec->compressed || tracepoints_new(&x.formats, rec, &e) ||
		      shift_all(&x, rec, &e);
		tracepoints_free(x.formats);
		recording_close(rec);
	}
	if (bad)
		fprintf(stderr, "shiftids: %s: %s\n", argv[1], e.msg);
	else
		printf("%llu ids\n", (unsigned long long)x.shifted);
	return bad;
}
