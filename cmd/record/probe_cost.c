#include "cmd/record/probe_cost.h"
#include "base/mem.h"
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

enum { EVERY = 64, CODE = 4096 }; /* bytes from one to the next; of the file */

/* Each is for the functions whose first bytes, masked, are `bytes`. The last one is for the
 * rest, of which nothing is known. */
static const struct empty {
	uint8_t code[10], bytes[4], mask[4];
} empties[EMPTY_FUNCTIONS] = {
	/* push %rbp, pop %rbp, ret */
	{{0x55, 0x5d, 0xc3}, {0x50}, {0xf8}},
	/* endbr64, ret */
	{{0xf3, 0x0f, 0x1e, 0xfa, 0xc3}, {0xf3, 0x0f, 0x1e, 0xfa}, {0xff, 0xff, 0xff, 0xff}},
	/* sub $8,%rsp, add $8,%rsp, ret: opcode 83 or 81 */
	{{0x48, 0x83, 0xec, 8, 0x48, 0x83, 0xc4, 8, 0xc3},
	 {0x48, 0x81, 0xec},
	 {0xff, 0xfd, 0xff}},
	/* mov %edi,%eax, ret: 89 or 8b */
	{{0x89, 0xf8, 0xc3}, {0x89}, {0xfd}},
	/* nop, ret */
	{{0x90, 0xc3}, {0}, {0xff}},
};
enum { ANY = EMPTY_FUNCTIONS - 1 };

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
	for (size_t i = 0; i < EMPTY_FUNCTIONS; i++)
		memcpy(code + i * EVERY, empties[i].code, sizeof(empties[i].code));
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
	for (size_t i = 0; i < EMPTY_FUNCTIONS; i++)
		for (int k = 0; k < CALLS_OF_EACH; k++) {
			f.at = p + i * EVERY;
			f.call();
		}
	return 0;
}

/* --- measuring them ------------------------------------------------------------------- */

/* The functions as one region with many places: probes of one name, in a group of two. */
static int place_empties(struct calls *c)
{
	struct call_region region = {.text = mem_strdup("empty"), .name = mem_strdup("empty")};
	if (vec_push(&c->regions, region))
		return ERR_NOMEM;
	for (uint8_t end = 0; end < 2; end++)
		for (size_t i = 0; i < EMPTY_FUNCTIONS; i++) {
			struct call_place x = {
				.offset = i * EVERY, .end = end, .is_return = end};
			if (vec_push(&c->places, x))
				return ERR_NOMEM;
		}
	return region.text && region.name ? 0 : ERR_NOMEM;
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
		if (!strcmp(ev->name, "perfkit:empty"))
			began = s.time;
		else if (!strcmp(ev->name, "perfkit:empty__return") && s.time >= began)
			ns[n++] = s.time - began;
	}
	recording_close(rec);
	return n;
}

static int run_empties(struct probe_costs *out, const struct calls *c,
		       const struct calls_wish *w, struct err *e)
{
	uint64_t ns[EMPTY_FUNCTIONS * CALLS_OF_EACH + 1];
	struct words line = {0};
	size_t n = 0;
	int r = calls_line(&line, c, w, e);
	if (!r && !run_words(&line, 1))
		n = read_lengths(w->output, ns, sizeof(ns) / sizeof(*ns));
	words_release(&line);
	unlink(w->output);
	if (n != EMPTY_FUNCTIONS * CALLS_OF_EACH)
		return err_set(e, ERR_UNSUPPORTED, "perf recorded %zu of %d calls", n,
			       EMPTY_FUNCTIONS * CALLS_OF_EACH);
	for (size_t i = 0; i < EMPTY_FUNCTIONS; i++) {
		uint64_t *of = ns + i * CALLS_OF_EACH;
		qsort(of, CALLS_OF_EACH, sizeof(*of), ascending);
		out->ns[i] = of[CALLS_OF_EACH / 2];
	}
	return 0;
}

int probe_costs_measure(struct probe_costs *out, const struct calls_wish *w, struct err *e)
{
	char self[PATH_MAX], folder[PATH_MAX], code[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct buf file = {0};
	struct calls c = {0};
	self[n > 0 ? n : 0] = '\0';
	buf_fmt(&file, "%s.empty", w->output);
	if (!getcwd(folder, sizeof(folder)))
		return err_sys(e, "getcwd");
	/* the kernel's definitions need the whole path */
	snprintf(code, sizeof(code), "%s/perfkit-empty.%ld", folder, (long)getpid());
	struct calls_wish own = *w;
	own.command = (const char *const[]){self, "record", EMPTY_CALLS, code};
	own.ncommand = 4;
	own.pid = own.tid = NULL;
	own.duration = own.inherit = 0;
	own.output = buf_cstr(&file);
	int r = place_empties(&c) || buf_failed(&file) ? err_nomem(e) : write_code(code, e);
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

/* --- of the functions that are recorded ----------------------------------------------- */

static uint64_t cheapest(const struct probe_costs *costs)
{
	uint64_t ns = costs->ns[0];
	for (size_t i = 1; i < EMPTY_FUNCTIONS; i++)
		ns = costs->ns[i] < ns ? costs->ns[i] : ns;
	return ns;
}

static uint64_t cost_at(const struct probe_costs *costs, int fd, uint64_t offset)
{
	uint8_t code[5] = {0};
	ssize_t n = pread(fd, code, sizeof(code), (off_t)offset);
	size_t i = 0;
	/* behind a prefix of the operands' width or number */
	int prefix = (code[0] == 0x48 && code[1] >= 0x88) || code[0] == 0x41;
	while (n == sizeof(code) && i < ANY && !begins_as(code, &empties[i]) &&
	       !(prefix && begins_as(code + 1, &empties[i])))
		i++;
	return n == sizeof(code) && i < ANY ? costs->ns[i] : cheapest(costs);
}

void probe_costs_facts(struct buf *out, const struct probe_costs *costs,
		       const struct calls *calls, const char *binary)
{
	int fd = open(binary, O_RDONLY | O_CLOEXEC);
	for (uint32_t region = 0; region < calls->regions.n; region++) {
		uint64_t ns = UINT64_MAX;
		for (size_t i = 0; i < calls->places.n; i++) {
			const struct call_place *x = &calls->places.v[i];
			if (x->region != region || !x->is_return)
				continue;
			uint64_t one = cost_at(costs, fd, x->offset);
			ns = one < ns ? one : ns;
		}
		if (ns != UINT64_MAX)
			buf_fmt(out, "fact probe\t%s\treturn_ns\t%llu\n",
				calls->regions.v[region].name, (unsigned long long)ns);
	}
	if (fd >= 0)
		close(fd);
}
