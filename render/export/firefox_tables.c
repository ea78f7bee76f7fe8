#include "render/export/firefox_internal.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/text/longname.h"
#include "base/text/path.h"
#include "render/export/export_rows.h"

#include <stdlib.h>
#include <string.h>

/* Of the format; resource types are those of src/profile-logic/data-structures.ts. */
enum { VERSION = 60, GECKO_VERSION = 31 };
#define RESOURCE_LIBRARY "1"

static const char *const categories[][2] = {
	[CAT_OTHER] = {"Other", "grey"},     [CAT_USER] = {"User", "yellow"},
	[CAT_KERNEL] = {"Kernel", "orange"}, [CAT_JIT] = {"JIT", "green"},
	[CAT_INLINED] = {"Inlined", "blue"}, [CAT_WAIT] = {"Wait", "transparent"},
	[CAT_SPAN] = {"Span", "purple"},
};
ENTRIES(categories, CAT_COUNT);

int firefox_flush(struct firefox *x, size_t above, struct err *e)
{
	if (buf_failed(&x->b))
		return err_nomem(e);
	return x->b.n < above ? 0 : gzip_add(&x->z, &x->b, e);
}

/* --- what the tables refer to --------------------------------------------------------- */

static int look_up(const struct used *u, uint64_t id, uint32_t *index)
{
	if (!u->at)
		return u64map_get(&u->index, id, index);
	*index = u->at[id] - 1;
	return u->at[id] != 0;
}

/* *is_new, unless NULL: it was not there. ERR_NOMEM. */
static int use(struct used *u, uint64_t id, uint32_t *index, int *is_new)
{
	int there = look_up(u, id, index);
	if (is_new)
		*is_new = !there;
	if (there)
		return 0;
	*index = (uint32_t)u->v.n;
	if (vec_push(&u->v, id))
		return ERR_NOMEM;
	if (!u->at)
		return u64map_put(&u->index, id, *index);
	u->at[id] = *index + 1;
	return 0;
}

static void used_release(struct used *u)
{
	u64map_release(&u->index);
	mem_free(u->at);
	vec_release(&u->v);
}

int firefox_use_text(struct firefox *x, const char *s, uint32_t *index)
{
	char cut[LONG_NAME];
	size_t n = strlen(s);
	uint32_t id;
	s = long_name(s, &n, cut);
	return strtab_intern_n(&x->texts, s, n, &id) ? ERR_NOMEM
						     : use(&x->strings, id, index, NULL);
}

const char *firefox_text_of(const struct firefox *x, uint32_t id)
{
	return strtab_get(&x->tl->stacks->strings, id);
}

static int use_func(struct firefox *x, const struct frame *f, uint32_t *index)
{
	uint32_t name, dso;
	int is_new;
	buf_clear(&x->name);
	export_frame_name(&x->name, x->tl->stacks, f);
	const char *s = buf_cstr(&x->name);
	if (buf_failed(&x->name) || firefox_use_text(x, s, &name) ||
	    use(&x->funcs, (uint64_t)name << 32 | f->dso, index, &is_new))
		return ERR_NOMEM;
	struct func fn = {.dso = f->dso, .source = f->srcfile};
	if (!is_new)
		return 0;
	if (vec_push(&x->func_of, fn))
		return ERR_NOMEM;
	return f->dso ? use(&x->dsos, f->dso, &dso, NULL) : 0;
}

/* The frames of a path, callers first: they have lower indexes than what they call. */
int firefox_use_path(struct firefox *x, uint32_t path, uint32_t *index)
{
	const struct stacks *s = x->tl->stacks;
	VEC(uint32_t) todo = {0};
	int rc = 0, is_new = 0;
	for (uint32_t p = path; p && !rc && !look_up(&x->paths, p, index);
	     p = s->paths.v[p].parent)
		rc = vec_push(&todo, p);
	while (todo.n && !rc) {
		uint32_t p = todo.v[--todo.n], id = s->paths.v[p].frame, frame, func;
		rc = use(&x->paths, p, index, NULL);
		rc = rc ? rc : use(&x->frames, id, &frame, &is_new);
		rc = rc || !is_new ? rc : use_func(x, &s->frames.v[id], &func);
	}
	vec_release(&todo);
	return rc;
}

/* --- values --------------------------------------------------------------------------- */

/* ns as ms, exact. */
void firefox_put_ms(struct firefox *x, const char *key, uint64_t ns)
{
	char fraction[8] = ".000000";
	uint32_t below = (uint32_t)(ns % 1000000);
	for (size_t at = 7; below; below /= 10)
		fraction[--at] = (char)('0' + below % 10);
	json_u64(&x->j, key, ns / 1000000);
	buf_add(&x->b, fraction, 7);
}

void firefox_put_text(struct firefox *x, const char *key, const char *s)
{
	char cut[LONG_NAME];
	size_t n = strlen(s);
	s = long_name(s, &n, cut);
	json_text(&x->j, key, s, n);
}

/* n times the same in a column. */
void firefox_put_column(struct firefox *x, const char *key, const char *value, size_t n)
{
	json_open(&x->j, key, '[');
	for (size_t i = 0; i < n; i++)
		json_raw(&x->j, NULL, value);
	json_close(&x->j, ']');
}

/* --- tables --------------------------------------------------------------------------- */

/* A column with one value for each entry of a table. */
static int column(struct firefox *x, const char *key, const struct used *u,
		  void (*put)(struct firefox *x, uint32_t i), struct err *e)
{
	int rc = 0;
	json_open(&x->j, key, '[');
	for (uint32_t i = 0; i < u->v.n && !rc; i++) {
		put(x, i);
		rc = firefox_flush(x, FIREFOX_FLUSH, e);
	}
	json_close(&x->j, ']');
	return rc;
}

/* Of what was used, which is looked up again. */
static void put_index(struct firefox *x, const struct used *u, uint64_t id)
{
	uint32_t index = 0;
	look_up(u, id, &index);
	json_u64(&x->j, NULL, index);
}

static void put_stack_frame(struct firefox *x, uint32_t i)
{
	put_index(x, &x->frames, x->tl->stacks->paths.v[x->paths.v.v[i]].frame);
}

static void put_stack_prefix(struct firefox *x, uint32_t i)
{
	uint32_t parent = x->tl->stacks->paths.v[x->paths.v.v[i]].parent;
	if (parent)
		put_index(x, &x->paths, parent);
	else
		json_null(&x->j, NULL);
}

static const struct frame *frame_of(const struct firefox *x, uint32_t i)
{
	return &x->tl->stacks->frames.v[x->frames.v.v[i]];
}

static void put_frame_func(struct firefox *x, uint32_t i)
{
	uint32_t func = 0;
	if (use_func(x, frame_of(x, i), &func))
		x->b.failed = ERR_NOMEM;
	json_u64(&x->j, NULL, func);
}

static void put_frame_depth(struct firefox *x, uint32_t i)
{
	json_u64(&x->j, NULL, frame_of(x, i)->flags & FRAME_INLINED ? 1 : 0);
}

static void put_frame_category(struct firefox *x, uint32_t i)
{
	const struct frame *f = frame_of(x, i);
	json_u64(&x->j, NULL,
		 f->flags & FRAME_INLINED  ? CAT_INLINED
		 : f->kind == FRAME_KERNEL ? CAT_KERNEL
		 : f->kind == FRAME_JIT    ? CAT_JIT
		 : f->kind == FRAME_MARK   ? CAT_OTHER
					   : CAT_USER);
}

static void put_frame_line(struct firefox *x, uint32_t i)
{
	if (frame_of(x, i)->line)
		json_u64(&x->j, NULL, frame_of(x, i)->line);
	else
		json_null(&x->j, NULL);
}

static int put_stack_table(struct firefox *x, struct err *e)
{
	json_open(&x->j, "stackTable", '{');
	json_u64(&x->j, "length", x->paths.v.n);
	int rc = column(x, "frame", &x->paths, put_stack_frame, e);
	rc = rc ? rc : column(x, "prefix", &x->paths, put_stack_prefix, e);
	json_close(&x->j, '}');
	return rc;
}

static int put_frame_table(struct firefox *x, struct err *e)
{
	size_t n = x->frames.v.n;
	json_open(&x->j, "frameTable", '{');
	json_u64(&x->j, "length", n);
	int rc = column(x, "func", &x->frames, put_frame_func, e);
	rc = rc ? rc : column(x, "inlineDepth", &x->frames, put_frame_depth, e);
	rc = rc ? rc : column(x, "category", &x->frames, put_frame_category, e);
	rc = rc ? rc : column(x, "line", &x->frames, put_frame_line, e);
	firefox_put_column(x, "address", "-1", n);
	firefox_put_column(x, "subcategory", "0", n);
	firefox_put_column(x, "nativeSymbol", "null", n);
	firefox_put_column(x, "innerWindowID", "0", n);
	firefox_put_column(x, "column", "null", n);
	json_close(&x->j, '}');
	return rc;
}

static void put_func_name(struct firefox *x, uint32_t i)
{
	json_u64(&x->j, NULL, x->funcs.v.v[i] >> 32);
}

static void put_func_resource(struct firefox *x, uint32_t i)
{
	if (x->func_of.v[i].dso)
		put_index(x, &x->dsos, x->func_of.v[i].dso);
	else
		json_i64(&x->j, NULL, -1);
}

static void put_func_source(struct firefox *x, uint32_t i)
{
	uint32_t source = x->func_of.v[i].source, index;
	if (!source)
		json_null(&x->j, NULL);
	else if (use(&x->sources, source, &index, NULL))
		x->b.failed = ERR_NOMEM;
	else
		json_u64(&x->j, NULL, index);
}

static int put_func_table(struct firefox *x, struct err *e)
{
	size_t n = x->funcs.v.n;
	json_open(&x->j, "funcTable", '{');
	json_u64(&x->j, "length", n);
	int rc = column(x, "name", &x->funcs, put_func_name, e);
	rc = rc ? rc : column(x, "resource", &x->funcs, put_func_resource, e);
	rc = rc ? rc : column(x, "source", &x->funcs, put_func_source, e);
	firefox_put_column(x, "isJS", "false", n);
	firefox_put_column(x, "relevantForJS", "false", n);
	firefox_put_column(x, "lineNumber", "null", n);
	firefox_put_column(x, "columnNumber", "null", n);
	json_close(&x->j, '}');
	return rc;
}

/* The index of a text of the timeline's. */
static void put_text_index(struct firefox *x, const char *s)
{
	uint32_t index = 0;
	if (firefox_use_text(x, s, &index))
		x->b.failed = ERR_NOMEM;
	json_u64(&x->j, NULL, index);
}

static void put_resource_name(struct firefox *x, uint32_t i)
{
	put_text_index(x, path_base(firefox_text_of(x, (uint32_t)x->dsos.v.v[i])));
}

static void put_number(struct firefox *x, uint32_t i)
{
	json_u64(&x->j, NULL, i);
}

static void put_source_name(struct firefox *x, uint32_t i)
{
	put_text_index(x, firefox_text_of(x, (uint32_t)x->sources.v.v[i]));
}

static int put_small_tables(struct firefox *x, struct err *e)
{
	static const char *const of_symbols[] = {"libIndex", "address", "name", "functionSize"};
	json_open(&x->j, "resourceTable", '{');
	json_u64(&x->j, "length", x->dsos.v.n);
	int rc = column(x, "lib", &x->dsos, put_number, e);
	rc = rc ? rc : column(x, "name", &x->dsos, put_resource_name, e);
	firefox_put_column(x, "host", "null", x->dsos.v.n);
	firefox_put_column(x, "type", RESOURCE_LIBRARY, x->dsos.v.n);
	json_close(&x->j, '}');
	json_open(&x->j, "nativeSymbols", '{');
	json_u64(&x->j, "length", 0);
	for (size_t i = 0; i < sizeof(of_symbols) / sizeof(*of_symbols); i++)
		firefox_put_column(x, of_symbols[i], "", 0);
	json_close(&x->j, '}');
	json_open(&x->j, "sources", '{');
	json_u64(&x->j, "length", x->sources.v.n);
	firefox_put_column(x, "uuid", "null", x->sources.v.n);
	rc = rc ? rc : column(x, "filename", &x->sources, put_source_name, e);
	json_close(&x->j, '}');
	return rc;
}

static void put_string(struct firefox *x, uint32_t i)
{
	uint32_t id = (uint32_t)x->strings.v.v[i];
	json_text(&x->j, NULL, strtab_get(&x->texts, id), strtab_len(&x->texts, id));
}

/* Texts last: the others still add to them. */
int firefox_put_shared(struct firefox *x, struct err *e)
{
	json_open(&x->j, "shared", '{');
	int rc = put_stack_table(x, e);
	rc = rc ? rc : put_frame_table(x, e);
	rc = rc ? rc : put_func_table(x, e);
	rc = rc ? rc : put_small_tables(x, e);
	rc = rc ? rc : column(x, "stringArray", &x->strings, put_string, e);
	json_close(&x->j, '}');
	return rc;
}

/* breakpadId: the first 16 bytes of the build-id as a GUID, whose first three numbers are
 * little-endian, and an age of 0. */
static void put_breakpad_id(struct firefox *x, const char *hex)
{
	static const uint8_t order[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	char id[34] = "";
	for (size_t i = 0; i < sizeof(order) && strlen(hex) >= 32; i++)
		for (size_t k = 0; k < 2; k++) {
			char c = hex[2 * order[i] + k];
			id[2 * i + k] = (char)(c >= 'a' ? c - 'a' + 'A' : c);
			id[32] = '0';
		}
	json_str(&x->j, "breakpadId", id);
}

static void put_lib(struct firefox *x, uint32_t i)
{
	uint32_t dso = (uint32_t)x->dsos.v.v[i];
	const char *path = firefox_text_of(x, dso), *id = stacks_build_id(x->tl->stacks, dso);
	json_open(&x->j, NULL, '{');
	json_str(&x->j, "arch", "");
	firefox_put_text(x, "name", path_base(path));
	firefox_put_text(x, "path", path);
	firefox_put_text(x, "debugName", path_base(path));
	firefox_put_text(x, "debugPath", path);
	put_breakpad_id(x, id);
	if (*id)
		json_str(&x->j, "codeId", id);
	else
		json_null(&x->j, "codeId");
	json_close(&x->j, '}');
}

int firefox_put_lib_table(struct firefox *x, struct err *e)
{
	return column(x, "libs", &x->dsos, put_lib, e);
}

/* --- about it ------------------------------------------------------------------------- */

/* What a kind of marker says: "key:Label:format", words of src/types/markers.ts. */
static const struct {
	const char *type, *label;
	const char *fields[8];
} schemas[] = {
	{"Wait",
	 "{marker.name}, woken by {marker.data.waker}",
	 {"waker:Woken by:unique-string", "blocked:Blocked:milliseconds",
	  "runnable:Run-queue delay:milliseconds", "state:State:string",
	  "unclear:Unclear:string", "doubt:In doubt:string",
	  "wakerStack:Stack of the waker:unique-string"}},
	{"Span",
	 "{marker.name} {marker.data.key}",
	 {"key:Key:string", "run:On a CPU:milliseconds", "blocked:Blocked:milliseconds",
	  "runnable:Run-queue delay:milliseconds", "endThread:Ended by:string",
	  "labels:Labels:string"}},
	{"Loss", "{marker.name}", {"count:Records:integer", "cpu:CPU:integer"}},
};

static void put_field(struct firefox *x, const char *field)
{
	const char *label = strchr(field, ':') + 1, *format = strchr(label, ':') + 1;
	json_open(&x->j, NULL, '{');
	json_text(&x->j, "key", field, (size_t)(label - field - 1));
	json_text(&x->j, "label", label, (size_t)(format - label - 1));
	json_str(&x->j, "format", format);
	json_close(&x->j, '}');
}

static void put_schemas(struct firefox *x)
{
	json_open(&x->j, "markerSchema", '[');
	for (size_t i = 0; i < sizeof(schemas) / sizeof(*schemas); i++) {
		json_open(&x->j, NULL, '{');
		json_str(&x->j, "name", schemas[i].type);
		json_str(&x->j, "tableLabel", schemas[i].label);
		json_str(&x->j, "chartLabel", schemas[i].label);
		json_str(&x->j, "tooltipLabel", schemas[i].label);
		json_open(&x->j, "display", '[');
		json_str(&x->j, NULL, "marker-chart");
		json_str(&x->j, NULL, "marker-table");
		if (strcmp(schemas[i].type, "Wait"))
			json_str(&x->j, NULL, "timeline-overview");
		json_close(&x->j, ']');
		json_open(&x->j, "fields", '[');
		for (size_t k = 0; schemas[i].fields[k]; k++)
			put_field(x, schemas[i].fields[k]);
		json_close(&x->j, ']');
		json_close(&x->j, '}');
	}
	json_close(&x->j, ']');
}

static void put_categories(struct firefox *x)
{
	json_open(&x->j, "categories", '[');
	for (size_t i = 0; i < sizeof(categories) / sizeof(*categories); i++) {
		json_open(&x->j, NULL, '{');
		json_str(&x->j, "name", categories[i][0]);
		json_str(&x->j, "color", categories[i][1]);
		json_open(&x->j, "subcategories", '[');
		json_str(&x->j, NULL, "Other");
		json_close(&x->j, ']');
		json_close(&x->j, '}');
	}
	json_close(&x->j, ']');
}

void firefox_put_meta(struct firefox *x)
{
	const struct tl_recording *r = &x->tl->rec;
	json_open(&x->j, "meta", '{');
	json_u64(&x->j, "version", GECKO_VERSION);
	json_u64(&x->j, "preprocessedProfileVersion", VERSION);
	firefox_put_ms(x, "startTime", r->wall_ns);
	json_u64(&x->j, "interval", 1);
	json_u64(&x->j, "processType", 0);
	json_u64(&x->j, "stackwalk", 1);
	firefox_put_text(x, "product",
			 *firefox_text_of(x, r->file) ? path_base(firefox_text_of(x, r->file))
						      : "perf");
	json_str(&x->j, "importedFrom", "perfkit");
	json_str(&x->j, "platform", "Linux");
	firefox_put_text(x, "oscpu", firefox_text_of(x, r->kernel));
	firefox_put_text(x, "device", firefox_text_of(x, r->host));
	json_u64(&x->j, "logicalCPUs", r->ncpus);
	json_bool(&x->j, "symbolicated", 1);
	json_bool(&x->j, "usesOnlyOneStackType", 1);
	json_bool(&x->j, "sourceCodeIsNotOnSearchfox", 1);
	if (x->most) {
		json_open(&x->j, "initialSelectedThreads", '[');
		json_u64(&x->j, NULL, x->busiest);
		json_close(&x->j, ']');
	}
	json_open(&x->j, "sampleUnits", '{');
	json_str(&x->j, "time", "ms");
	json_str(&x->j, "eventDelay", "ms");
	json_str(&x->j, "threadCPUDelta", "ns");
	json_close(&x->j, '}');
	put_categories(x);
	put_schemas(x);
	json_close(&x->j, '}');
}

int firefox_init_tables(struct firefox *x)
{
	const struct stacks *s = x->tl->stacks;
	x->paths.at = mem_zalloc(s->paths.n + 1, sizeof(*x->paths.at));
	x->frames.at = mem_zalloc(s->frames.n + 1, sizeof(*x->frames.at));
	return x->paths.at && x->frames.at ? 0 : ERR_NOMEM;
}

void firefox_release_tables(struct firefox *x)
{
	struct used *used[] = {&x->strings, &x->paths, &x->frames,
			       &x->funcs,   &x->dsos,  &x->sources};
	for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++)
		used_release(used[i]);
	strtab_release(&x->texts);
	u64map_release(&x->waker_of);
	u64map_release(&x->waker_stack_of);
	vec_release(&x->func_of);
}
