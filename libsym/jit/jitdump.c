#include "libsym/jit/jitdump.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/vec.h"
#include "base/radix.h"
#include "libsym/elf/read_file.h"

#include <stdlib.h>
#include <string.h>

/* Record ids and header of the specification, version 1. */
enum { CODE_LOAD = 0, CODE_MOVE = 1, DEBUG_INFO = 2, CODE_CLOSE = 3, UNWINDING_INFO = 4 };
enum { HEADER_SIZE = 40, RECORD_HEADER_SIZE = 16, VERSION = 1, FLAG_ARCH_TIMESTAMP = 1 };
static const uint32_t magic = 0x4A695444;

struct jitdump {
	const uint8_t *data;
	size_t size;
	size_t used; /* up to the end of the last whole record */
	int mapped, swap;
	uint64_t line_bias; /* see read_debug */
	struct jitdump_info info;
	VEC(struct jit_code) codes; /* by start, then time, once read */
	/* The extent of a node of the implicit search tree over codes, with all below it. */
	struct jit_extent {
		uint64_t end;         /* the highest */
		uint64_t first, last; /* the earliest and the latest load */
	} * below;
	VEC(uint64_t) changes;
};

/* While reading: what the records before a load say about it, and where each code index is. */
struct reading {
	struct jit_code pending;
	struct u64map at; /* code index → codes index */
};

/* --- records ---------------------------------------------------------------------------- */

static uint64_t end_of(const struct jit_code *c)
{
	uint64_t end;
	return __builtin_add_overflow(c->start, c->size, &end) ? UINT64_MAX : end;
}

static int add_code(struct jitdump *j, struct reading *r, const struct jit_code *c)
{
	if (j->codes.n >= UINT32_MAX - 1 || vec_push(&j->codes, *c) ||
	    u64map_put(&r->at, c->index, (uint32_t)(j->codes.n - 1)))
		return ERR_NOMEM;
	return 0;
}

static int read_load(struct jitdump *j, struct reading *r, struct bytes *b, uint64_t time)
{
	struct jit_code c = r->pending;
	r->pending = (struct jit_code){0};
	c.pid = bytes_u32(b);
	c.tid = bytes_u32(b);
	bytes_skip(b, 8); /* vma */
	c.start = c.origin = bytes_u64(b);
	c.size = bytes_u64(b);
	c.index = bytes_u64(b);
	c.loaded = time;
	c.until = UINT64_MAX;
	c.name = bytes_string(b);
	if (!bytes_ok(b) || !c.size) {
		j->info.bad++;
		return 0;
	}
	c.code = c.size <= bytes_left(b) ? b->p : NULL;
	return add_code(j, r, &c);
}

static int read_move(struct jitdump *j, struct reading *r, struct bytes *b, uint64_t time)
{
	bytes_skip(b, 24); /* pid, tid, vma, old address */
	uint64_t to = bytes_u64(b);
	bytes_skip(b, 8); /* size */
	uint64_t index = bytes_u64(b);
	uint32_t at;
	if (!bytes_ok(b) || !u64map_get(&r->at, index, &at)) {
		j->info.bad++;
		return 0;
	}
	struct jit_code c = j->codes.v[at];
	j->codes.v[at].until = time;
	c.start = to;
	c.loaded = time;
	return add_code(j, r, &c);
}

/*
 * V8 counts line addresses from an ELF header of 0x40 bytes before the code, as old perfs wrote
 * it; others count from the code. A file's smallest offset shows which.
 */
static void read_debug(struct jitdump *j, struct reading *r, struct bytes *b)
{
	uint64_t code = bytes_u64(b), n = bytes_u64(b);
	struct bytes first = *b;
	uint64_t addr = bytes_u64(&first);
	if (!bytes_ok(b)) {
		j->info.bad++;
		return;
	}
	if (n && bytes_ok(&first) && addr - code < j->line_bias)
		j->line_bias = addr - code;
	r->pending.nlines = n;
	r->pending.lines = b->p;
	r->pending.lines_size = bytes_left(b);
}

/* The specification puts the header first; writers (V8) and perf's reader put .eh_frame
 * first. */
static void read_unwinding(struct jitdump *j, struct reading *r, struct bytes *b)
{
	uint64_t size = bytes_u64(b), hdr = bytes_u64(b);
	bytes_skip(b, 8); /* mapped size */
	if (!bytes_ok(b) || size > bytes_left(b) || hdr > size) {
		j->info.bad++;
		return;
	}
	r->pending.eh_frame = b->p;
	r->pending.eh_frame_size = size - hdr;
	r->pending.eh_frame_hdr = hdr ? b->p + (size - hdr) : NULL;
	r->pending.eh_frame_hdr_size = hdr;
}

/* Read one record. 1, 0 at the end or if truncated, ERR_NOMEM. */
static int read_record(struct jitdump *j, struct reading *r, struct bytes *file)
{
	if (!bytes_left(file))
		return 0;
	struct bytes head = *file;
	uint32_t id = bytes_u32(&head), total = bytes_u32(&head);
	uint64_t time = bytes_u64(&head);
	if (!bytes_ok(&head) || total < RECORD_HEADER_SIZE || total > bytes_left(file)) {
		j->info.truncated = 1;
		return 0;
	}
	struct bytes b = bytes_init(file->p + RECORD_HEADER_SIZE, total - RECORD_HEADER_SIZE,
				    file->swap);
	bytes_skip(file, total);
	int rc = 0;
	switch (id) {
	case CODE_LOAD:
		rc = read_load(j, r, &b, time);
		break;
	case CODE_MOVE:
		rc = read_move(j, r, &b, time);
		break;
	case DEBUG_INFO:
		read_debug(j, r, &b);
		break;
	case UNWINDING_INFO:
		read_unwinding(j, r, &b);
		break;
	case CODE_CLOSE:
		return 0;
	default:
		break; /* a later version's: skipped by its size */
	}
	return rc ? rc : 1;
}

static int read_header(struct jitdump *j, const char *name, struct bytes *file, struct err *e)
{
	struct bytes b = bytes_init(j->data, j->size, 0);
	uint32_t m = bytes_u32(&b);
	if (m != magic && m != __builtin_bswap32(magic))
		return err_set(e, ERR_FORMAT, "%s: not a jitdump", name);
	b.swap = j->swap = m != magic;
	uint32_t version = bytes_u32(&b), total = bytes_u32(&b);
	j->info.elf_machine = bytes_u32(&b);
	bytes_skip(&b, 4);
	j->info.pid = bytes_u32(&b);
	bytes_skip(&b, 8); /* time of creation */
	j->info.arch_timestamp = (bytes_u64(&b) & FLAG_ARCH_TIMESTAMP) != 0;
	if (!bytes_ok(&b) || total < HEADER_SIZE || total > j->size)
		return err_set(e, ERR_FORMAT, "%s: truncated jitdump header", name);
	if (version != VERSION)
		return err_set(e, ERR_UNSUPPORTED, "%s: jitdump version %u", name, version);
	*file = bytes_init(j->data + total, j->size - total, j->swap);
	return 0;
}

/* --- the search tree -------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct jit_code *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->loaded != y->loaded)
		return x->loaded < y->loaded ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The root of [lo, hi) is its middle; depth is log2 of the number of codes. */
static struct jit_extent fill_tree(struct jitdump *j, size_t lo, size_t hi)
{
	if (lo >= hi)
		return (struct jit_extent){.first = UINT64_MAX};
	size_t mid = lo + (hi - lo) / 2;
	struct jit_extent l = fill_tree(j, lo, mid), r = fill_tree(j, mid + 1, hi);
	const struct jit_code *c = &j->codes.v[mid];
	return j->below[mid] = (struct jit_extent){
		       .end = max_u64(end_of(c), max_u64(l.end, r.end)),
		       .first = min_u64(c->loaded, min_u64(l.first, r.first)),
		       .last = max_u64(c->loaded, max_u64(l.last, r.last)),
	       };
}

/* Code is replaced where two pieces share an address, and gone where it moved from. */
static int find_changes(struct jitdump *j)
{
	uint64_t reach = 0;
	size_t n = 0;
	for (size_t i = 0; i < j->codes.n; i++) {
		const struct jit_code *c = &j->codes.v[i];
		int shared = c->start < reach || (i + 1 < j->codes.n && c[1].start < end_of(c));
		if ((shared && vec_push(&j->changes, c->loaded)) ||
		    (c->until != UINT64_MAX && vec_push(&j->changes, c->until)))
			return ERR_NOMEM;
		reach = max_u64(reach, end_of(c));
	}
	if (j->changes.n)
		qsort(j->changes.v, j->changes.n, sizeof(*j->changes.v), order_u64);
	for (size_t i = 0; i < j->changes.n; i++)
		if (!n || j->changes.v[n - 1] != j->changes.v[i])
			j->changes.v[n++] = j->changes.v[i];
	j->changes.n = n;
	return 0;
}

static int make_tree(struct jitdump *j)
{
	if (j->line_bias != 0x40)
		j->line_bias = 0;
	if (j->codes.n)
		qsort(j->codes.v, j->codes.n, sizeof(*j->codes.v), by_start);
	j->below = mem_zalloc(j->codes.n, sizeof(*j->below));
	if (!j->below)
		return ERR_NOMEM;
	fill_tree(j, 0, j->codes.n);
	j->info.codes = j->codes.n;
	return find_changes(j);
}

const struct jit_code *jitdump_codes(const struct jitdump *j, size_t *n)
{
	*n = j->codes.n;
	return j->codes.v;
}

const uint64_t *jitdump_changes(const struct jitdump *j, size_t *n)
{
	*n = j->changes.n;
	return j->changes.v;
}

struct query {
	const struct jitdump *j;
	uint64_t addr, time;
	const struct jit_code *best;
	unsigned steps; /* steps left; bounds searches that only a hostile file makes long */
};

static void search(struct query *q, size_t lo, size_t hi)
{
	if (lo >= hi || !q->steps)
		return;
	q->steps--;
	size_t mid = lo + (hi - lo) / 2;
	const struct jit_code *c = &q->j->codes.v[mid];
	const struct jit_extent *all = &q->j->below[mid];
	if (all->end <= q->addr || all->first > q->time ||
	    (q->best && all->last <= q->best->loaded))
		return;
	/* Later starts first: the newest code of an address is usually there. */
	if (c->start <= q->addr) {
		search(q, mid + 1, hi);
		if (q->addr < end_of(c) && c->loaded <= q->time && q->time < c->until &&
		    (!q->best || c->loaded > q->best->loaded))
			q->best = c;
	}
	search(q, lo, mid);
}

int jitdump_find(const struct jitdump *j, uint64_t addr, uint64_t time,
		 const struct jit_code **code)
{
	/* "At the end" must come before `until` of what never moved. */
	struct query q = {.j = j,
			  .addr = addr,
			  .time = time == UINT64_MAX ? time - 1 : time,
			  .steps = 1 << 16};
	search(&q, 0, j->codes.n);
	*code = q.best;
	return q.best != NULL;
}

/* --- lines ------------------------------------------------------------------------------ */

/* Read one entry {u64 addr, s32 line, s32 discriminator, file\0}; "\xff" means the previous
 * file and leaves *file as it is. 1, or 0 at the end. */
static int next_line(struct bytes *b, uint64_t *addr, uint32_t *line, const char **file)
{
	*addr = bytes_u64(b);
	*line = bytes_u32(b);
	bytes_skip(b, 4);
	const char *name = bytes_string(b);
	if (!bytes_ok(b))
		return 0;
	if (strcmp(name, "\xff"))
		*file = name;
	return 1;
}

/* The last entry at or before the address. V8 of node 20 sometimes writes freed memory, with
 * NULs, as file names; then later entries point outside of the code, and the whole table is
 * ignored. */
int jitdump_line(const struct jitdump *j, const struct jit_code *code, uint64_t addr,
		 const char **file, uint32_t *line)
{
	struct bytes b = bytes_init(code->lines, code->lines_size, j->swap);
	uint64_t at, best = 0, want = addr - code->start;
	const char *name = NULL, *best_file = NULL;
	uint32_t n, best_line = 0;
	for (uint64_t i = 0; i < code->nlines; i++) {
		if (!next_line(&b, &at, &n, &name))
			return 0;
		at -= code->origin + j->line_bias;
		if (at > code->size)
			return 0;
		if (name && at <= want && (!best_file || at >= best)) {
			best = at;
			best_file = name;
			best_line = n;
		}
	}
	if (!best_file)
		return 0;
	*file = best_file;
	*line = best_line;
	return 1;
}

/* ---------------------------------------------------------------------------------------- */

static int read_all(struct jitdump *j, const char *name, struct err *e)
{
	struct reading r = {0};
	struct bytes file;
	j->line_bias = UINT64_MAX;
	int rc = read_header(j, name, &file, e);
	if (rc)
		return rc;
	do {
		j->used = j->size - bytes_left(&file);
		rc = read_record(j, &r, &file);
	} while (rc > 0);
	if (!rc && !j->info.truncated)
		j->used = j->size - bytes_left(&file);
	u64map_release(&r.at);
	if (!rc)
		rc = make_tree(j);
	return rc ? err_nomem(e) : 0;
}

static int finish(struct jitdump *j, const char *name, struct jitdump **out, struct err *e)
{
	int rc = read_all(j, name, e);
	if (rc)
		jitdump_close(j);
	else
		*out = j;
	return rc;
}

const uint8_t *jitdump_bytes(const struct jitdump *j, size_t *n)
{
	*n = j->used;
	return j->data;
}

int jitdump_open_fd(int fd, const char *path, struct jitdump **out, struct err *e)
{
	*out = NULL;
	struct jitdump *j = mem_zalloc(1, sizeof(*j));
	if (!j)
		return err_nomem(e);
	int rc = map_fd(fd, path, &j->data, &j->size, e);
	if (rc) {
		mem_free(j);
		return rc;
	}
	j->mapped = 1;
	return finish(j, path, out, e);
}

int jitdump_open_mem(const void *data, size_t size, const char *name, struct jitdump **out,
		     struct err *e)
{
	*out = NULL;
	struct jitdump *j = mem_zalloc(1, sizeof(*j));
	if (!j)
		return err_nomem(e);
	j->data = data;
	j->size = size;
	return finish(j, name, out, e);
}

void jitdump_close(struct jitdump *j)
{
	if (!j)
		return;
	if (j->mapped)
		unmap_file(j->data, j->size);
	vec_release(&j->codes);
	vec_release(&j->changes);
	mem_free(j->below);
	mem_free(j);
}

struct jitdump_info jitdump_info(const struct jitdump *j)
{
	return j->info;
}
