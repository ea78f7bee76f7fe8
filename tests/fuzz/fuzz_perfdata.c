/*
 * fuzz_perfdata - the perf.data reader: header, attributes, features, records in file order and
 * in that of time, inflated ones, rewound.
 *
 * Input: a perf.data. It is read from memory and, as far as it can be, from a file apart from
 * its mapping, which has to come to the same; one in pipe mode through a pipe, too. Where the
 * input has several parts, they are a directory of `record --threads`: data, data.0, data.1 ...
 */
#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "libparse/order.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PIPE_MAX = 1 << 20, PARTS_MAX = 4 };

static void touch_features(const struct features *f)
{
	fuzz_text(f->hostname);
	fuzz_text(f->osrelease);
	fuzz_text(f->version);
	fuzz_text(f->arch);
	fuzz_text(f->cpudesc);
	fuzz_text(f->cpuid);
	fuzz_text(f->cmdline);
	for (size_t i = 0; i < f->build_ids.n; i++)
		fuzz_text(f->build_ids.v[i].filename);
	for (size_t i = 0; i < f->groups.n; i++)
		fuzz_text(f->groups.v[i].name);
	if (f->tracing_data)
		fuzz_touch(f->tracing_data, f->tracing_data_size);
}

static void walk(struct recording *rec)
{
	struct record r;
	struct record_run run;
	struct err e = {0};
	int got;
	while ((got = recording_next(rec, &r, &e)) == 1) {
		fuzz_record(&r, recording_event(rec, &r), rec->swap);
		if (recording_sample_run(rec, 1 << 12, &run))
			fuzz_touch(run.p, (size_t)(run.end - run.p));
	}
	if (got)
		fuzz_failed(got, &e);
	touch_features(&rec->features);
	for (size_t i = 0; i < rec->events.n; i++)
		fuzz_text(rec->events.v[i].name);
}

/* In the order of time; every other input with a thread that reads ahead. */
static void walk_in_order(struct recording *rec, int ahead)
{
	struct order *o;
	struct ordered *next;
	struct err e = {0};
	int got = order_new(&o, rec, &e);
	if (!got && ahead && recording_is_mapped(rec))
		got = order_read_ahead(o, &e);
	while (!got && (got = order_next(o, &next, &e)) == 1) {
		fuzz_touch(next->r.p, next->r.size);
		got = 0;
	}
	if (got)
		fuzz_failed(got, &e);
	order_free(o);
}

static int is_pipe_mode(const uint8_t *p, size_t n)
{
	return n >= 16 && (!memcmp(p, "PERFILE2\x10\0\0\0\0\0\0\0", 16) ||
			   !memcmp(p, "2ELIFREP\0\0\0\0\0\0\0\x10", 16));
}

static void read_memory(const uint8_t *p, size_t n, struct recording_stats *found)
{
	struct recording *rec;
	struct err e = {0};
	int rc = recording_open_mem(&rec, p, n, "fuzz", &e);
	if (rc) {
		fuzz_failed(rc, &e);
		return;
	}
	walk(rec);
	*found = rec->stats;
	if (!recording_rewind(rec, &e))
		walk_in_order(rec, n & 1);
	recording_close(rec);
}

/* Samples are taken in runs. */
static void walk_runs(struct recording *rec)
{
	enum { RUN = 1 << 12 };
	struct record r;
	struct record_run run;
	while (recording_next(rec, &r, NULL) == 1)
		if (recording_sample_run(rec, RUN, &run))
			fuzz_touch(run.p, (size_t)(run.end - run.p));
}

/* However the bytes came. */
static void expect(const struct recording *rec, const struct recording_stats *found)
{
	fuzz_must(!memcmp(rec->stats.by_type, found->by_type, sizeof(found->by_type)),
		  "a file, a pipe and memory have the same records");
}

static void read_file(const uint8_t *p, size_t n, const struct recording_stats *found)
{
	struct recording *rec;
	if (recording_open(&rec, fuzz_file("perf.data", p, n), NULL))
		return;
	walk_runs(rec);
	expect(rec, found);
	fuzz_must(rec->stats.torn_bytes == found->torn_bytes, "as much of it is torn");
	recording_close(rec);
}

static void read_pipe(const uint8_t *p, size_t n, const struct recording_stats *found)
{
	struct source src = {.fd = -1, .name = mem_strdup("fuzz")};
	struct recording *rec;
	struct err e = {0};
	int fd[2];
	if (!src.name || pipe2(fd, O_CLOEXEC | O_NONBLOCK))
		return;
	if (n > 1 << 16)
		fcntl(fd[1], F_SETPIPE_SZ, PIPE_MAX);
	if (write(fd[1], p, n) < 0)
		n = 0;
	close(fd[1]);
	src.fd = fd[0];
	int rc = recording_open_source(&rec, &src, &e);
	if (rc)
		fuzz_failed(rc, &e);
	else
		walk(rec);
	if (!rc)
		expect(rec, found);
	recording_close(rec);
	source_close(&src);
}

static void read_directory(const uint8_t *p, size_t n)
{
	static const char *const names[] = {"data", "data.0", "data.1", "data.2"};
	struct recording *rec;
	struct err e = {0};
	uint8_t *part;
	size_t part_n, i = 0;
	for (; i < PARTS_MAX && (part = fuzz_part(&p, &n, &part_n)); i++) {
		fuzz_file(names[i], part, part_n);
		mem_free(part);
	}
	for (; i < PARTS_MAX; i++) {
		char path[128];
		snprintf(path, sizeof(path), "%s/%s", fuzz_dir(), names[i]);
		unlink(path);
	}
	int rc = recording_open(&rec, fuzz_dir(), &e);
	if (rc)
		fuzz_failed(rc, &e);
	else
		walk(rec);
	if (!rc && !recording_rewind(rec, &e))
		walk_in_order(rec, n & 1);
	recording_close(rec);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	if (memmem(p, n, FUZZ_NEXT, sizeof(FUZZ_NEXT) - 1)) {
		read_directory(p, n);
		return 0;
	}
	struct recording_stats found = {0};
	read_memory(p, n, &found);
	read_file(p, n, &found);
	if (is_pipe_mode(p, n) && n <= PIPE_MAX)
		read_pipe(p, n, &found);
	return 0;
}
