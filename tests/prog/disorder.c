/*
 * disorder IN OUT SEED HOW N... - a recording (a plain perf.data file) with the order of its
 * records or their times disturbed, at random but the same for the same seed. First its records
 * are put in the order of time, in rounds of 100. HOW, any number of times:
 *
 *	late N	 N records go behind the third round that follows theirs
 *	swap N	 N records change places with the one before
 *	move N	 N records' times are moved by up to 50 ms
 *	skew NS	 all times of CPU 1 are moved by NS
 *	back N	 the clock of CPU 0 is set back by up to 20 ms, N times
 *	pipe 0	 as `perf record -o -` writes it
 *
 * Prints how many records it changed.
 */
#include "base/text/buf.h"
#include "libparse/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUND = 100, PIPE_HEAD = 16, FILE_HEAD = 104 };

struct place {
	uint64_t time, key; /* key: what it is sorted by */
	size_t at, n;       /* of the record's bytes */
	size_t time_at;     /* … its time's; 0: none */
	uint32_t cpu;
};

struct image {
	struct recording *rec;
	struct source src;
	uint8_t *p; /* a copy of the file */
	uint64_t data, data_end, size;
	VEC(struct place) v;
	uint64_t seed, changed;
	int as_pipe;
};

static void die(const char *what)
{
	fprintf(stderr, "disorder: %s\n", what);
	exit(1);
}

static uint64_t rnd(struct image *m, uint64_t below)
{
	m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
	return below ? (m->seed >> 33) % below : 0;
}

static uint64_t word(const struct image *m, uint64_t at)
{
	if (at + 8 > m->size)
		die("the file is cut");
	return load_u64(m->p + at, 0);
}

static size_t time_place(const struct image *m, const struct record *r)
{
	const struct event *ev = recording_event(m->rec, r);
	if (!ev)
		return 0;
	if (r->type == PERF_RECORD_SAMPLE)
		return ev->head_time;
	return r->type < PERF_RECORD_HEADER_ATTR && ev->tail_time ? r->size - ev->tail_time : 0;
}

static void read_records(struct image *m)
{
	struct record r;
	struct record_id id;
	uint64_t last = 0;
	while (recording_next(m->rec, &r, NULL) == 1) {
		if (r.type == PERF_RECORD_FINISHED_ROUND)
			continue;
		recording_id(m->rec, &r, &id);
		struct place x = {.at = r.offset, .n = r.size, .cpu = id.cpu};
		x.time_at = time_place(m, &r);
		x.time = x.time_at ? load_u64(r.p + x.time_at, 0) : 0;
		if (!x.time)
			x.time_at = 0;
		last = x.key = x.time ? x.time : last;
		if (vec_push(&m->v, x))
			die("out of memory");
	}
}

static int by_key(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static void set_time(struct image *m, struct place *x, uint64_t ns)
{
	store_u64(m->p + x->at + x->time_at, ns, 0);
	x->time = ns;
	m->changed++;
}

/* One that has a time and is not near the end; NULL: bad luck. */
static struct place *any(struct image *m)
{
	struct place *x = &m->v.v[rnd(m, m->v.n)];
	return x->time_at && x->time < UINT64_MAX >> 8 ? x : NULL;
}

/* From place i to place `to`, which is behind it. */
static void put_behind(struct image *m, size_t i, size_t to)
{
	struct place x = m->v.v[i];
	memmove(m->v.v + i, m->v.v + i + 1, (to - i) * sizeof(x));
	m->v.v[to] = x;
	m->changed++;
}

static void disturb(struct image *m, const char *how, long long n)
{
	for (long long k = 0; k < n && strcmp(how, "skew") != 0; k++) {
		struct place *x = any(m);
		size_t i = x ? (size_t)(x - m->v.v) : 0, late = (i / ROUND + 4) * ROUND;
		if (!x || !i)
			continue;
		if (!strcmp(how, "late") && late < m->v.n)
			put_behind(m, i, late);
		else if (!strcmp(how, "swap"))
			put_behind(m, i - 1, i);
		else if (!strcmp(how, "move"))
			set_time(m, x, x->time + rnd(m, 100000000) - 50000000);
		else if (!strcmp(how, "back"))
			for (uint64_t by = rnd(m, 20000000); i < m->v.n; i++)
				if (m->v.v[i].time_at && m->v.v[i].cpu == 0)
					set_time(m, &m->v.v[i], m->v.v[i].time - by);
	}
	for (size_t i = 0; i < m->v.n && !strcmp(how, "skew"); i++)
		if (m->v.v[i].time_at && m->v.v[i].cpu == 1)
			set_time(m, &m->v.v[i], m->v.v[i].time + (uint64_t)n);
	m->as_pipe |= !strcmp(how, "pipe");
}

static void put_head(struct buf *b, uint32_t type, size_t size)
{
	uint32_t head[2] = {type, (uint32_t)size << 16};
	if (size > UINT16_MAX)
		die("a part is too long for a pipe");
	buf_add(b, head, sizeof(head));
}

static void put_records(const struct image *m, struct buf *b)
{
	for (size_t i = 0; i < m->v.n; i++) {
		buf_add(b, m->p + m->v.v[i].at, m->v.v[i].n);
		if ((i + 1) % ROUND == 0 || i + 1 == m->v.n)
			put_head(b, PERF_RECORD_FINISHED_ROUND, 8);
	}
}

/* attr_size, {attrs, size}: each an attribute and {ids, size}. */
static void put_pipe_attrs(const struct image *m, struct buf *b)
{
	uint64_t size = word(m, 16), at = word(m, 24), end = at + word(m, 32);
	for (; size > 16 && at + size <= end; at += size) {
		uint64_t ids = word(m, at + size - 16), n = word(m, at + size - 8);
		put_head(b, PERF_RECORD_HEADER_ATTR, 8 + size - 16 + n);
		buf_add(b, m->p + at, size - 16);
		buf_add(b, m->p + ids, n);
	}
}

/* Its entries are records, but for their type. */
static void put_pipe_build_ids(const struct image *m, struct buf *b, uint64_t at, uint64_t n)
{
	for (uint64_t end = at + n; at + 8 <= end;) {
		uint64_t head = word(m, at), size = head >> 48;
		if (size < 8)
			return;
		head = head >> 32 << 32 | PERF_RECORD_HEADER_BUILD_ID;
		buf_add(b, &head, 8);
		buf_add(b, m->p + at + 8, size - 8);
		at += size;
	}
}

/* The sections behind the data, in the order of their bits. */
static void put_pipe_features(const struct image *m, struct buf *b)
{
	uint64_t at = m->data_end;
	for (uint64_t bit = 0; bit < 64; bit++) {
		if (!(word(m, 72) >> bit & 1))
			continue;
		uint64_t from = word(m, at), n = word(m, at + 8), pad = -n & 7;
		at += 16;
		if (bit == HEADER_TRACING_DATA) {
			uint32_t bytes = (uint32_t)n;
			put_head(b, PERF_RECORD_HEADER_TRACING_DATA, 12);
			buf_add(b, &bytes, 4);
			buf_add(b, m->p + from, n);
			buf_add(b, "\0\0\0\0\0\0\0", pad);
		} else if (bit == HEADER_BUILD_ID) {
			put_pipe_build_ids(m, b, from, n);
		} else if (n < 60000) {
			put_head(b, PERF_RECORD_HEADER_FEATURE, 16 + n + pad);
			buf_add(b, &bit, 8);
			buf_add(b, m->p + from, n);
			buf_add(b, "\0\0\0\0\0\0\0", pad);
		}
	}
}

static void compose_pipe(const struct image *m, struct buf *b)
{
	uint64_t size = PIPE_HEAD;
	buf_add(b, m->p, 8);
	buf_add(b, &size, 8);
	put_pipe_attrs(m, b);
	put_pipe_features(m, b);
	put_records(m, b);
}

/* The rounds take room: what lies behind the data moves. */
static void compose_file(const struct image *m, struct buf *b)
{
	buf_add(b, m->p, m->data);
	put_records(m, b);
	uint64_t size = b->n - m->data, by = size - (m->data_end - m->data);
	size_t table = b->n;
	buf_add(b, m->p + m->data_end, m->size - m->data_end);
	if (buf_failed(b))
		die("out of memory");
	uint8_t *p = (uint8_t *)b->v;
	store_u64(p + 48, size, 0);
	for (uint64_t bits = word(m, 72); bits; bits &= bits - 1, table += 16)
		store_u64(p + table, load_u64(p + table, 0) + by, 0);
}

static void write_out(const char *path, const struct buf *b)
{
	FILE *f = fopen(path, "wb");
	if (buf_failed(b) || !f || fwrite(b->v, 1, b->n, f) != b->n || fclose(f))
		die("cannot write");
}

int main(int argc, char **argv)
{
	struct image m = {0};
	struct buf b = {0};
	struct err e = {0};
	if (argc < 4)
		die("disorder IN OUT SEED HOW N...");
	if (source_open(&m.src, argv[1], &e) || recording_open(&m.rec, argv[1], &e))
		die(e.msg);
	m.seed = strtoull(argv[3], NULL, 10);
	m.size = m.src.size;
	m.p = malloc(m.size);
	if (!m.p || !source_is_mapped(&m.src) || m.size < FILE_HEAD)
		die("no plain file");
	memcpy(m.p, m.src.data, m.size);
	m.data = word(&m, 40);
	m.data_end = m.data + word(&m, 48);
	read_records(&m);
	qsort(m.v.v, m.v.n, sizeof(*m.v.v), by_key);
	for (int i = 4; i + 1 < argc; i += 2)
		disturb(&m, argv[i], strtoll(argv[i + 1], NULL, 10));
	(m.as_pipe ? compose_pipe : compose_file)(&m, &b);
	write_out(argv[2], &b);
	printf("%llu of %zu records changed\n", (unsigned long long)m.changed, m.v.n);
	buf_release(&b);
	vec_release(&m.v);
	recording_close(m.rec);
	source_close(&m.src);
	free(m.p);
	return 0;
}
