#include "tests/fuzz/fuzz.h"

#include "base/mem.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fuzz_touch(const void *p, size_t n)
{
	const uint8_t *b = p;
	uint8_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum ^= b[i];
	__asm__ volatile("" : : "r"(sum)); /* so that the loop stays */
}

void fuzz_text(const char *s)
{
	if (s)
		fuzz_touch(s, strlen(s));
}

void fuzz_must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz: does not hold: %s\n", what);
	abort();
}

int fuzz_ceiling;

void fuzz_failed(int rc, const struct err *e)
{
	fuzz_must(!fuzz_ceiling || rc != ERR_NOMEM, "what a file claims is not allocated");
	fuzz_must(rc < 0, "a failure has a negative code");
	fuzz_must(e->msg[0] != 0, "a failure says why");
}

uint8_t *fuzz_part(const uint8_t **p, size_t *n, size_t *part_n)
{
	size_t mark = sizeof(FUZZ_NEXT) - 1;
	if (!*p)
		return NULL;
	const uint8_t *end = memmem(*p, *n, FUZZ_NEXT, mark);
	*part_n = end ? (size_t)(end - *p) : *n;
	uint8_t *copy = mem_alloc(*part_n);
	if (!copy)
		abort();
	memcpy(copy, *p, *part_n);
	*n -= *part_n + (end ? mark : 0);
	*p = end ? end + mark : NULL;
	return copy;
}

/* --- files ------------------------------------------------------------------------------- */

static char dir[64];

static int drop(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static void remove_dir(void)
{
	nftw(dir, drop, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_dir(void)
{
	if (*dir)
		return dir;
	strcpy(dir, "/dev/shm/perfkit-fuzz.XXXXXX");
	if (!mkdtemp(dir)) {
		strcpy(dir, "/tmp/perfkit-fuzz.XXXXXX");
		if (!mkdtemp(dir))
			abort();
	}
	atexit(remove_dir);
	return dir;
}

const char *fuzz_file(const char *name, const void *p, size_t n)
{
	static char path[256];
	snprintf(path, sizeof(path), "%s/%s", fuzz_dir(), name);
	FILE *f = fopen(path, "we");
	if (!f || (n && fwrite(p, n, 1, f) != 1) || fclose(f))
		abort();
	return path;
}

/* --- records ----------------------------------------------------------------------------- */

static void touch_words(struct sample_words w)
{
	if (w.n)
		fuzz_touch(w.p, 8 * w.n);
}

static void touch_sample(const struct sample *s)
{
	touch_words(s->callchain);
	touch_words(s->branches);
	touch_words(s->branch_counters);
	touch_words(s->regs_user);
	touch_words(s->regs_intr);
	touch_words(s->read_values);
	fuzz_touch(s->raw, s->raw_size);
	fuzz_touch(s->stack, s->stack_size);
	fuzz_touch(s->aux, s->aux_size);
	fuzz_must(s->stack_dyn <= s->stack_size || !s->stack, "no more stack than was stored");
}

static void take_side_band(const struct record *r, int swap)
{
	struct err e = {0};
	union {
		struct record_mmap mmap;
		struct record_comm comm;
		struct record_task task;
		struct record_switch sw;
		struct record_ksymbol ksymbol;
		struct record_cgroup cgroup;
		struct record_lost lost;
		struct record_build_id build_id;
	} u;
	if (!record_mmap_decode(r, swap, &u.mmap, &e)) {
		fuzz_text(u.mmap.filename);
		fuzz_must(u.mmap.build_id_size <= 20, "a build-id fits");
	}
	if (!record_comm_decode(r, swap, &u.comm, &e))
		fuzz_text(u.comm.comm);
	record_task_decode(r, swap, &u.task, &e);
	record_switch_decode(r, swap, &u.sw, &e);
	if (!record_ksymbol_decode(r, swap, &u.ksymbol, &e))
		fuzz_text(u.ksymbol.name);
	if (!record_cgroup_decode(r, swap, &u.cgroup, &e))
		fuzz_text(u.cgroup.path);
	record_lost_decode(r, swap, &u.lost, &e);
	if (!record_build_id_decode(r, swap, &u.build_id, &e)) {
		fuzz_text(u.build_id.filename);
		fuzz_must(u.build_id.size <= 20, "a build-id fits");
	}
}

void fuzz_record(const struct record *r, const struct event *ev, int swap)
{
	struct record_id id;
	struct sample s;
	struct err e = {0};
	fuzz_touch(r->p, r->size);
	if (r->extra)
		fuzz_touch(r->extra, r->extra_size);
	if (ev)
		record_id_decode(r, ev, swap, &id);
	if (r->type != PERF_RECORD_SAMPLE) {
		take_side_band(r, swap);
	} else if (ev) {
		int rc = sample_decode(r, ev, swap, &s, &e);
		if (rc)
			fuzz_failed(rc, &e);
		else
			touch_sample(&s);
	}
}
