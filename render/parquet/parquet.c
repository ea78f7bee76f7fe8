#include "render/parquet/parquet.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/os/endian.h"
#include "base/vec.h"
#include "render/parquet/parquet_bits.h"
#include "render/parquet/thrift.h"
#include "render/text/escape.h"

#include <string.h>
#include <zstd.h>

/* parquet.thrift: the numbers of its enums, */
enum { TYPE_BOOLEAN = 0, TYPE_INT32 = 1, TYPE_INT64 = 2, TYPE_BYTE_ARRAY = 6 };
enum { REQUIRED = 0, OPTIONAL = 1, REPEATED = 2 };
enum { CONVERTED_UTF8 = 0, CONVERTED_LIST = 3 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DELTA = 5, ENCODING_DICTIONARY = 8 };
enum { CODEC_ZSTD = 6 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
/* of its unions, */
enum { LOGICAL_STRING = 1, LOGICAL_LIST = 3, LOGICAL_TIMESTAMP = 8, UNIT_NANOS = 3 };
enum { ORDER_OF_TYPE = 1 };
/* and of the fields of its structs. */
enum { ELEMENT_TYPE = 1, ELEMENT_REPETITION = 3, ELEMENT_NAME, ELEMENT_CHILDREN };
enum { ELEMENT_CONVERTED = 6, ELEMENT_LOGICAL = 10 };
enum { PAGE_TYPE = 1, PAGE_BYTES, PAGE_STORED, PAGE_OF_DATA = 5, PAGE_OF_DICTIONARY = 7 };
enum { DATA_VALUES = 1, DATA_ENCODING, DATA_DEFINED, DATA_REPEATED };
enum { STATS_MISSING = 3, STATS_MAX = 5, STATS_MIN };
enum { CHUNK_OFFSET = 2, CHUNK_META };
enum { META_TYPE = 1, META_ENCODINGS, META_PATH, META_CODEC, META_VALUES, META_BYTES };
enum { META_STORED = 7, META_DATA_AT = 9, META_DICTIONARY_AT = 11, META_STATS };
enum { GROUP_COLUMNS = 1, GROUP_BYTES, GROUP_ROWS, GROUP_SORTED };
enum { SORTED_COLUMN = 1, SORTED_DOWN, SORTED_MISSING_FIRST };
enum { FILE_VERSION = 1, FILE_SCHEMA, FILE_ROWS, FILE_GROUPS, FILE_BY = 6, FILE_ORDERS };

static const char magic[] = {'P', 'A', 'R', '1'};

enum {
	ZSTD_LEVEL = 1,
	MOST_BYTES = INT32_MAX - 64, /* of a page: its length is an i32 */
	STATS_TEXT = 64,             /* texts longer than this are no use as bounds */
	/* A dictionary of numbers is dropped if it grows like the rows. */
	DICTIONARY_LEAST = 4096,
	DICTIONARY_SHARE = 8,
	NEAR = 256, /* power of 2 */
};

struct text {
	const char *s;
	size_t n;
};

typedef VEC(int64_t) numbers_vec;

/* A column chunk that is being made. */
struct chunk {
	numbers_vec defined, repeated; /* levels; one for each value, missing ones and empty
					  lists included */
	numbers_vec values;            /* texts: indexes of the dictionary */
	numbers_vec indexes;           /* of numbers, while a dictionary is made */
	uint64_t missing;
	int64_t min, max;
	/* dictionary */
	VEC(struct text) texts;
	numbers_vec numbers;
	struct idmap text_of;
	struct u64map number_of;
	struct arena escaped;
	struct near {
		const char *s;
		uint32_t n, id;
	} near[NEAR]; /* cache, since the same pointers recur */
};

/* The position of a chunk, for the group's metadata. */
struct placed {
	uint64_t dictionary_at, data_at, values, bytes, stored;
	int encoding;
};

struct parquet {
	FILE *f;
	const struct parquet_column *columns;
	size_t n;
	uint64_t at, rows, ngroups;
	ZSTD_CCtx *zstd;
	struct chunk c;
	struct buf page, header; /* of a page: plain, and what stands in front of it */
	VEC(char) packed;        /* the page compressed */
	struct buf groups;       /* metadata of all so far */
};

/* --- the file --- */

static void put(struct parquet *p, const void *bytes, size_t n)
{
	fwrite(bytes, 1, n, p->f);
	p->at += n;
}

/* Write p->page as a page of this type. */
static int put_page(struct parquet *p, const struct parquet_column *col, int type,
		    size_t values, struct placed *to, struct err *e)
{
	struct thrift t = {.b = &p->header};
	size_t most = ZSTD_compressBound(p->page.n);
	if (buf_failed(&p->page) == ERR_LIMIT)
		return err_set(e, ERR_LIMIT, "column %s has more than 2 GB in one group",
			       col->name);
	if (buf_failed(&p->page) || vec_reserve(&p->packed, most))
		return err_nomem(e);
	size_t n =
		ZSTD_compressCCtx(p->zstd, p->packed.v, most, p->page.v, p->page.n, ZSTD_LEVEL);
	if (ZSTD_isError(n))
		return err_nomem(e);
	buf_clear(&p->header);
	thrift_i32(&t, PAGE_TYPE, type);
	thrift_i32(&t, PAGE_BYTES, (int32_t)p->page.n);
	thrift_i32(&t, PAGE_STORED, (int32_t)n);
	thrift_begin(&t, type == PAGE_DATA ? PAGE_OF_DATA : PAGE_OF_DICTIONARY);
	thrift_i32(&t, DATA_VALUES, (int32_t)values);
	thrift_i32(&t, DATA_ENCODING, type == PAGE_DATA ? to->encoding : ENCODING_PLAIN);
	if (type == PAGE_DATA) {
		thrift_i32(&t, DATA_DEFINED, ENCODING_RLE);
		thrift_i32(&t, DATA_REPEATED, ENCODING_RLE);
	}
	thrift_end(&t);
	thrift_end(&t);
	if (buf_failed(&p->header))
		return err_nomem(e);
	put(p, p->header.v, p->header.n);
	put(p, p->packed.v, n);
	to->bytes += p->header.n + p->page.n;
	to->stored += p->header.n + n;
	return 0;
}

/* --- values of a column --- */

/* The dictionary's index of a text. */
static int text_id(struct chunk *c, const char *s, uint32_t n, uint32_t *id)
{
	struct near *near = &c->near[hash_u64((uintptr_t)s) & (NEAR - 1)];
	if (near->s == s && near->n == n) {
		*id = near->id;
		return 0;
	}
	uint64_t h = hash_bytes(s, n, 0);
	size_t at = 0;
	int found = 0;
	while (!found && idmap_next(&c->text_of, h, &at, id))
		found = c->texts.v[*id].n == n && !memcmp(c->texts.v[*id].s, s, n);
	if (!found) {
		*id = (uint32_t)c->texts.n;
		if (vec_push(&c->texts, ((struct text){s, n})) ||
		    idmap_put(&c->text_of, h, *id))
			return ERR_NOMEM;
	}
	*near = (struct near){s, n, *id};
	return 0;
}

static int add_value(struct chunk *c, const struct parquet_column *col,
		     const struct parquet_value *v, int64_t repeated)
{
	uint32_t id;
	if ((col->optional || col->list) && vec_push(&c->defined, !v->missing))
		return ERR_NOMEM;
	if (col->list && vec_push(&c->repeated, repeated))
		return ERR_NOMEM;
	c->missing += v->missing;
	if (v->missing)
		return 0;
	if (col->type == PARQUET_TEXT)
		return text_id(c, v->s, v->n, &id) ? ERR_NOMEM
						   : vec_push(&c->values, (int64_t)id);
	c->min = v->i < c->min ? v->i : c->min;
	c->max = v->i > c->max ? v->i : c->max;
	return vec_push(&c->values, v->i);
}

static int add_list(struct chunk *c, const struct parquet_column *col,
		    const struct parquet_value *list)
{
	static const struct parquet_value none = {.missing = 1};
	int r = list->n ? 0 : add_value(c, col, &none, 0);
	for (uint32_t i = 0; !r && i < list->n; i++)
		r = add_value(c, col, &list->list[i], i > 0);
	return r;
}

static void chunk_clear(struct chunk *c)
{
	c->defined.n = c->repeated.n = c->values.n = c->texts.n = c->numbers.n = 0;
	c->missing = 0;
	c->min = INT64_MAX;
	c->max = INT64_MIN;
	idmap_release(&c->text_of);
	u64map_release(&c->number_of);
	arena_release(&c->escaped);
	memset(c->near, 0, sizeof(c->near));
}

static int collect(struct parquet *p, size_t column, size_t rows, parquet_value_of *value_of,
		   void *ctx, struct err *e)
{
	const struct parquet_column *col = &p->columns[column];
	struct parquet_value v;
	chunk_clear(&p->c);
	for (size_t i = 0; i < rows; i++) {
		int r = value_of(ctx, column, i, &v, e);
		if (r)
			return r;
		if (col->list ? add_list(&p->c, col, &v) : add_value(&p->c, col, &v, 0))
			return err_nomem(e);
	}
	return 0;
}

/* --- encodings --- */

static size_t number_size(const struct parquet_column *col)
{
	return col->type == PARQUET_I32 ? 4 : col->type == PARQUET_BOOL ? 1 : 8;
}

/* Replace numbers that repeat by indexes of a dictionary. 1, 0 when that would not pay, or
 * ERR_NOMEM. */
static int find_numbers(struct chunk *c)
{
	uint32_t id = 0;
	c->indexes.n = 0;
	if (vec_reserve(&c->indexes, c->values.n))
		return ERR_NOMEM;
	for (size_t i = 0; i < c->values.n; i++) {
		int64_t v = c->values.v[i];
		if (!(i && v == c->values.v[i - 1]) &&
		    !u64map_get(&c->number_of, (uint64_t)v, &id)) {
			id = (uint32_t)c->numbers.n;
			if (id > DICTIONARY_LEAST + i / DICTIONARY_SHARE)
				return 0;
			if (vec_push(&c->numbers, v) ||
			    u64map_put(&c->number_of, (uint64_t)v, id))
				return ERR_NOMEM;
		}
		c->indexes.v[c->indexes.n++] = id;
	}
	if (c->numbers.n * 2 >= c->values.n)
		return 0;
	const numbers_vec values = c->values;
	c->values = c->indexes;
	c->indexes = values;
	return 1;
}

/* The texts as they will stand in the file: themselves, or their visible form. */
static int make_utf8(struct chunk *c)
{
	struct buf b = {0};
	int r = 0;
	for (size_t i = 0; !r && i < c->texts.n; i++) {
		struct text *t = &c->texts.v[i];
		if (escape_is_utf8(t->s, t->n))
			continue;
		buf_clear(&b);
		escape_invalid(&b, t->s, t->n);
		t->n = b.n;
		t->s = arena_strndup(&c->escaped, buf_cstr(&b), b.n);
		r = buf_failed(&b) || !t->s ? ERR_NOMEM : 0;
	}
	buf_release(&b);
	return r;
}

static int choose(struct chunk *c, const struct parquet_column *col)
{
	if (col->type == PARQUET_BOOL)
		return ENCODING_PLAIN;
	if (col->type == PARQUET_TEXT)
		return make_utf8(c) ? ERR_NOMEM : ENCODING_DICTIONARY;
	int r = find_numbers(c);
	return r < 0 ? r : r ? ENCODING_DICTIONARY : ENCODING_DELTA;
}

/* Of texts or of numbers: the other has none. */
static void fill_dictionary(struct buf *b, const struct chunk *c,
			    const struct parquet_column *col)
{
	for (size_t i = 0; i < c->numbers.n; i++) {
		uint64_t v = htole64((uint64_t)c->numbers.v[i]);
		buf_add(b, &v, number_size(col));
	}
	for (size_t i = 0; i < c->texts.n; i++) {
		uint32_t n = htole32((uint32_t)c->texts.v[i].n);
		buf_add(b, &n, sizeof(n));
		buf_add(b, c->texts.v[i].s, c->texts.v[i].n);
	}
}

/* Levels: their length, then runs. */
static void fill_levels(struct buf *b, const int64_t *v, size_t n)
{
	size_t at = b->n;
	uint32_t bytes = 0;
	buf_add(b, &bytes, sizeof(bytes));
	bits_runs(b, v, n, 1);
	bytes = htole32((uint32_t)(b->n - at - sizeof(bytes)));
	if (!buf_failed(b))
		memcpy(b->v + at, &bytes, sizeof(bytes));
}

static void fill_values(struct buf *b, const struct chunk *c, const struct parquet_column *col,
			int encoding)
{
	const int64_t *v = c->values.v;
	size_t n = c->values.n;
	if (encoding == ENCODING_PLAIN) {
		bits_pack(b, v, n, 1);
	} else if (encoding == ENCODING_DELTA) {
		bits_delta(b, v, n, col->type == PARQUET_I32);
	} else {
		size_t size = c->texts.n + c->numbers.n;
		unsigned width = bits_of(size > 2 ? size - 1 : 1);
		buf_char(b, (char)width);
		bits_runs(b, v, n, width);
	}
}

/* --- metadata --- */

static int physical(const struct parquet_column *col)
{
	static const int types[] = {[PARQUET_BOOL] = TYPE_BOOLEAN,
				    [PARQUET_I32] = TYPE_INT32,
				    [PARQUET_I64] = TYPE_INT64,
				    [PARQUET_TIME] = TYPE_INT64,
				    [PARQUET_TEXT] = TYPE_BYTE_ARRAY};
	return types[col->type];
}

static int text_before(const struct text *a, const struct text *b)
{
	int d = memcmp(a->s, b->s, a->n < b->n ? a->n : b->n);
	return d ? d < 0 : a->n < b->n;
}

static void describe_texts(struct thrift *t, const struct chunk *c)
{
	const struct text *min = c->texts.v, *max = min;
	for (size_t i = 1; i < c->texts.n; i++) {
		min = text_before(&c->texts.v[i], min) ? &c->texts.v[i] : min;
		max = text_before(max, &c->texts.v[i]) ? &c->texts.v[i] : max;
	}
	if (!c->texts.n || min->n > STATS_TEXT || max->n > STATS_TEXT)
		return;
	thrift_binary(t, STATS_MAX, max->s, max->n);
	thrift_binary(t, STATS_MIN, min->s, min->n);
}

static void describe_values(struct thrift *t, const struct chunk *c,
			    const struct parquet_column *col)
{
	const uint64_t min = htole64((uint64_t)c->min), max = htole64((uint64_t)c->max);
	thrift_begin(t, META_STATS);
	thrift_i64(t, STATS_MISSING, (int64_t)c->missing);
	if (col->type == PARQUET_TEXT) {
		describe_texts(t, c);
	} else if (c->values.n) {
		thrift_binary(t, STATS_MAX, &max, number_size(col));
		thrift_binary(t, STATS_MIN, &min, number_size(col));
	}
	thrift_end(t);
}

static void describe_path(struct thrift *t, const struct parquet_column *col)
{
	const char *const names[] = {col->name, "list", "element"};
	size_t n = col->list ? 3 : 1;
	thrift_list(t, META_PATH, THRIFT_BINARY, n);
	for (size_t i = 0; i < n; i++)
		thrift_text(t->b, names[i], strlen(names[i]));
}

static void describe_chunk(struct thrift *t, const struct chunk *c,
			   const struct parquet_column *col, const struct placed *at)
{
	thrift_element(t);
	thrift_i64(t, CHUNK_OFFSET, 0);
	thrift_begin(t, CHUNK_META);
	thrift_i32(t, META_TYPE, physical(col));
	thrift_list(t, META_ENCODINGS, THRIFT_I32, 3);
	thrift_varint(t->b, thrift_zigzag(ENCODING_PLAIN));
	thrift_varint(t->b, thrift_zigzag(ENCODING_RLE));
	thrift_varint(t->b, thrift_zigzag(at->encoding));
	describe_path(t, col);
	thrift_i32(t, META_CODEC, CODEC_ZSTD);
	thrift_i64(t, META_VALUES, (int64_t)at->values);
	thrift_i64(t, META_BYTES, (int64_t)at->bytes);
	thrift_i64(t, META_STORED, (int64_t)at->stored);
	thrift_i64(t, META_DATA_AT, (int64_t)at->data_at);
	if (at->encoding == ENCODING_DICTIONARY)
		thrift_i64(t, META_DICTIONARY_AT, (int64_t)at->dictionary_at);
	describe_values(t, c, col);
	thrift_end(t);
	thrift_end(t);
}

/* --- groups --- */

static int put_chunk(struct parquet *p, const struct parquet_column *col, size_t rows,
		     struct placed *to, struct err *e)
{
	struct chunk *c = &p->c;
	int r = 0;
	*to = (struct placed){.values = col->list ? c->repeated.n : rows,
			      .encoding = choose(c, col)};
	if (to->encoding < 0)
		return err_nomem(e);
	if (to->encoding == ENCODING_DICTIONARY) {
		to->dictionary_at = p->at;
		buf_clear(&p->page);
		fill_dictionary(&p->page, c, col);
		r = put_page(p, col, PAGE_DICTIONARY, c->texts.n + c->numbers.n, to, e);
	}
	to->data_at = p->at;
	buf_clear(&p->page);
	if (col->list)
		fill_levels(&p->page, c->repeated.v, c->repeated.n);
	if (col->list || col->optional)
		fill_levels(&p->page, c->defined.v, c->defined.n);
	fill_values(&p->page, c, col, to->encoding);
	return r ? r : put_page(p, col, PAGE_DATA, to->values, to, e);
}

static void describe_order(struct thrift *t, const struct parquet *p)
{
	for (size_t i = 0; i < p->n; i++) {
		if (!p->columns[i].sorted)
			continue;
		thrift_list(t, GROUP_SORTED, THRIFT_STRUCT, 1); /* of one column at most */
		thrift_element(t);
		thrift_i32(t, SORTED_COLUMN, (int32_t)i);
		thrift_bool(t, SORTED_DOWN, 0);
		thrift_bool(t, SORTED_MISSING_FIRST, 1);
		thrift_end(t);
	}
}

int parquet_group(struct parquet *p, size_t rows, parquet_value_of *value_of, void *ctx,
		  struct err *e)
{
	struct thrift t = {.b = &p->groups, .depth = 1};
	uint64_t bytes = 0;
	int r = 0;
	if (!rows)
		return 0;
	thrift_list(&t, GROUP_COLUMNS, THRIFT_STRUCT, p->n);
	for (size_t i = 0; !r && i < p->n; i++) {
		struct placed at;
		r = collect(p, i, rows, value_of, ctx, e);
		r = r ? r : put_chunk(p, &p->columns[i], rows, &at, e);
		if (r)
			return r;
		bytes += at.bytes;
		describe_chunk(&t, &p->c, &p->columns[i], &at);
	}
	thrift_i64(&t, GROUP_BYTES, (int64_t)bytes);
	thrift_i64(&t, GROUP_ROWS, (int64_t)rows);
	describe_order(&t, p);
	thrift_end(&t);
	p->rows += rows;
	p->ngroups++;
	return buf_failed(&p->groups) ? err_nomem(e) : 0;
}

/* --- the footer --- */

static void describe_type(struct thrift *t, const struct parquet_column *col)
{
	if (col->type == PARQUET_TEXT)
		thrift_i32(t, ELEMENT_CONVERTED, CONVERTED_UTF8);
	if (col->type != PARQUET_TEXT && col->type != PARQUET_TIME)
		return;
	thrift_begin(t, ELEMENT_LOGICAL);
	thrift_begin(t, col->type == PARQUET_TEXT ? LOGICAL_STRING : LOGICAL_TIMESTAMP);
	if (col->type == PARQUET_TIME) {
		thrift_bool(t, 1, 1); /* adjusted to UTC */
		thrift_begin(t, 2);
		thrift_begin(t, UNIT_NANOS);
		thrift_end(t);
		thrift_end(t);
	}
	thrift_end(t);
	thrift_end(t);
}

static void describe_group(struct thrift *t, int repetition, const char *name, int list)
{
	thrift_element(t);
	if (repetition >= 0)
		thrift_i32(t, ELEMENT_REPETITION, repetition);
	thrift_binary(t, ELEMENT_NAME, name, strlen(name));
	thrift_i32(t, ELEMENT_CHILDREN, 1);
	if (list) {
		thrift_i32(t, ELEMENT_CONVERTED, CONVERTED_LIST);
		thrift_begin(t, ELEMENT_LOGICAL);
		thrift_begin(t, LOGICAL_LIST);
		thrift_end(t);
		thrift_end(t);
	}
	thrift_end(t);
}

static void describe_column(struct thrift *t, const struct parquet_column *col)
{
	const char *name = col->list ? "element" : col->name;
	if (col->list) {
		describe_group(t, REQUIRED, col->name, 1);
		describe_group(t, REPEATED, "list", 0);
	}
	thrift_element(t);
	thrift_i32(t, ELEMENT_TYPE, physical(col));
	thrift_i32(t, ELEMENT_REPETITION, col->optional ? OPTIONAL : REQUIRED);
	thrift_binary(t, ELEMENT_NAME, name, strlen(name));
	describe_type(t, col);
	thrift_end(t);
}

static void describe_schema(struct thrift *t, const struct parquet *p)
{
	size_t n = p->n + 1;
	for (size_t i = 0; i < p->n; i++)
		n += p->columns[i].list ? 2 : 0;
	thrift_list(t, FILE_SCHEMA, THRIFT_STRUCT, n);
	thrift_element(t);
	thrift_binary(t, ELEMENT_NAME, "table", 5);
	thrift_i32(t, ELEMENT_CHILDREN, (int32_t)p->n);
	thrift_end(t);
	for (size_t i = 0; i < p->n; i++)
		describe_column(t, &p->columns[i]);
}

static int put_footer(struct parquet *p, struct err *e)
{
	static const char by[] = "perfkit version " PERFKIT_VERSION;
	struct buf *b = &p->page;
	struct thrift t = {.b = b};
	buf_clear(b);
	thrift_i32(&t, FILE_VERSION, 2);
	describe_schema(&t, p);
	thrift_i64(&t, FILE_ROWS, (int64_t)p->rows);
	thrift_list(&t, FILE_GROUPS, THRIFT_STRUCT, p->ngroups);
	buf_add(b, p->groups.v, p->groups.n);
	thrift_binary(&t, FILE_BY, by, sizeof(by) - 1);
	thrift_list(&t, FILE_ORDERS, THRIFT_STRUCT, p->n);
	for (size_t i = 0; i < p->n; i++) {
		thrift_element(&t);
		thrift_begin(&t, ORDER_OF_TYPE);
		thrift_end(&t);
		thrift_end(&t);
	}
	thrift_end(&t);
	if (buf_failed(b))
		return err_nomem(e);
	uint32_t n = htole32((uint32_t)b->n);
	put(p, b->v, b->n);
	put(p, &n, sizeof(n));
	put(p, magic, sizeof(magic));
	return ferror(p->f) ? err_set(e, ERR_IO, "cannot write a Parquet file") : 0;
}

static void parquet_free(struct parquet *p)
{
	chunk_clear(&p->c);
	vec_release(&p->c.defined);
	vec_release(&p->c.repeated);
	vec_release(&p->c.values);
	vec_release(&p->c.indexes);
	vec_release(&p->c.texts);
	vec_release(&p->c.numbers);
	ZSTD_freeCCtx(p->zstd);
	buf_release(&p->page);
	vec_release(&p->packed);
	buf_release(&p->header);
	buf_release(&p->groups);
	mem_free(p);
}

int parquet_open(struct parquet **out, FILE *f, const struct parquet_column *columns, size_t n,
		 struct err *e)
{
	struct parquet *p = mem_zalloc(1, sizeof(*p));
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	*out = NULL;
	if (!p || !zstd) {
		ZSTD_freeCCtx(zstd);
		mem_free(p);
		return err_nomem(e);
	}
	p->zstd = zstd;
	p->f = f;
	p->columns = columns;
	p->n = n;
	p->page.max = MOST_BYTES;
	put(p, magic, sizeof(magic));
	*out = p;
	return 0;
}

int parquet_close(struct parquet *p, int rc, struct err *e)
{
	if (!p)
		return rc;
	rc = rc ? rc : put_footer(p, e);
	parquet_free(p);
	return rc;
}
