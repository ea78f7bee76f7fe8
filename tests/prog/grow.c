/*
 * grow IN OUT BYTES - a recording as large as asked for, out of a real one: all its records
 * (but EXIT, so that every thread lives on), then its samples again and again, each pass later
 * by the length of the recording, in the order they had. For measuring only.
 */
#include "libparse/recording.h"
#include "libparse/sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct grower {
	FILE *out;
	uint64_t written, goal, first, last;
};

static void put_u64(uint8_t *p, uint64_t x)
{
	memcpy(p, &x, 8);
}

static int put(struct grower *g, const void *p, size_t n)
{
	g->written += n;
	return fwrite(p, 1, n, g->out) == n ? 0 : -1;
}

/* One pass over the records; `shift` is added to the times of samples. */
static int pass(struct grower *g, struct recording *rec, uint64_t shift)
{
	struct record r;
	struct err e = {0};
	uint8_t copy[65536];
	if (recording_rewind(rec, &e))
		return -1;
	while ((!shift || g->written < g->goal) && recording_next(rec, &r, &e) == 1) {
		int sample = r.type == PERF_RECORD_SAMPLE;
		if (r.type == PERF_RECORD_EXIT ||
		    (shift && !sample && r.type != PERF_RECORD_FINISHED_ROUND))
			continue;
		memcpy(copy, r.p, r.size);
		const struct event *ev = sample ? recording_event(rec, &r) : NULL;
		int at = ev ? sample_time_offset(ev->attr.sample_type) : -1;
		if (at >= 0) {
			uint8_t *p = copy + RECORD_HEADER_SIZE + at;
			uint64_t time = load_u64(p, 0);
			g->first = time < g->first ? time : g->first;
			g->last = time > g->last && !shift ? time : g->last;
			put_u64(p, time + shift);
		}
		if (put(g, copy, r.size))
			return -1;
	}
	return 0;
}

static uint8_t *load(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END))
		return NULL;
	*n = (size_t)ftell(f);
	rewind(f);
	uint8_t *p = malloc(*n);
	if (p && fread(p, 1, *n, f) != *n)
		p = NULL;
	fclose(f);
	return p;
}

/* The sections behind the data move by as much as the data grew. */
static int put_features(struct grower *g, uint8_t *file, size_t n, uint64_t data_end,
			uint64_t delta)
{
	unsigned sections = 0;
	for (int i = 0; i < 4; i++)
		sections += (unsigned)__builtin_popcountll(load_u64(file + 72 + 8 * i, 0));
	for (unsigned i = 0; i < sections; i++) {
		uint8_t *p = file + data_end + 16 * i;
		put_u64(p, load_u64(p, 0) + delta);
	}
	return put(g, file + data_end, n - data_end);
}

int main(int argc, char **argv)
{
	struct recording *rec;
	struct err e = {0};
	size_t n;
	if (argc != 4 || recording_open(&rec, argv[1], &e)) {
		fprintf(stderr, "grow: %s\n", argc == 4 ? e.msg : "usage: grow IN OUT BYTES");
		return 1;
	}
	uint8_t *file = load(argv[1], &n);
	struct grower g = {.out = fopen(argv[2], "wb"), .first = UINT64_MAX};
	if (!file || !g.out || rec->swap || rec->compressed)
		return 1;
	uint64_t at = load_u64(file + 40, 0), size = load_u64(file + 48, 0);
	g.goal = strtoull(argv[3], NULL, 10) - (n - at - size);
	if (put(&g, file, at) || pass(&g, rec, 0))
		return 1;
	uint64_t span = g.last - g.first + 1;
	for (uint64_t i = 1; g.written < g.goal; i++)
		if (pass(&g, rec, i * span))
			return 1;
	uint64_t grown = g.written - at;
	if (put_features(&g, file, n, at + size, grown - size))
		return 1;
	put_u64(file + 48, grown);
	if (fseek(g.out, 48, SEEK_SET) || fwrite(file + 48, 1, 8, g.out) != 8 || fclose(g.out))
		return 1;
	recording_close(rec);
	free(file);
	return 0;
}
