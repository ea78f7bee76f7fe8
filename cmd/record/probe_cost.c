#include "cmd/record/probe_cost.h"
#include "base/mem.h"
#include "cmd/input/scratch.h"
#include "cmd/record/record_calls.h"
#include "cmd/record/record_run.h"
#include "libparse/recording.h"
#include "libparse/sample.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { CALLS_OF_EACH = 100 };

/* --- functions that do nothing -------------------------------------------------------- */

/* Bytes from one to the next; of the file; copies of all, for the two kinds of probes. */
enum { EVERY = 64, CODE = 4096, COPIES = 2 };

/* Each is for the regions whose first bytes, masked, are `bytes`. The last one is for the rest,
 * of which nothing is known. */
static const struct empty {
	uint8_t first, code[10], bytes[4], mask[4]; /* first: length of the first instruction */
} empties[EMPTY_FUNCTIONS] = {
	/* push %rbp, pop %rbp, ret */
	{1, {0x55, 0x5d, 0xc3}, {0x50}, {0xf8}},
	/* endbr64, ret */
	{4, {0xf3, 0x0f, 0x1e, 0xfa, 0xc3}, {0xf3, 0x0f, 0x1e, 0xfa}, {0xff, 0xff, 0xff, 0xff}},
	/* sub $8,%rsp, add $8,%rsp, ret: opcode 83 or 81 */
	{4,
	 {0x48, 0x83, 0xec, 8, 0x48, 0x83, 0xc4, 8, 0xc3},
	 {0x48, 0x81, 0xec},
	 {0xff, 0xfd, 0xff}},
	/* mov %edi,%eax, ret: 89 or 8b */
	{2, {0x89, 0xf8, 0xc3}, {0x89}, {0xfd}},
	/* nop, ret */
	{1, {0x90, 0xc3}, {0}, {0xff}},
};
enum { MOVE = EMPTY_FUNCTIONS - 2, ANY = EMPTY_FUNCTIONS - 1 };

/* Opcodes of other instructions that the kernel steps over like mov (branch_setup_xol_ops() in
 * arch/x86/kernel/uprobes.c emulates jumps, calls and nop): arithmetic with registers, memory
 * and numbers, test, lea, mov of a number. */
static int is_stepped(const uint8_t *code)
{
	static const uint8_t opcodes[] = {0x01, 0x03, 0x29, 0x2b, 0x31, 0x33, 0x39, 0x3b, 0x81,
					  0x83, 0x84, 0x85, 0x89, 0x8b, 0x8d, 0xc6, 0xc7};
	uint8_t op = (code[0] & 0xf0) == 0x40 ? code[1] : code[0]; /* behind a REX prefix */
	return memchr(opcodes, op, sizeof(opcodes)) || (op & 0xf0) == 0xb0;
}

static int begins_as(const uint8_t *code, const struct empty *f)
{
	for (size_t i = 0; i < sizeof(f->bytes); i++)
		if ((code[i] & f->mask[i]) != f->bytes[i])
			return 0;
	return 1;
}

static void make_code(uint8_t code[CODE])
{
	memset(code, 0xcc, CODE);
	for (size_t i = 0; i < COPIES * EMPTY_FUNCTIONS; i++)
		memcpy(code + i * EVERY, empties[i % EMPTY_FUNCTIONS].code,
		       sizeof(empties->code));
}

/* x86-64 code, so nothing is measured elsewhere. */
static int write_code(const char *path, struct err *e)
{
	uint8_t code[CODE];
	struct utsname u;
	if (uname(&u) || strcmp(u.machine, "x86_64"))
		return err_set(e, ERR_UNSUPPORTED, "not measured on this architecture");
	make_code(code);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	int failed = fd < 0 || write(fd, code, CODE) != CODE;
	if (fd >= 0)
		close(fd);
	return failed ? err_sys(e, "%s", path) : 0;
}

/* A probe is set on a file that is mapped: on its code, and on no other. */
int empty_calls(const char *path)
{
	uint8_t want[CODE], have[CODE];
	union {
		uint8_t *at;
		void (*call)(void);
	} f;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *p = fd < 0 ? MAP_FAILED
			    : mmap(NULL, CODE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	make_code(want);
	/* the mapping has the probes in it */
	if (p == MAP_FAILED || pread(fd, have, CODE, 0) != CODE ||
	    memcmp(have, want, CODE) != 0)
		return 1;
	for (size_t i = 0; i < COPIES * EMPTY_FUNCTIONS; i++)
		for (int k = 0; k < CALLS_OF_EACH; k++) {
			f.at = p + i * EVERY;
			f.call();
		}
	return 0;
}

/* --- measuring them ------------------------------------------------------------------- */

/* One copy of the functions as a region with many places: probes of one name, in a group of
 * two. From the entry to the return, or to the second instruction. */
static int place_copy(struct calls *c, uint8_t lines)
{
	const char *name = lines ? "empty_lines" : "empty";
	struct call_region region = {
		.text = mem_strdup(name), .name = mem_strdup(name), .is_lines = lines};
	if (vec_push(&c->regions, region) || !region.text || !region.name)
		return ERR_NOMEM;
	for (uint8_t end = 0; end < 2; end++)
		for (size_t i = 0; i < EMPTY_FUNCTIONS; i++) {
			struct call_place x = {.region = lines,
					       .offset = (lines * EMPTY_FUNCTIONS + i) * EVERY +
							 (lines && end ? empties[i].first : 0),
					       .end = end,
					       .is_return = end && !lines};
			if (vec_push(&c->places, x))
				return ERR_NOMEM;
		}
	return 0;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* The lengths of all calls, in their order. Returns how many there are. */
static size_t read_lengths(const char *path, uint64_t *ns, size_t most)
{
	struct recording *rec;
	struct record r;
	struct sample s;
	uint64_t began = 0;
	size_t n = 0;
	if (recording_open(&rec, path, NULL))
		return 0;
	while (n < most && recording_next(rec, &r, NULL) == 1) {
		const struct event *ev =
			r.type == PERF_RECORD_SAMPLE ? recording_event(rec, &r) : NULL;
		if (!ev || sample_decode(&r, ev, rec->swap, &s, NULL))
			continue;
		if (!strcmp(ev->name, "perfkit:empty") ||
		    !strcmp(ev->name, "perfkit:empty_lines_begin"))
			began = s.time;
		else if (s.time >= began) /* perfkit:empty__return, perfkit:empty_lines_end */
			ns[n++] = s.time - began;
	}
	recording_close(rec);
	return n;
}

static uint64_t median(uint64_t *of)
{
	qsort(of, CALLS_OF_EACH, sizeof(*of), ascending);
	return of[CALLS_OF_EACH / 2];
}

static int run_empties(struct probe_costs *out, const struct calls *c,
		       const struct calls_wish *w, struct err *e)
{
	enum { CALLS = COPIES * EMPTY_FUNCTIONS * CALLS_OF_EACH };
	uint64_t ns[CALLS + 1];
	struct words line = {0};
	size_t n = 0;
	int r = calls_line(&line, c, w, e);
	if (!r && !run_words(&line, 1))
		n = read_lengths(w->output, ns, CALLS + 1);
	words_release(&line);
	unlink(w->output);
	if (n != CALLS)
		return err_set(e, ERR_UNSUPPORTED, "perf recorded %zu of %d calls", n, CALLS);
	for (size_t i = 0; i < COPIES * EMPTY_FUNCTIONS; i++)
		out->ns[i / EMPTY_FUNCTIONS][i % EMPTY_FUNCTIONS] =
			median(ns + i * CALLS_OF_EACH);
	return 0;
}

int probe_costs_measure(struct probe_costs *out, const struct calls_wish *w, struct err *e)
{
	char self[PATH_MAX], folder[PATH_MAX], code[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *private;
	struct buf file = {0};
	struct calls c = {0};
	self[n > 0 ? n : 0] = '\0';
	if (!getcwd(folder, sizeof(folder)))
		return err_sys(e, "getcwd");
	int r = scratch_dir(&private, e); /* perf would follow a link at its output's name */
	if (r)
		return r;
	buf_fmt(&file, "%s/empty.data", private);
	/* the kernel's definitions need the whole path */
	snprintf(code, sizeof(code), "%s/perfkit-empty.%ld", folder, (long)getpid());
	struct calls_wish own = *w;
	own.command = (const char *const[]){self, "record", EMPTY_CALLS, code};
	own.ncommand = 4;
	own.pid = own.tid = NULL;
	own.duration = own.inherit = 0;
	own.output = buf_cstr(&file);
	r = place_copy(&c, 0) || place_copy(&c, 1) || buf_failed(&file) ? err_nomem(e)
									: write_code(code, e);
	r = r ? r : record_calls_define(&c, code, 0, e);
	if (!r) {
		r = run_empties(out, &c, &own, e);
		record_calls_define(&c, code, 1, NULL);
	}
	unlink(code);
	calls_release(&c);
	buf_release(&file);
	return r;
}

/* --- of the regions that are recorded ------------------------------------------------- */

static uint64_t cheapest(const uint64_t ns[EMPTY_FUNCTIONS])
{
	uint64_t least = ns[0];
	for (size_t i = 1; i < EMPTY_FUNCTIONS; i++)
		least = ns[i] < least ? ns[i] : least;
	return least;
}

static uint64_t cost_at(const uint64_t ns[EMPTY_FUNCTIONS], int fd, uint64_t offset)
{
	uint8_t code[5] = {0};
	ssize_t n = pread(fd, code, sizeof(code), (off_t)offset);
	size_t i = 0;
	/* behind a prefix of the operands' width or number */
	int prefix = (code[0] == 0x48 && code[1] >= 0x88) || code[0] == 0x41;
	while (n == sizeof(code) && i < ANY && !begins_as(code, &empties[i]) &&
	       !(prefix && begins_as(code + 1, &empties[i])))
		i++;
	if (n == sizeof(code) && i == ANY && is_stepped(code))
		i = MOVE;
	return n == sizeof(code) && i < ANY ? ns[i] : cheapest(ns);
}

/* Of a region that begins in several places, the cheapest. */
static uint64_t cost_of(const uint64_t ns[EMPTY_FUNCTIONS], const struct calls *calls,
			uint32_t region, int fd)
{
	uint64_t least = UINT64_MAX;
	for (size_t i = 0; i < calls->places.n; i++) {
		const struct call_place *x = &calls->places.v[i];
		if (x->region != region || x->end)
			continue;
		uint64_t one = cost_at(ns, fd, x->offset);
		least = one < least ? one : least;
	}
	return least;
}

void probe_costs_facts(struct buf *out, const struct probe_costs *costs,
		       const struct calls *calls, const char *binary)
{
	int fd = open(binary, O_RDONLY | O_CLOEXEC);
	for (uint32_t region = 0; region < calls->regions.n; region++) {
		const struct call_region *x = &calls->regions.v[region];
		uint64_t ns = cost_of(costs->ns[x->is_lines], calls, region, fd);
		if (ns != UINT64_MAX)
			buf_fmt(out, "fact probe\t%s\t%s\t%llu\n", x->name,
				x->is_lines ? "lines_ns" : "return_ns", (unsigned long long)ns);
	}
	if (fd >= 0)
		close(fd);
}
