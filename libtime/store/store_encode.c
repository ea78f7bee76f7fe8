#include "libtime/store/store_encode.h"
#include "libtime/store/store.h"

#include <string.h>

static uint64_t field_u64(const void *row, uint32_t at)
{
	uint64_t v;
	memcpy(&v, (const char *)row + at, sizeof(v));
	return v;
}

static uint32_t field_u32(const void *row, uint32_t at)
{
	uint32_t v;
	memcpy(&v, (const char *)row + at, sizeof(v));
	return v;
}

static uint16_t field_u16(const void *row, uint32_t at)
{
	uint16_t v;
	memcpy(&v, (const char *)row + at, sizeof(v));
	return v;
}

static uint8_t field_u8(const void *row, uint32_t at)
{
	return ((const uint8_t *)row)[at];
}

static const char *string(const struct writing *l, uint32_t id)
{
	return strtab_get(&l->tl->stacks->strings, id);
}

/* --- rows that are written at first use ------------------------------------------------ */

/* The row id of a name, in a table that has each name once. */
static int put_name(struct writing *l, enum store_table table, uint32_t *ids, uint32_t name,
		    uint32_t *id)
{
	struct store_name row = {.name = name};
	if ((*id = ids[name]) != 0)
		return 0;
	if (table == TABLE_DSOS)
		u64map_get(&l->tl->stacks->build_ids, name, &row.build_id);
	*id = ids[name] = (uint32_t)l->rows[table] + 1;
	return writing_row(l, table, &row);
}

static int put_symbol(struct writing *l, uint32_t name, uint32_t dso, uint32_t *id)
{
	struct store_name row = {.name = name, .dso = dso};
	uint64_t key = (uint64_t)name << 32 | dso;
	if (u64map_get(&l->symbol_id, key, id))
		return 0;
	*id = (uint32_t)l->rows[TABLE_SYMBOLS] + 1;
	if (u64map_put(&l->symbol_id, key, *id))
		return err_nomem(l->e);
	return writing_row(l, TABLE_SYMBOLS, &row);
}

static void put_text(const char *s, int or_null, struct cell *to)
{
	if (*s || !or_null)
		cell_text(to, s);
}

static int put_reference(struct writing *l, const struct column *c, uint32_t v, const void *row,
			 struct cell *to)
{
	uint32_t id = 0;
	int r = c->kind == COLUMN_COMM   ? put_name(l, TABLE_COMMS, l->comm_id, v, &id)
		: !v                     ? 0
		: c->kind == COLUMN_DSO  ? put_name(l, TABLE_DSOS, l->dso_id, v, &id)
		: c->kind == COLUMN_FILE ? put_name(l, TABLE_FILES, l->file_id, v, &id)
					 : put_symbol(l, v, field_u32(row, c->arg), &id);
	if (id)
		cell_int(to, id);
	return r;
}

/* --- indexes of the model ------------------------------------------------------------ */

static void put_index(const struct writing *l, enum store_table table, uint64_t index,
		      struct cell *to)
{
	cell_int(to, l->first[table] + (int64_t)index);
}

/* The table an index belongs to; *from is 1 if its indexes begin at 0, since rows count from 1.
 */
static enum store_table table_of(enum column_kind kind, unsigned *from)
{
	*from = kind != COLUMN_FRAME && kind != COLUMN_PATH && kind != COLUMN_FOLDED &&
		kind != COLUMN_SITE;
	switch (kind) {
	case COLUMN_EVENT:
		return TABLE_EVENTS;
	case COLUMN_FRAME:
		return TABLE_FRAMES;
	case COLUMN_PATH:
		return TABLE_CALL_PATHS;
	case COLUMN_FOLDED:
		return TABLE_FOLDED_PATHS;
	case COLUMN_SITE:
		return TABLE_SITES;
	case COLUMN_SPAN:
	case COLUMN_SPAN_KEY:
		return TABLE_SPANS;
	case COLUMN_KIND:
		return TABLE_KINDS;
	case COLUMN_TASK:
		return TABLE_TASKS;
	case COLUMN_SUM:
		return TABLE_SUMS;
	case COLUMN_FINDING:
		return TABLE_FINDINGS;
	default:
		return TABLE_THREADS;
	}
}

static void put_model(const struct writing *l, const struct column *c, const void *row,
		      struct cell *to)
{
	unsigned from;
	enum store_table table = table_of(c->kind, &from);
	uint32_t v = c->kind == COLUMN_EVENT ? field_u16(row, c->at) : field_u32(row, c->at);
	if (from ? v != TL_NONE : v != 0)
		put_index(l, table, (uint64_t)v + from, to);
}

/* --- values -------------------------------------------------------------------------- */

static void put_if(int is, int64_t v, struct cell *to)
{
	if (is)
		cell_int(to, v);
}

/* SQLite's numbers are signed; a damaged record may have larger ones. */
static void put_u64(uint64_t v, struct cell *to)
{
	cell_int(to, v < INT64_MAX ? (int64_t)v : INT64_MAX);
}

static void put_number(const struct column *c, const void *row, struct cell *to)
{
	uint64_t v = 0;
	switch (c->kind) {
	case COLUMN_U64:
		put_u64(field_u64(row, c->at), to);
		break;
	case COLUMN_U64_OR_0:
	case COLUMN_TIME_OR_MAX:
		v = field_u64(row, c->at);
		put_if(v <= INT64_MAX && (v || c->kind == COLUMN_TIME_OR_MAX), (int64_t)v, to);
		break;
	case COLUMN_BITS:
		cell_int(to, (int64_t)field_u64(row, c->at));
		break;
	case COLUMN_OFFSET:
		put_if(field_u8(row, c->arg) & FRAME_OFFSET, (int64_t)field_u64(row, c->at),
		       to);
		break;
	case COLUMN_LENGTH:
		put_u64(field_u64(row, c->at) - field_u64(row, c->arg), to);
		break;
	case COLUMN_I32:
		cell_int(to, (int32_t)field_u32(row, c->at));
		break;
	case COLUMN_I32_OR_NEGATIVE:
		put_if((int32_t)field_u32(row, c->at) >= 0, field_u32(row, c->at), to);
		break;
	case COLUMN_I16_OR_NEGATIVE:
		put_if((int16_t)field_u16(row, c->at) >= 0, field_u16(row, c->at), to);
		break;
	case COLUMN_U32:
		cell_int(to, field_u32(row, c->at));
		break;
	case COLUMN_U32_OR_0:
		put_if(field_u32(row, c->at) != 0, field_u32(row, c->at), to);
		break;
	case COLUMN_U8:
		cell_int(to, field_u8(row, c->at));
		break;
	case COLUMN_CPU:
		put_if(field_u16(row, c->at) != TL_NOCPU, field_u16(row, c->at), to);
		break;
	case COLUMN_BIT8:
		cell_int(to, (field_u8(row, c->at) & c->arg) != 0);
		break;
	default: /* COLUMN_BIT32 */
		cell_int(to, (field_u32(row, c->at) & c->arg) != 0);
	}
}

static void put_bytes(const struct store_bytes *b, struct cell *to)
{
	if (b->n && b->n <= INT32_MAX)
		*to = (struct cell){.s = b->v, .type = SQLITE_BLOB, .n = (int)b->n};
}

static void put_words(const struct writing *l, const struct column *c, const void *row,
		      struct cell *to)
{
	const struct timeline *tl = l->tl;
	uint16_t arg;
	switch (c->kind) {
	case COLUMN_TEXT:
	case COLUMN_LINE:
	case COLUMN_TEXT_OR_EMPTY:
		put_text(string(l, field_u32(row, c->at)), c->kind != COLUMN_TEXT, to);
		break;
	case COLUMN_WORD:
		put_text(c->word(field_u8(row, c->at)), 1, to);
		break;
	case COLUMN_STATE:
		put_text(string(l, tl->states[field_u8(row, c->at)]), 1, to);
		break;
	case COLUMN_SYSCALL:
		put_text(string(l, tl->syscalls.v[field_u16(row, c->at)]), 1, to);
		break;
	case COLUMN_VARIABLE:
		arg = field_u16(row, c->at);
		put_text(string(l, arg < tl->args.n ? tl->args.v[arg].variable : 0), 1, to);
		break;
	case COLUMN_BUILD_ID:
		put_text(stacks_build_id(tl->stacks, field_u32(row, c->at)), 1, to);
		break;
	case COLUMN_BLOB:
		put_bytes((const struct store_bytes *)((const char *)row + c->at), to);
		break;
	case COLUMN_FUNCTION:
		put_text(string(l, tl->stacks->frames.v[field_u32(row, c->at)].name), 1, to);
		break;
	default: /* COLUMN_ARG */
		arg = field_u16(row, c->at);
		if (arg >= tl->args.n)
			arg = 0;
		put_if(arg, arg ? (int64_t)tl->args.v[arg].value : 0, to);
	}
}

/* A name instead of the id of its row. */
static void put_in_place(const struct writing *l, const struct column *c, const void *row,
			 struct cell *to)
{
	if (c->kind == COLUMN_EVENT)
		put_text(string(l, l->tl->events.v[field_u16(row, c->at)].name), 0, to);
	else
		put_text(string(l, field_u32(row, c->at)), c->kind != COLUMN_COMM, to);
}

static void put_id(const struct writing *l, const struct column *c, int64_t id, const void *row,
		   struct cell *to)
{
	if (c->kind == COLUMN_ID)
		cell_int(to, id);
	else if (c->kind == COLUMN_RECORDING)
		cell_int(to, l->rows[TABLE_RECORDINGS]);
	else if (c->kind == COLUMN_FIRST_OFF)
		put_index(l, TABLE_OFFCPU, field_u32(row, c->at) + 1ull, to);
	else
		put_index(l, (enum store_table)c->arg, 1, to);
}

int encode_cell(struct writing *l, const struct column *c, int64_t id, const void *row,
		struct cell *to)
{
	cell_null(to);
	if (c->kind >= COLUMN_U64 && c->kind < COLUMN_TEXT)
		put_number(c, row, to);
	else if (c->kind >= COLUMN_TEXT && c->kind < COLUMN_COMM)
		put_words(l, c, row, to);
	else if (c->kind < COLUMN_U64)
		put_id(l, c, id, row, to);
	else if (l->flat && c->kind <= COLUMN_EVENT)
		put_in_place(l, c, row, to);
	else if (c->kind < COLUMN_EVENT)
		return put_reference(l, c, field_u32(row, c->at), row, to);
	else
		put_model(l, c, row, to);
	return 0;
}

int encode_row(struct writing *l, enum store_table table, int64_t id, const void *row,
	       struct cell *cells)
{
	const struct table *t = &store_tables[table];
	int r = 0;
	for (size_t i = 0; !r && i < t->n; i++)
		r = encode_cell(l, &t->columns[i], id, row, &cells[i]);
	return r;
}
