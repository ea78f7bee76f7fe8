#include "libtime/store/store_decode.h"
#include "libtime/store/store.h"

#include <string.h>

/* --- fields -------------------------------------------------------------------------- */

static void set_u64(void *row, uint32_t at, uint64_t v)
{
	memcpy((char *)row + at, &v, sizeof(v));
}

static void set_u32(void *row, uint32_t at, uint32_t v)
{
	memcpy((char *)row + at, &v, sizeof(v));
}

static void set_u16(void *row, uint32_t at, uint16_t v)
{
	memcpy((char *)row + at, &v, sizeof(v));
}

static void set_u8(void *row, uint32_t at, uint8_t v)
{
	((uint8_t *)row)[at] = v;
}

static uint64_t get_u64(const void *row, uint32_t at)
{
	uint64_t v;
	memcpy(&v, (const char *)row + at, sizeof(v));
	return v;
}

/* Several columns add their bits to one field. */
static void add_bits(void *row, const struct column *c, int on)
{
	uint32_t v = 0;
	size_t n = c->kind == COLUMN_BIT8 ? 1 : sizeof(v);
	memcpy(&v, (char *)row + c->at, n);
	v = on ? v | c->arg : v & ~c->arg;
	memcpy((char *)row + c->at, &v, n);
}

/* --- values -------------------------------------------------------------------------- */

/* A whole number from 0 to max; other values are damage. */
static uint64_t number(struct load *l, int col, int64_t max)
{
	int64_t v = sqlite3_column_int64(l->st, col);
	if (v >= 0 && v <= max)
		return (uint64_t)v;
	l->bad = 1;
	return 0;
}

static int is_null(const struct load *l, int col)
{
	return sqlite3_column_type(l->st, col) == SQLITE_NULL;
}

/* NULL reads as 0, so only 0 needs a check. */
static uint64_t number_or(struct load *l, int col, int64_t max, uint64_t none)
{
	uint64_t v = number(l, col, max);
	return !v && is_null(l, col) ? none : v;
}

static int32_t i32(struct load *l, int col)
{
	int64_t v = sqlite3_column_int64(l->st, col);
	l->bad |= v < INT32_MIN || v > INT32_MAX;
	return l->bad ? 0 : (int32_t)v;
}

static void decode_number(struct load *l, int col, const struct column *c, void *row)
{
	switch (c->kind) {
	case COLUMN_U64:
	case COLUMN_U64_OR_0:
		set_u64(row, c->at, number(l, col, INT64_MAX));
		break;
	case COLUMN_TIME_OR_MAX:
		set_u64(row, c->at, number_or(l, col, INT64_MAX, UINT64_MAX));
		break;
	case COLUMN_BITS:
		set_u64(row, c->at, (uint64_t)sqlite3_column_int64(l->st, col));
		break;
	case COLUMN_LENGTH: { /* two numbers below 2^63 do not overflow */
		uint64_t end = get_u64(row, c->arg) + number(l, col, INT64_MAX);
		l->bad |= end > INT64_MAX;
		set_u64(row, c->at, end);
		break;
	}
	case COLUMN_I32:
		set_u32(row, c->at, (uint32_t)i32(l, col));
		break;
	case COLUMN_I32_OR_NEGATIVE:
		set_u32(row, c->at, (uint32_t)number_or(l, col, INT32_MAX, UINT32_MAX));
		break;
	case COLUMN_I16_OR_NEGATIVE:
		set_u16(row, c->at, (uint16_t)number_or(l, col, INT16_MAX, UINT16_MAX));
		break;
	case COLUMN_U32:
	case COLUMN_U32_OR_0:
		set_u32(row, c->at, (uint32_t)number(l, col, UINT32_MAX));
		break;
	case COLUMN_U8:
		set_u8(row, c->at, sqlite3_column_int64(l->st, col) != 0);
		break;
	case COLUMN_CPU:
		set_u16(row, c->at, (uint16_t)number_or(l, col, TL_NOCPU - 1, TL_NOCPU));
		break;
	default: /* COLUMN_BIT8, COLUMN_BIT32 */
		add_bits(row, c, sqlite3_column_int64(l->st, col) != 0);
	}
}

/* NULL gives "". So does more text than the file can have, which rows_next reports as damage.
 * Borrowed until the next row. */
static const char *text(struct load *l, int col)
{
	const unsigned char *s = sqlite3_column_text(l->st, col);
	size_t n = (size_t)sqlite3_column_bytes(l->st, col);
	return s && !store_text_over_budget(l->s, n) ? (const char *)s : "";
}

/* The number of a word; 0 if it is not one. */
static uint8_t word_of(const struct column *c, const char *s)
{
	for (unsigned int i = 0; i < c->words; i++)
		if (!strcmp(s, c->word(i)))
			return (uint8_t)i;
	return 0;
}

/* A copy in l->bytes. */
static int decode_bytes(struct load *l, int col, struct store_bytes *to)
{
	const void *v = sqlite3_column_blob(l->st, col);
	size_t n = (size_t)sqlite3_column_bytes(l->st, col);
	*to = (struct store_bytes){0};
	if (!v || !n || !l->bytes || store_text_over_budget(l->s, n))
		return 0;
	char *copy = arena_bytes(l->bytes, n);
	if (!copy)
		return ERR_NOMEM;
	*to = (struct store_bytes){memcpy(copy, v, n), n};
	return 0;
}

static int decode_text(struct load *l, int col, const struct column *c, void *row)
{
	const char *s = c->kind == COLUMN_BLOB ? "" : text(l, col);
	uint32_t id = 0;
	uint16_t index = 0;
	uint8_t state = 0;
	int r = 0;
	switch (c->kind) {
	case COLUMN_TEXT:
	case COLUMN_TEXT_OR_EMPTY:
		r = strtab_intern(&l->stacks->strings, s, &id);
		set_u32(row, c->at, id);
		break;
	case COLUMN_LINE:
		r = strtab_intern_line(&l->stacks->strings, s, strlen(s), &id);
		set_u32(row, c->at, id);
		break;
	case COLUMN_BLOB:
		r = decode_bytes(l, col, (struct store_bytes *)((char *)row + c->at));
		break;
	case COLUMN_WORD:
		set_u8(row, c->at, word_of(c, s));
		break;
	case COLUMN_STATE:
		r = timeline_state(l->tl, s, &state);
		set_u8(row, c->at, state);
		break;
	case COLUMN_SYSCALL:
		r = *s ? timeline_syscall(l->tl, s, &index) : 0;
		set_u16(row, c->at, index);
		break;
	case COLUMN_VARIABLE: /* comes after COLUMN_ARG of the same field */
		memcpy(&index, (const char *)row + c->at, sizeof(index));
		r = strtab_intern(&l->stacks->strings, s, &id);
		if (!r && id && index < l->tl->args.n)
			r = timeline_arg(l->tl, l->tl->args.v[index].value, id, &index);
		set_u16(row, c->at, index);
		break;
	default: /* COLUMN_ARG */
		if (!is_null(l, col))
			r = timeline_arg(l->tl, (uint64_t)sqlite3_column_int64(l->st, col), 0,
					 &index);
		set_u16(row, c->at, index);
	}
	return r;
}

/* --- references ---------------------------------------------------------------------- */

/* The map for a reference's row ids; *none is the value of NULL. */
static const struct row_map *map_of(const struct load *l, enum column_kind kind, uint32_t *none)
{
	*none = 0;
	switch (kind) {
	case COLUMN_COMM:
		return &l->s->comm;
	case COLUMN_DSO:
		return &l->s->dso;
	case COLUMN_FILE:
		return &l->s->file;
	case COLUMN_SYMBOL:
		return &l->s->symbol;
	case COLUMN_FRAME:
		return &l->s->frame;
	case COLUMN_PATH:
		return &l->s->path_of;
	case COLUMN_FOLDED:
		return &l->folded;
	case COLUMN_SITE:
		return &l->site;
	default:
		break;
	}
	*none = TL_NONE;
	switch (kind) {
	case COLUMN_EVENT:
		return &l->event;
	case COLUMN_SPAN:
	case COLUMN_SPAN_KEY:
		return &l->span;
	case COLUMN_KIND:
		return &l->kind;
	case COLUMN_TASK:
		return &l->task;
	case COLUMN_SUM:
		return &l->sum;
	case COLUMN_FINDING:
		return &l->finding;
	default:
		return &l->thread;
	}
}

/* References that must not be NULL. */
static int is_needed(enum column_kind kind)
{
	return kind == COLUMN_EVENT || kind == COLUMN_THREAD_KEY || kind == COLUMN_SPAN_KEY ||
	       kind >= COLUMN_KIND;
}

static int decode_reference(struct load *l, int col, const struct column *c, void *row)
{
	uint32_t none, v;
	const struct row_map *map = map_of(l, c->kind, &none);
	int64_t id = sqlite3_column_int64(l->st, col);
	int null = !id && is_null(l, col);
	int known = !null && row_map_get(map, id, &v);
	if (!null && !known && c->kind == COLUMN_FRAME && l->frames)
		known = store_read_frame(l, id, &v);
	if (known < 0)
		return known;
	if (!known) {
		l->bad |= !null || is_needed(c->kind);
		v = is_needed(c->kind) ? 0 : none;
	}
	if (c->kind == COLUMN_EVENT)
		set_u16(row, c->at, (uint16_t)v);
	else
		set_u32(row, c->at, v);
	return 0;
}

int decode_row(struct load *l, void *row)
{
	const struct table *t = l->table;
	int r = 0;
	for (int i = 0; !r && i < (int)t->n; i++) {
		const struct column *c = &t->columns[i];
		if (c->kind < COLUMN_U64)
			continue; /* the key is l->id */
		if (c->kind < COLUMN_TEXT)
			decode_number(l, i, c, row);
		else if (c->kind < COLUMN_COMM)
			r = decode_text(l, i, c, row);
		else
			r = decode_reference(l, i, c, row);
	}
	return r;
}
