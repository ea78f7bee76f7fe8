/*
 * twice IN OUT - a recording twice as long: its records, and all of them once more, later by as
 * much as they last. For measuring what grows with the length alone; IN is a perf.data file as
 * perf on this machine writes it, neither compressed nor with several data files.
 */
#include "libparse/recording.h"
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>

/* struct perf_file_header, tools/perf/util/header.h: u64 words. */
enum { DATA_OFFSET = 5, DATA_SIZE = 6, FEATURES = 9, FEATURE_WORDS = 4 };

static void die(const char *what)
{
	fprintf(stderr, "twice: %s\n", what);
	exit(1);
}

static void put(FILE *out, const void *p, size_t n)
{
	if (n && fwrite(p, 1, n, out) != n)
		die("cannot write");
}

static uint8_t *time_of(const struct recording *rec, const struct record *r, uint8_t *copy)
{
	const struct event *ev = recording_event(rec, r);
	if (!ev || r->type >= PERF_RECORD_HEADER_ATTR)
		return NULL;
	if (r->type == PERF_RECORD_SAMPLE)
		return ev->head_time ? copy + ev->head_time : NULL;
	return ev->tail_time ? copy + r->size - ev->tail_time : NULL;
}

/* All records with `shift` added to their times (none at 0), or with NULL the range of these.
 */
static void walk(const char *path, FILE *out, uint64_t shift, uint64_t *from, uint64_t *to)
{
	static uint8_t copy[UINT16_MAX + 1];
	struct recording *rec;
	struct record r;
	struct err e = {0};
	uint64_t t;
	int got;
	if (recording_open(&rec, path, &e))
		die(e.msg);
	if (rec->swap || rec->compressed || rec->pipe_mode || rec->directory)
		die("not a plain file of this machine");
	while ((got = recording_next(rec, &r, &e)) == 1) {
		memcpy(copy, r.p, r.size);
		uint8_t *at = time_of(rec, &r, copy);
		if (at)
			memcpy(&t, at, sizeof(t));
		if (at && t && t < 1ull << 62) {
			*from = t < *from ? t : *from;
			*to = t > *to ? t : *to;
			t += shift;
			memcpy(at, &t, sizeof(t));
		}
		if (out)
			put(out, copy, r.size);
	}
	if (got < 0)
		die(e.msg);
	recording_close(rec);
}

static void copy_bytes(FILE *in, FILE *out, uint64_t n)
{
	static char buf[1 << 20];
	while (n) {
		size_t want = n < sizeof(buf) ? n : sizeof(buf), got = fread(buf, 1, want, in);
		if (!got)
			die("the file ends too soon");
		put(out, buf, got);
		n -= got;
	}
}

int main(int argc, char **argv)
{
	uint64_t head[FEATURES + FEATURE_WORDS], from = UINT64_MAX, to = 0, section[2];
	int features = 0;
	FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL;
	FILE *out = in ? fopen(argv[2], "wb") : NULL;
	if (!out || fread(head, sizeof(head), 1, in) != 1)
		die("wants the names of a file and of another to write");
	uint64_t data = head[DATA_OFFSET], size = head[DATA_SIZE];
	for (int i = 0; i < FEATURE_WORDS; i++)
		features += __builtin_popcountll(head[FEATURES + i]);
	walk(argv[1], NULL, 0, &from, &to);
	head[DATA_SIZE] = 2 * size;
	put(out, head, sizeof(head));
	copy_bytes(in, out, data + size - sizeof(head));
	walk(argv[1], out, to - from + 1000000, &from, &to);
	if ((uint64_t)ftello(out) != data + 2 * size)
		die("records were skipped");
	for (int i = 0; i < features; i++) {
		if (fread(section, sizeof(section), 1, in) != 1)
			die("the file ends too soon");
		section[0] += size;
		put(out, section, sizeof(section));
	}
	for (int c; (c = getc(in)) != EOF;)
		putc(c, out);
	return fclose(out) != 0;
}
