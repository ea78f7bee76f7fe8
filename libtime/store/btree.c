/*
 * A tree of three levels, as it is written: leaves in the order of their rows, then the pages
 * above them, level by level; the root where SQLite has put it when it was empty.
 *
 *	root          ┌────────── 7 ──────────┐
 *	interior    ┌─ 5 ──┐              ┌─ 6 ─┐      cells: a page and what divides it
 *	leaves      1      2              3     4      from the next; the last page is the
 *	                                               "right-most pointer" of the header
 *
 * In a table the divider is the last id below it, so every row is on a leaf. In an index it is
 * an entry of its own, which is on no leaf: the last one of a full leaf is taken up.
 */
#include "libtime/store/btree.h"
#include "base/mem.h"

#include <endian.h>

enum {
	LEAF_HEADER = 8,
	INTERIOR_HEADER = 12,
	POINTER = 2,     /* of a page's array of cells */
	PAGE_NUMBER = 4, /* in front of an interior cell */
	VARINT = 9,      /* at most */
	/* page types: interior and leaf, of index and table */
	INTERIOR_INDEX = 2,
	INTERIOR_TABLE = 5,
	LEAF_INDEX = 10,
	LEAF_TABLE = 13,
};

/* --- records -------------------------------------------------------------------------------
 */

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

/* The fewest bytes for an integer, and the serial type that says so. Eight are written. */
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

/* A record apart: its header, without the header's own length in front, and its body. */
struct record_parts {
	uint8_t types[BTREE_COLUMNS * VARINT];
	size_t ntypes;
	uint8_t *body; /* of `room` bytes */
	size_t nbody, room;
};

static int encode(struct record_parts *x, const struct cell *row, size_t n)
{
	uint8_t *type = x->types, *p = x->body;
	const uint8_t *end = x->body + x->room;
	if (n > BTREE_COLUMNS)
		return ERR_LIMIT;
	for (size_t i = 0; i < n; i++) {
		const struct cell *c = &row[i];
		if ((size_t)(end - p) < sizeof(uint64_t))
			return ERR_LIMIT;
		if (c->type == SQLITE_INTEGER) {
			p = put_integer(p, c->i, type++);
		} else if (c->type == SQLITE_TEXT) {
			if ((size_t)c->n > (size_t)(end - p))
				return ERR_LIMIT;
			type = put_varint(type, 13 + 2 * (uint64_t)c->n);
			memcpy(p, c->s, (size_t)c->n);
			p += c->n;
		} else {
			*type++ = 0;
		}
	}
	x->ntypes = (size_t)(type - x->types);
	x->nbody = (size_t)(p - x->body);
	return 0;
}

/* What the header says of its own length counts itself. */
static size_t header_size(const struct record_parts *x)
{
	return x->ntypes + (x->ntypes < 0x7f ? 1 : 2);
}

static uint8_t *put_record(uint8_t *p, const struct record_parts *x)
{
	p = put_varint(p, header_size(x));
	memcpy(p, x->types, x->ntypes);
	memcpy(p + x->ntypes, x->body, x->nbody);
	return p + x->ntypes + x->nbody;
}

/* --- leaves --------------------------------------------------------------------------------
 */

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
	t->page = mem_alloc(2 * page_size);
	if (!t->page)
		return err_nomem(e);
	clear_page(t);
	return 0;
}

void btree_release(struct btree *t)
{
	vec_release(&t->full);
	mem_free(t->page);
	*t = (struct btree){0};
}

static void put_leaf_header(struct btree *t)
{
	t->page[0] = t->kind == BTREE_TABLE ? LEAF_TABLE : LEAF_INDEX;
	put_u16(t->page + 3, t->cells);
	put_u16(t->page + 5, t->content); /* 65536 is written as 0 */
}

/* The leaf is full: into the file. What divides it from the next is its last id, or its last
 * entry, which it loses. */
static int end_leaf(struct btree *t, struct pagefile *f, struct err *e)
{
	struct btree_child c = {0};
	if (t->kind == BTREE_TABLE) {
		c.n = (uint8_t)(put_varint(c.cell, (uint64_t)t->last_id) - c.cell);
	} else {
		c.n = (uint8_t)(t->last_cell - t->content);
		memcpy(c.cell, t->page + t->content, c.n);
		memset(t->page + t->content, 0, c.n);
		t->content = t->last_cell;
		t->cells--;
		put_u16(t->page + LEAF_HEADER + POINTER * t->cells, 0);
	}
	put_leaf_header(t);
	int r = pagefile_add(f, t->page, &c.page, e);
	clear_page(t);
	if (!r && vec_push(&t->full, c))
		r = err_nomem(e);
	return r;
}

/* Room for a cell of n bytes on the leaf, or on a new one. */
static int make_room(struct btree *t, struct pagefile *f, size_t n, uint8_t **cell,
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

static int too_long(const struct pagefile *f, struct err *e)
{
	return err_set(
		e, ERR_LIMIT,
		"%s: cannot write the store: a row with its texts is too long for a page",
		pagefile_name(f));
}

int btree_add(struct btree *t, struct pagefile *f, int64_t id, const struct cell *row, size_t n,
	      struct err *e)
{
	struct record_parts x;
	uint8_t head[2 * VARINT], *cell;
	x.body = t->page + t->page_size;
	x.room = t->page_size;
	if (encode(&x, row, n))
		return too_long(f, e);
	size_t size = header_size(&x) + x.nbody;
	if (size > t->page_size - 35) /* its end would have to lie on pages of its own */
		return too_long(f, e);
	size_t nhead = (size_t)(put_varint(put_varint(head, size), (uint64_t)id) - head);
	int r = make_room(t, f, nhead + size, &cell, e);
	if (r)
		return r;
	memcpy(cell, head, nhead);
	put_record(cell + nhead, &x);
	t->last_id = id;
	return 0;
}

int btree_add_entry(struct btree *t, struct pagefile *f, const struct cell *row, size_t n,
		    struct err *e)
{
	struct record_parts x;
	uint8_t body[BTREE_ENTRY + sizeof(uint64_t)], *cell;
	x.body = body;
	x.room = sizeof(body);
	if (encode(&x, row, n))
		return too_long(f, e);
	size_t size = header_size(&x) + x.nbody;
	if (size + 1 > BTREE_ENTRY)
		return too_long(f, e);
	int r = make_room(t, f, size + 1, &cell, e);
	if (r)
		return r;
	*cell = (uint8_t)size;
	put_record(cell + 1, &x);
	return 0;
}

/* --- the pages above -----------------------------------------------------------------------
 */

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
	t->page[0] = t->kind == BTREE_TABLE ? INTERIOR_TABLE : INTERIOR_INDEX;
	put_u16(t->page + 3, n - 1);
	put_u16(t->page + 5, t->content);
	put_u32(t->page + 8, v[n - 1].page);
}

/* One level → the one above, unless that is a single page: then it is the root. */
static int add_level(struct btree *t, struct pagefile *f, children *level, children *above,
		     struct err *e)
{
	int r = 0;
	for (size_t i = 0, n; !r && i < level->n; i += n) {
		n = fit(t, level->v + i, level->n - i);
		make_interior(t, level->v + i, n);
		if (n == level->n)
			return pagefile_replace(f, t->page, t->root, e);
		struct btree_child c = level->v[i + n - 1];
		r = pagefile_add(f, t->page, &c.page, e);
		if (!r && vec_push(above, c))
			r = err_nomem(e);
	}
	return r;
}

int btree_finish(struct btree *t, struct pagefile *f, struct err *e)
{
	children level = {0}, above = {0};
	struct btree_child last = {0};
	put_leaf_header(t);
	if (!t->full.n)
		return pagefile_replace(f, t->page, t->root, e);
	int r = pagefile_add(f, t->page, &last.page, e);
	if (!r && vec_push(&t->full, last))
		r = err_nomem(e);
	if (r)
		return r;
	level.v = t->full.v;
	level.n = t->full.n;
	level.cap = t->full.cap;
	t->full.v = NULL;
	vec_release(&t->full);
	do {
		r = add_level(t, f, &level, &above, e);
		vec_release(&level);
		level = above;
		above = (children){0};
	} while (!r && level.n);
	vec_release(&level);
	return r;
}
