/*
 * source.c - `perfkit source`: which lines and instructions of functions cost the time.
 */
#include "cmd/answer/source_moved.h"
#include "cmd/cli/say.h"
#include "cmd/input/input_kind.h"
#include "cmd/input/output.h"
#include "cmd/query/caption.h"
#include "cmd/verbs.h"
#include "base/mem.h"
#include "base/text/name_id.h"
#include "render/text/escape.h"
#include "render/text/source_json.h"
#include "render/text/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(field) offsetof(struct source_opts, field)
static const struct opt rows[] = {
	OPT_HEADING("What to show"),
	{"offcpu", 0, OPT_FLAG, AT(offcpu), NULL,
	 "which lines wait: time off the CPU, the kernel's part\ncounted as the program's line "
	 "that called it"},
	{"tail", 0, OPT_FLAG, AT(tail), NULL,
	 "the time inside the worst episodes, chosen as by\nperfkit tail"},
	{"top", 0, OPT_U64, AT(t.top), "N", "with --tail: the N longest episodes; 0 = all"},
	{"inlines", 0, OPT_FLAG, AT(inlines), NULL,
	 "show inlined calls, with their own lines, below the\nline that they are inlined in"},
	{"asm", 0, OPT_FLAG, AT(instructions), NULL,
	 "the instructions, too, of the file with the recorded\nbuild-id; jumps are arrows"},
	{"against", 0, OPT_STRING, AT(against), "BEFORE",
	 "compare with the recording BEFORE: its weights beside\neach line"},
	{"rows", 'n', OPT_U64, AT(t.rows), "N", "functions listed (default 10; 0 = all)"},
	{"json", 0, OPT_FLAG, AT(t.json), NULL, "print JSON"},
	FORM_ROWS,
	MEANT_ROWS,
	CGROUP_ROWS,
	OPT_HEADING("Source text"),
	{"source-dir", 0, OPT_EACH, AT(dirs), "DIR",
	 "look for source files below DIR, by the end of their\nnames; repeatable"},
	{"source-map", 0, OPT_EACH, AT(maps), "FROM=TO",
	 "look below TO for names that begin with FROM;\nrepeatable"},
	{"git", 0, OPT_STRING, AT(git), "DIR@REV",
	 "take source files from the commit REV of the git\nrepository DIR"},
	{"before-dir", 0, OPT_EACH, AT(before_dirs), "DIR",
	 "with --against: --source-dir for BEFORE"},
	{"before-git", 0, OPT_STRING, AT(before_git), "DIR@REV", "the same for --git"},
	OPT_END,
};

/* What the command line asks for. */
struct asked {
	const char *what; /* a function, FILE or FILE:LINE; NULL: the hottest function */
	const char *path; /* of the input */
};

/* An answer being made. */
struct answer {
	const struct source_opts *o;
	struct asked ask;
	struct source_side after, before;
	source_picks picks; /* functions to list */
	char *file;         /* FILE was asked for, … */
	uint32_t line;      /* … with this LINE; 0: none */
	uint32_t function;  /* whose lines are shown */
	size_t found;       /* functions of `before` that it is compared with */
	struct source_rows rows;
	struct source_text *texts; /* by rows.files */
	struct code_rows code;
	int has_code;
	struct buf why; /* there are no instructions, or what they are */
};

/* --- what is asked ---------------------------------------------------------------------- */

/* 1 if `word` is an input, told by its content. */
static int is_input(const char *word)
{
	struct source src;
	enum input_kind kind;
	struct err e = {0};
	if (!strcmp(word, "-"))
		return 1;
	if (access(word, F_OK) || input_kind_open(word, &src, &kind, &e))
		return 0;
	input_kind_close(word, &src);
	return kind == INPUT_PERF_DATA || kind == INPUT_STORE;
}

static void read_words(struct asked *a, const struct source_opts *o, const char *const *words,
		       size_t n)
{
	const char *input = o->t.wait.tl.in.input;
	*a = (struct asked){.path = input ? input : "perf.data"};
	if (n == 2 || (n == 1 && !input && is_input(words[0])))
		a->path = words[n - 1];
	if (n == 2 || (n == 1 && a->path != words[0]))
		a->what = words[0];
}

/* Split FILE:LINE; returns FILE, heap, NULL for no memory. */
static char *file_of(const char *what, uint32_t *line)
{
	const char *colon = strrchr(what, ':');
	char *end = NULL;
	unsigned long n = colon && colon != what ? strtoul(colon + 1, &end, 10) : 0;
	*line = end && end != colon + 1 && !*end && n <= UINT32_MAX ? (uint32_t)n : 0;
	return *line ? mem_strndup(what, (size_t)(colon - what)) : mem_strdup(what);
}

static int is_named(const struct answer *a, const char *name)
{
	const struct source_sums *s = &a->after.sums;
	return a->picks.n &&
	       (name_is_id("function", name) ||
		!strcmp(strtab_get(&s->names, s->functions.v[a->picks.v[0]].name), name));
}

/* Choose a file if no function is named like that. ERR_NOMEM. */
static int pick_file(struct answer *a)
{
	char *file = file_of(a->ask.what, &a->line);
	int found = file ? source_side_by_file(&a->after, file) : ERR_NOMEM;
	if (found <= 0) {
		mem_free(file);
		return found;
	}
	a->file = file;
	if (a->o->against && source_side_by_file(&a->before, file) < 0)
		return ERR_NOMEM;
	return source_pick_in_files(&a->after.sums, a->after.files, a->line, &a->picks);
}

static int pick(struct answer *a)
{
	int rc = source_pick_functions(&a->after.sums, a->ask.what, &a->picks);
	if (!rc && a->ask.what && !is_named(a, a->ask.what))
		rc = pick_file(a);
	return rc;
}

/* The function that stands for the lines of the file. */
static uint32_t function_of_file(const struct source_sums *s)
{
	size_t i = 0;
	while (i + 1 < s->lines.n && !(s->lines.v[i].file && s->files[s->lines.v[i].file]))
		i++;
	return s->lines.v[i].function;
}

/* --- what is known of it ---------------------------------------------------------------- */

static int load_texts(struct answer *a, struct err *e)
{
	a->texts = mem_zalloc(a->rows.files.n + 1, sizeof(*a->texts));
	int rc = a->texts ? 0 : err_nomem(e);
	for (size_t i = 0; i < a->rows.files.n && !rc; i++)
		rc = source_side_text(&a->after, &a->rows, &a->rows.files.v[i], &a->texts[i],
				      e);
	return rc;
}

/* The function to show, of those picked: without a name the one whose lines are nearest to most
 * of the weight: the hottest may be a library's, or only the way a program waits. */
static uint32_t shown_of(const struct answer *a)
{
	const struct source_sums *s = &a->after.sums;
	uint32_t best = a->picks.v[0];
	for (size_t i = 1; i < a->picks.n && !a->ask.what; i++)
		if (s->functions.v[a->picks.v[i]].near > s->functions.v[best].near)
			best = a->picks.v[i];
	return best;
}

static int make_lines(struct answer *a, struct err *e)
{
	const struct source_opts *o = a->o;
	a->function = a->file ? function_of_file(a->after.shown) : shown_of(a);
	if (o->instructions && !a->file) {
		int rc = source_side_code(&a->after, a->function, &a->code, &a->why, e);
		if (rc < 0)
			return rc;
		a->has_code = rc;
	} else if (o->instructions) {
		buf_str(&a->why, "--asm needs a function, not a file");
	}
	int rc = source_rows_of(&a->rows, a->after.shown, a->function, o->inlines);
	if (!rc && o->against)
		rc = source_moved(&a->rows, &a->before, &a->after, a->function, &a->found, e);
	if (!rc && a->line)
		rc = source_rows_near(&a->rows, a->line);
	return rc == ERR_NOMEM ? err_nomem(e) : rc ? rc : load_texts(a, e);
}

/* --- text ------------------------------------------------------------------------------- */

static void put_amount(struct buf *b, const struct source_side *s, uint64_t weight)
{
	const struct samples *x = &s->src.samples;
	const char *unit = "ns";
	if (s->src.asked == STACKS_OF_SAMPLES)
		unit = s->src.event != NO_ID ? x->events.v[s->src.event].unit : "events";
	if (!strcmp(unit, "ns")) {
		units_duration(b, weight);
	} else {
		units_count(b, weight);
	}
}

/* "cpu-clock: 4.2 s in 4,200 samples". */
static void put_title(struct buf *b, const struct source_side *s)
{
	const struct samples *x = &s->src.samples;
	const char *event;
	switch (s->src.asked) {
	case STACKS_OF_TAIL_ROOTS:
		tail_what(&s->src.run, &s->src.tail, b);
		buf_str(b, ": ");
		put_amount(b, s, s->sums.all);
		return;
	case STACKS_OF_WAITS:
		buf_str(b, "off-CPU time: ");
		put_amount(b, s, s->sums.all);
		buf_str(b, " in ");
		units_plural(b, s->sums.samples, "wait", "waits");
		return;
	default:
		event = s->src.event == NO_ID ? "all events of --event"
					      : x->events.v[s->src.event].name;
		escape_visible(b, event, strlen(event));
		buf_str(b, ": ");
		put_amount(b, s, s->sums.all);
		buf_str(b, " in ");
		units_plural(b, s->sums.samples, "sample", "samples");
	}
}

/* How late the shown samples are, or NULL. */
static const char *skid_of(const struct source_side *s)
{
	const struct samples *x = &s->src.samples;
	if (s->src.asked != STACKS_OF_SAMPLES || s->src.event == NO_ID ||
	    !x->events.v[s->src.event].skid)
		return NULL;
	return event_skid_text(x->events.v[s->src.event].skid);
}

static void put_share(struct buf *b, const char *what, uint64_t w, uint64_t all)
{
	buf_fmt(b, "%s%.1f %%", what, all ? 100.0 * (double)w / (double)all : 0);
}

static void put_function(struct buf *b, const struct answer *a)
{
	const struct source_sums *s = a->after.shown;
	const struct source_function *f = &s->functions.v[a->function];
	const char *name = strtab_get(&s->names, f->name),
		   *module = strtab_get(&s->names, f->module);
	escape_visible(b, name, strlen(name));
	if (*module) {
		buf_str(b, " (");
		escape_visible(b, module, strlen(module));
		buf_char(b, ')');
	}
	put_share(b, ": self ", f->w.self, s->all);
	if (f->w.inlined)
		put_share(b, ", inlined in it ", f->w.inlined, s->all);
	put_share(b, ", total ", f->w.total, s->all);
	buf_char(b, '\n');
	if (a->o->against && !a->found)
		buf_str(b, "before has no such function\n");
}

/* The file's name, and what its text is worth. */
static void put_file(struct buf *b, const struct answer *a, const struct source_part *p,
		     const struct source_text *t)
{
	static const char *const notes[] = {
		[SOURCE_ABSENT] = ": its text is not below a folder that may be read "
				  "(--source-dir, --source-map)",
		[SOURCE_SAME] = "",
		[SOURCE_UNCHECKED] = " (not checked: the debug information has no MD5)",
		[SOURCE_NEWER] = " changed after the recording: lines may have moved",
		[SOURCE_OTHER] = " is not the text that was compiled (MD5): lines may be wrong",
	};
	const char *name = strtab_get(&a->after.src.stacks->strings, p->file);
	if (!p->file) {
		buf_str(b, "no source file is known\n");
		return;
	}
	name = t->path ? t->path : name;
	escape_visible(b, name, strlen(name));
	buf_str(b, notes[t->verdict]);
	buf_char(b, '\n');
}

static void put_code(struct buf *b, const struct answer *a, const struct source_style *style)
{
	if (a->has_code) {
		buf_fmt(b, "\ninstructions at 0x%llx%s%.*s\n",
			a->code.v.n ? (unsigned long long)a->code.v.v[0].va : 0,
			a->why.n ? ", " : "", (int)a->why.n, a->why.n ? a->why.v : "");
		source_table_code(b, &a->code, style);
		source_table_runs(b, &a->code, style);
	} else if (a->o->instructions) {
		buf_str(b, "\nno instructions: ");
		buf_add(b, a->why.v, a->why.n);
		buf_char(b, '\n');
	}
}

static void put_head(struct buf *b, const struct answer *a)
{
	const char *skid = skid_of(&a->after);
	if (a->o->against) {
		buf_str(b, "before: ");
		put_title(b, &a->before);
		buf_str(b, "\nafter:  ");
	}
	put_title(b, &a->after);
	buf_char(b, '\n');
	if (skid)
		buf_fmt(b, "%s\n", skid);
	if (a->after.src.asked == STACKS_OF_TAIL_ROOTS)
		buf_str(b, "waits that another thread held up end in what that thread did\n");
}

static size_t listed(const struct answer *a)
{
	uint64_t most = a->o->t.rows;
	return most && most < a->picks.n ? (size_t)most : a->picks.n;
}

static void put_text(struct buf *b, const struct answer *a)
{
	struct source_style style = {.width = output_width(),
				     .colour = isatty(STDOUT_FILENO),
				     .two = a->o->against != NULL,
				     .all = {a->before.sums.all, a->after.sums.all},
				     .counted = a->after.sums.counted};
	source_side_counters(&a->after, &style.counters);
	put_head(b, a);
	if (a->picks.n > 1 || (a->picks.n && (!a->ask.what || a->file))) {
		buf_char(b, '\n');
		source_table_functions(b, &a->after.sums, a->picks.v, a->picks.n, listed(a),
				       &style);
	}
	buf_char(b, '\n');
	put_function(b, a);
	for (size_t i = 0; i < a->rows.files.n; i++) {
		if (i)
			buf_char(b, '\n');
		put_file(b, a, &a->rows.files.v[i], &a->texts[i]);
		source_table_lines(b, a->after.shown, &a->rows, &a->rows.files.v[i],
				   &a->texts[i], &style);
	}
	if (!a->file)
		source_table_places(b, a->after.shown, a->function, &style);
	put_code(b, a, &style);
}

/* --- JSON ------------------------------------------------------------------------------- */

static void put_side(struct json *j, const char *key, const struct source_side *s)
{
	struct buf title = {0};
	put_title(&title, s);
	json_open(j, key, '{');
	json_text(j, "title", title.v, title.n);
	json_str(j, "file", s->src.ti->path);
	json_u64(j, "weight", s->sums.all);
	json_u64(j, "samples", s->sums.samples);
	json_close(j, '}');
	buf_release(&title);
}

static void put_json(struct buf *b, const struct answer *a)
{
	const struct source_sums *s = a->after.shown;
	const struct source_function *f = &s->functions.v[a->function];
	struct json j = {.b = b};
	json_open(&j, NULL, '{');
	json_u64(&j, "schema", 1);
	if (a->o->against)
		put_side(&j, "before", &a->before);
	put_side(&j, a->o->against ? "after" : "of", &a->after);
	json_str(&j, "skid", skid_of(&a->after));
	struct source_counters counters;
	source_side_counters(&a->after, &counters);
	source_json_counters(&j, "counters", &counters, a->after.sums.counted);
	source_json_functions(&j, &a->after.sums, &counters, a->picks.v, a->picks.n, listed(a));
	json_open(&j, "shown", '{');
	json_str(&j, "name", strtab_get(&s->names, f->name));
	json_str(&j, "module", strtab_get(&s->names, f->module));
	json_u64(&j, "self", f->w.self);
	json_u64(&j, "inlined", f->w.inlined);
	json_u64(&j, "total", f->w.total);
	source_json_lines(&j, s, &counters, &a->rows, a->texts, a->o->against != NULL);
	source_json_places(&j, s, a->function);
	if (a->has_code)
		source_json_code(&j, &a->code);
	else if (a->o->instructions)
		json_text(&j, "no_instructions", a->why.v, a->why.n);
	json_close(&j, '}');
	json_close(&j, '}');
	buf_char(b, '\n');
}

/* --- the command ------------------------------------------------------------------------ */

static int put_answer(const struct answer *a)
{
	struct buf b = {0};
	if (a->o->t.json)
		put_json(&b, a);
	else
		put_text(&b, a);
	int rc = buf_failed(&b) ? ERR_NOMEM : 0;
	if (!rc)
		fwrite(b.v, 1, b.n, stdout);
	buf_release(&b);
	return rc;
}

static int not_found(const struct answer *a)
{
	say("%s: no function or source file of this name has weight (all: perfkit source "
	    "--rows "
	    "0)",
	    a->ask.what);
	return 1;
}

static void release(struct answer *a)
{
	for (size_t i = 0; a->texts && i < a->rows.files.n; i++)
		source_text_release(&a->texts[i]);
	mem_free(a->texts);
	mem_free(a->file);
	source_rows_release(&a->rows);
	source_code_release(&a->code);
	vec_release(&a->picks);
	buf_release(&a->why);
	source_side_close(&a->after);
	source_side_close(&a->before);
}

static int answer(struct answer *a)
{
	const struct source_opts *o = a->o;
	struct err e = {0};
	int rc = source_side_open(&a->after, o, a->ask.path, 0, !a->ask.what);
	if (!rc && o->against)
		rc = source_side_open(&a->before, o, o->against, 1, 0);
	if (rc)
		return rc;
	struct input *in = &a->after.src.ti->in;
	if (pick(a))
		return input_fail(in, (err_nomem(&e), &e));
	if (!a->picks.n && !a->file) {
		if (a->after.sums.functions.n)
			return not_found(a);
		if (o->offcpu || o->tail)
			input_say_none(in, o->offcpu ? "wait" : "episode", NULL);
		return input_status(in);
	}
	if (make_lines(a, &e) || (put_answer(a) && err_nomem(&e)))
		return input_fail(in, &e);
	if (o->offcpu)
		tl_say_hidden(a->after.src.ti, &a->after.src.hidden);
	return input_status(in);
}

static int begin(void *opts)
{
	struct source_opts *o = opts;
	struct err e = {0};
	int rc = o->git ? git_texts_open(&o->texts, o->git, &e) : 0;
	if (!rc && o->before_git)
		rc = git_texts_open(&o->before_texts, o->before_git, &e);
	return rc ? input_fail(NULL, &e) : 0;
}

static void end(void *opts)
{
	struct source_opts *o = opts;
	git_texts_close(o->texts);
	git_texts_close(o->before_texts);
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	const struct source_opts *o = opts;
	struct answer a = {.o = o};
	int rc = source_check_maps("source", &o->maps);
	if ((o->tail && o->offcpu) || (o->inlines && o->against)) {
		say_line("perfkit source: --%s excludes --%s (see: perfkit help source)",
			 o->tail && o->offcpu ? "tail" : "against",
			 o->tail && o->offcpu ? "offcpu" : "inlines");
		rc = 2;
	}
	if (rc)
		return rc;
	read_words(&a.ask, o, files, nfiles);
	int alone =
		nfiles == 1 && a.ask.what && !o->t.wait.tl.in.input && access(a.ask.path, F_OK);
	if (alone && !access(a.ask.what, F_OK)) { /* an input that is damaged */
		a.ask.path = a.ask.what;
		a.ask.what = NULL;
	} else if (alone) {
		say("%s: no recording, and there is no %s in which to look for a function of "
		    "this "
		    "name",
		    a.ask.what, a.ask.path);
		return 1;
	}
	rc = answer(&a);
	release(&a);
	return rc;
}

static void defaults(void *opts)
{
	struct source_opts *o = opts;
	o->t.top = TAIL_NO_TOP;
	o->t.rows = 10;
	o->t.wait.tl.meant = 1;
}

const struct verb verb_source = {
	.name = "source",
	.brief = "show which lines and instructions of a function cost the time",
	.usage = "[options] [FUNCTION | SOURCE[:LINE]] [FILE]",
	.text = "Lists the hottest functions, then the lines of the first, or of FUNCTION: "
		"its\n"
		"name, the end of it, or a part. self: the line's own code; inlined: calls\n"
		"inlined in it; total: with all that it calls. Source text is only read below\n"
		"--source-dir, --source-map, --git, the current folder and the program's\n"
		"(docs/source.md).",
	.examples = "  perfkit source perf.data\n"
		    "  perfkit source --asm compute perf.data\n"
		    "  perfkit source --tail --p999 --comm orders perf.data\n"
		    "  perfkit source --source-dir ~/src/orders book.c:120 server.tar.zst\n"
		    "  perfkit source --against before.data compute after.data",
	.tables = {rows, tail_pick_rows, wait_rows, tlinput_rows, input_rows},
	.options_size = sizeof(struct source_opts),
	.max_files = 2,
	.modes = {{"", "event label with"},
		  {"offcpu", "label with " WAITS_SHOW},
		  {"tail", "top " TAIL_PICKS},
		  {"against", "before-dir before-git event label with"}},
	.begin = begin,
	.end = end,
	.run = run,
	.defaults = defaults,
};
