/*
 * A tree of three levels, as it is written: leaves in the order of their rows, then the pages
 * above them, level by level; the root where SQLite put it when it was empty.
 *
 *	root          ┌────────── 7 ──────────┐
 *	interior    ┌─ 5 ──┐              ┌─ 6 ─┐      cells: a page and what divides it
 *	leaves      1      2              3     4      from the next; the last page is the
 *	                                               "right-most pointer" of the header
 *
 * By row id, the divider is the last id below it, so every row is on a leaf. By key, it is a row
 * of its own, which is on no leaf: the last one of a full leaf is taken up.
 */
#include "libtime/store/btree.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/os/endian.h"

enum {
	LEAF_HEADER = 8,
	INTERIOR_HEADER = 12,
	POINTER = 2,     /* of a page's array of cells */
	PAGE_NUMBER = 4, /* in front of an interior cell, or of an overflow page's content */
	VARINT = 9,      /* at most */
	INTEGER = 8,     /* at most */
	/* page types */
	INTERIOR_KEYED = 2,
	INTERIOR_ROWID = 5,
	LEAF_KEYED = 10,
	LEAF_ROWID = 13,
};

static void put_u16(uint8_t *p, size_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void put_u32(uint8_t *p, uint32_t v)
{
	put_u16(p, v >> 16);
	put_u16(p + 2, v & 0xffff);
}

/* Seven bits a byte, the highest first; of nine bytes the last has eight. */
static uint8_t *put_varint(uint8_t *p, uint64_t v)
{
	if (v < 0x80) {
		*p = (uint8_t)v;
		return p + 1;
	}
	if (v >> 56) {
		p[8] = (uint8_t)v;
		v >>= 8;
		for (int i = 7; i >= 0; i--, v >>= 7)
			p[i] = (uint8_t)(v | 0x80);
		return p + 9;
	}
	int n = (64 - __builtin_clzll(v) + 6) / 7;
	for (int i = n - 1; i >= 0; i--, v >>= 7)
		p[i] = (uint8_t)((v & 0x7f) | (i < n - 1 ? 0x80 : 0));
	return p + n;
}

/* --- records -------------------------------------------------------------------------- */

/* The fewest bytes for an integer, and the serial type that says so. INTEGER are written. */
static uint8_t *put_integer(uint8_t *p, int64_t v, uint8_t *type)
{
	static const uint8_t types[] = {1, 1, 2, 3, 4, 5, 5, 6, 6};
	static const uint8_t sizes[] = {1, 1, 2, 3, 4, 6, 6, 8, 8};
	if (v == 0 || v == 1) {
		*type = (uint8_t)(8 + v);
		return p;
	}
	uint64_t magnitude = (uint64_t)(v < 0 ? ~v : v);
	/* and a bit for the sign */
	int bytes = magnitude ? (64 - __builtin_clzll(magnitude)) / 8 + 1 : 1;
	*type = types[bytes];
	uint64_t big = htobe64((uint64_t)v << (64 - 8 * sizes[bytes]));
	memcpy(p, &big, sizeof(big));
	return p + sizes[bytes];
}

/* A record's header without its own length in front; the body is btree.body. */
struct types {
	uint8_t v[BTREE_COLUMNS * VARINT];
	size_t n;
};

static size_t header_size(const struct types *x)
{
	/* the length counts itself */
	return x->n + (x->n < 0x7f ? 1 : 2);
}

static size_t record_size(const struct btree *t, const struct types *x)
{
	return header_size(x) + t->body.n;
}

/* Append a text to the body, with room for the integers that may follow. */
static int put_text(struct btree *t, const struct cell *c)
{
	if (vec_reserve(&t->body, (size_t)c->n + BTREE_COLUMNS * INTEGER))
		return ERR_NOMEM;
	memcpy(t->body.v + t->body.n, c->s, (size_t)c->n);
	t->body.n += (size_t)c->n;
	return 0;
}

/* The record has no row id: its column is NULL. */
static int encode(struct btree *t, const struct cell *row, size_t n, struct types *x)
{
	uint8_t *type = x->v;
	size_t first = t->kind == BTREE_ROWID;
	if (first)
		*type++ = 0;
	t->body.n = 0;
	for (size_t i = first; i < n; i++) {
		const struct cell *c = &row[i];
		if (c->type == SQLITE_INTEGER) {
			uint8_t *p = t->body.v + t->body.n;
			t->body.n += (size_t)(put_integer(p, c->i, type++) - p);
		} else if (c->type == SQLITE_TEXT || c->type == SQLITE_BLOB) {
			unsigned text = c->type == SQLITE_TEXT;
			type = put_varint(type, 12 + text + 2 * (uint64_t)c->n);
			if (put_text(t, c))
				return ERR_NOMEM;
		} else {
			*type++ = 0;
		}
	}
	x->n = (size_t)(type - x->v);
	return 0;
}

static uint8_t *put_header(uint8_t *p, const struct types *x)
{
	p = put_varint(p, header_size(x));
	memcpy(p, x->v, x->n);
	return p + x->n;
}

/* --- leaves --------------------------------------------------------------------------- */

static void clear_page(struct btree *t)
{
	memset(t->page, 0, t->page_size);
	t->cells = 0;
	t->content = t->page_size;
}

int btree_init(struct btree *t, enum btree_kind kind, uint32_t root, size_t page_size,
	       struct err *e)
{
	*t = (struct btree){.kind = kind, .root = root, .page_size = page_size};
	t->last[0] = t->last[1] = INT64_MIN;
	t->page = mem_alloc(page_size);
	if (!t->page || vec_reserve(&t->body, BTREE_COLUMNS * INTEGER))
		return err_nomem(e);
	clear_page(t);
	return 0;
}

void btree_release(struct btree *t)
{
	vec_release(&t->full);
	vec_release(&t->body);
	mem_free(t->page);
	*t = (struct btree){0};
}

static void put_leaf_header(struct btree *t)
{
	t->page[0] = t->kind == BTREE_ROWID ? LEAF_ROWID : LEAF_KEYED;
	put_u16(t->page + 3, t->cells);
	put_u16(t->page + 5, t->content); /* 65536 is written as 0 */
}

/* Take the last row of a leaf up, to divide the leaf from the next. */
static void take_up(struct btree *t, struct btree_child *c)
{
	c->n = (uint8_t)(t->last_cell - t->content);
	memcpy(c->cell, t->page + t->content, c->n);
	memset(t->page + t->content, 0, c->n);
	t->content = t->last_cell;
	t->cells--;
	put_u16(t->page + LEAF_HEADER + POINTER * t->cells, 0);
}

/* The leaf is full: into the file. */
static int end_leaf(struct btree *t, struct page_file *f, struct err *e)
{
	struct btree_child c = {0};
	if (t->kind == BTREE_ROWID)
		c.n = (uint8_t)(put_varint(c.cell, (uint64_t)t->last[0]) - c.cell);
	else
		take_up(t, &c);
	put_leaf_header(t);
	int r = page_file_add(f, t->page, &c.page, e);
	clear_page(t);
	if (!r && vec_push(&t->full, c))
		r = err_nomem(e);
	return r;
}

/* Room for a cell of n bytes on the leaf, or on a new one. */
static int make_room(struct btree *t, struct page_file *f, size_t n, uint8_t **cell,
		     struct err *e)
{
	int r = 0;
	if (t->content < LEAF_HEADER + POINTER * (t->cells + 1) + n)
		r = end_leaf(t, f, e);
	t->last_cell = t->content;
	t->content -= n;
	put_u16(t->page + LEAF_HEADER + POINTER * t->cells++, t->content);
	*cell = t->page + t->content;
	return r;
}

/* How much of a record of `size` bytes is on its leaf; the rest is on overflow pages. */
static size_t local_size(const struct btree *t, size_t size)
{
	size_t usable = t->page_size, most = usable - 35;
	if (size <= most)
		return size;
	size_t least = (usable - 12) * 32 / 255 - 23;
	size_t local = least + (size - least) % (usable - PAGE_NUMBER);
	return local <= most ? local : least;
}

/* Write the end of the body, from `from` on, to overflow pages; *first is the first one's number.
 * Each begins with the next one's number, so that the last is written first. */
static int add_overflow(const struct btree *t, struct page_file *f, size_t from,
			uint32_t *first, struct err *e)
{
	size_t content = t->page_size - PAGE_NUMBER, left = t->body.n - from;
	uint8_t *page = mem_alloc(t->page_size);
	int r = page ? 0 : err_nomem(e);
	*first = 0;
	while (!r && left) {
		size_t n = left % content ? left % content : content;
		left -= n;
		memset(page, 0, t->page_size);
		put_u32(page, *first);
		memcpy(page + PAGE_NUMBER, t->body.v + from + left, n);
		r = page_file_add(f, page, first, e);
	}
	mem_free(page);
	return r;
}

static int add_rowid(struct btree *t, struct page_file *f, int64_t id, const struct types *x,
		     struct err *e)
{
	uint8_t head[2 * VARINT], *cell;
	size_t size = record_size(t, x), local = local_size(t, size), more = size - local;
	size_t nhead = (size_t)(put_varint(put_varint(head, size), (uint64_t)id) - head);
	uint32_t overflow = 0;
	CHECK(more <= t->body.n); /* a header is shorter than what is always on the leaf */
	int r = more ? add_overflow(t, f, t->body.n - more, &overflow, e) : 0;
	r = r ? r : make_room(t, f, nhead + local + (more ? PAGE_NUMBER : 0), &cell, e);
	if (r)
		return r;
	memcpy(cell, head, nhead);
	cell = put_header(cell + nhead, x);
	memcpy(cell, t->body.v, t->body.n - more);
	if (more)
		put_u32(cell + t->body.n - more, overflow);
	return 0;
}

static int add_keyed(struct btree *t, struct page_file *f, const struct types *x, struct err *e)
{
	uint8_t *cell;
	size_t size = record_size(t, x);
	CHECK(size + 1 <= BTREE_ENTRY);
	int r = make_room(t, f, size + 1, &cell, e);
	if (r)
		return r;
	*cell++ = (uint8_t)size;
	memcpy(put_header(cell, x), t->body.v, t->body.n);
	return 0;
}

int btree_ascends(const struct btree *t, const struct cell *row)
{
	if (t->kind == BTREE_ROWID || row[0].i != t->last[0])
		return row[0].i > t->last[0];
	return row[1].i > t->last[1];
}

int btree_add(struct btree *t, struct page_file *f, const struct cell *row, size_t n,
	      struct err *e)
{
	struct types x;
	CHECK(n <= BTREE_COLUMNS && btree_ascends(t, row));
	if (encode(t, row, n, &x))
		return err_nomem(e);
	int r = t->kind == BTREE_ROWID ? add_rowid(t, f, row[0].i, &x, e)
				       : add_keyed(t, f, &x, e);
	t->last[0] = row[0].i;
	t->last[1] = n > 1 ? row[1].i : 0;
	return r;
}

/* --- the pages above ------------------------------------------------------------------ */

typedef VEC(struct btree_child) children;

/* How many of the children from v[0] go on one page: all but one has a cell. None is left that
 * would be alone on the next. */
static size_t fit(const struct btree *t, const struct btree_child *v, size_t n)
{
	size_t used = INTERIOR_HEADER, k = 0;
	while (k + 1 < n && used + POINTER + PAGE_NUMBER + v[k].n <= t->page_size)
		used += POINTER + PAGE_NUMBER + v[k++].n;
	/* v[k] is the right-most */
	return k + 2 == n ? k : k + 1;
}

/* A page over v[0..n). */
static void make_interior(struct btree *t, const struct btree_child *v, size_t n)
{
	clear_page(t);
	for (size_t i = 0; i + 1 < n; i++) {
		t->content -= PAGE_NUMBER + v[i].n;
		put_u32(t->page + t->content, v[i].page);
		memcpy(t->page + t->content + PAGE_NUMBER, v[i].cell, v[i].n);
		put_u16(t->page + INTERIOR_HEADER + POINTER * i, t->content);
	}
	t->page[0] = t->kind == BTREE_ROWID ? INTERIOR_ROWID : INTERIOR_KEYED;
	put_u16(t->page + 3, n - 1);
	put_u16(t->page + 5, t->content);
	put_u32(t->page + 8, v[n - 1].page);
}

/* One level → the one above, unless that is a single page: then it is the root. */
static int add_level(struct btree *t, struct page_file *f, const children *level,
		     children *above, struct err *e)
{
	int r = 0;
	for (size_t i = 0, n; !r && i < level->n; i += n) {
		n = fit(t, level->v + i, level->n - i);
		make_interior(t, level->v + i, n);
		if (n == level->n)
			return page_file_replace(f, t->page, t->root, e);
		struct btree_child c = level->v[i + n - 1];
		r = page_file_add(f, t->page, &c.page, e);
		if (!r && vec_push(above, c))
			r = err_nomem(e);
	}
	return r;
}

/* Make all levels above the leaves. */
static int add_levels(struct btree *t, struct page_file *f, struct err *e)
{
	children level = {0}, above = {0};
	level.v = t->full.v;
	level.n = t->full.n;
	level.cap = t->full.cap;
	t->full.v = NULL;
	vec_release(&t->full);
	int r;
	do {
		r = add_level(t, f, &level, &above, e);
		vec_release(&level);
		level = above;
		above = (children){0};
	} while (!r && level.n);
	vec_release(&level);
	return r;
}

int btree_finish(struct btree *t, struct page_file *f, struct err *e)
{
	struct btree_child last = {0};
	put_leaf_header(t);
	if (!t->full.n)
		return page_file_replace(f, t->page, t->root, e);
	int r = page_file_add(f, t->page, &last.page, e);
	if (!r && vec_push(&t->full, last))
		r = err_nomem(e);
	return r ? r : add_levels(t, f, e);
}
