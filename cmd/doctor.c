/*
 * doctor.c - `perfkit doctor`: can this recording answer? Findings, worst first, with their
 * remedies; exit status 3 if an answer would be wrong. For a store, the findings of import.
 */
#include "render/text/fill.h"
#include "cmd/input/input.h"
#include "libtime/doctor/missing.h"
#include "cmd/cli/say.h"
#include "cmd/query/examine.h"
#include "cmd/query/timeline_input.h"
#include "cmd/verbs.h"
#include "libtime/doctor/store_findings.h"
#include "render/text/escape.h"
#include "render/text/finding_text.h"
#include "render/text/json.h"

#include <stdio.h>
#include <string.h>

struct doctor_opts {
	struct input_opts in;
	struct opt_list asked;
	const char *recording;
	int json;
};

#define AT(field) offsetof(struct doctor_opts, field)
static const struct opt rows[] = {
	OPT_HEADING("Output"),
	{"for", 0, OPT_LIST, AT(asked), "cpu|counts|offcpu|tail|names",
	 "judge it for these questions\n(default: those it was recorded for)"},
	{"json", 0, OPT_FLAG, AT(json), NULL, "print the findings as JSON"},
	FORM_ROWS,
	OPT_HEADING("Filters"),
	{"recording", 0, OPT_STRING, AT(recording), "N|HOST",
	 "of a store: the Nth recording, or that of HOST"},
	OPT_END,
};

static const struct topic {
	const char *name;
	unsigned bit;
} topics[] = {{"cpu", ABOUT_CPU},
	      {"counts", ABOUT_COUNTS},
	      {"offcpu", ABOUT_OFFCPU},
	      {"tail", ABOUT_TAIL},
	      {"names", ABOUT_NAMES}};
enum { TOPICS = sizeof(topics) / sizeof(*topics), INDENT = 9 };

static unsigned parse_asked(const struct doctor_opts *o)
{
	unsigned asked = 0;
	for (size_t i = 0; i < o->asked.n; i++) {
		size_t k = 0; /* opt.c let only these words pass */
		while (k + 1 < TOPICS && strcmp(topics[k].name, o->asked.v[i]))
			k++;
		asked |= topics[k].bit;
	}
	return asked;
}

/* --- text ----------------------------------------------------------------------------- */

/* Append text after `used` columns of the current line, and further lines with `indent` blanks.
 * Leading blanks remain (columns of shares). */
static void put_text_at(struct buf *out, size_t used, size_t indent, const char *s)
{
	struct buf shown = {0};
	size_t lead = strspn(s, " ");
	escape_visible(&shown, s + lead, strlen(s + lead));
	buf_fmt(out, "%*s", (int)lead, "");
	fill_text(out, used + lead, indent, buf_cstr(&shown));
	out->failed |= buf_failed(&shown);
	buf_release(&shown);
}

/* Length up to the next blank outside quotes. */
static size_t argument_length(const char *p)
{
	size_t n = 0;
	for (int quoted = 0; p[n] && (p[n] != ' ' || quoted); n++)
		quoted ^= p[n] == '\'';
	return n;
}

/* The same for a command: lines end with a backslash, and arguments are not split. */
static void put_command_at(struct buf *out, size_t used, size_t indent, const char *s)
{
	struct buf b = {0};
	escape_visible(&b, s, strlen(s));
	const char *p = buf_cstr(&b);
	for (int first = 1; *p; first = 0) {
		size_t n = argument_length(p), wide = escape_chars(p, n);
		if (!first && used + 1 + wide > FILL_WIDTH - 2) {
			buf_fmt(out, " \\\n%*s", (int)indent, "");
			used = indent;
		} else if (!first) {
			buf_char(out, ' ');
			used++;
		}
		buf_add(out, p, n);
		used += wide;
		p += n + (p[n] == ' ');
	}
	buf_char(out, '\n');
	out->failed |= buf_failed(&b);
	buf_release(&b);
}

static void put_line(struct buf *out, const char *s)
{
	escape_visible(out, s, strlen(s));
	buf_char(out, '\n');
}

static void put_detail(struct buf *out, const struct statement *s, const char *host)
{
	struct buf b = {0};
	finding_statement(&b, s);
	buf_fmt(out, "%*s", INDENT, "");
	if (s->form == FORM_LOST_WHERE) /* a drawing */
		put_line(out, buf_cstr(&b));
	else
		put_text_at(out, INDENT, INDENT + 2, buf_cstr(&b));
	out->failed |= buf_failed(&b);
	buf_clear(&b);
	if (missing_get(s, host, &b)) {
		buf_fmt(out, "%*sget it: ", INDENT + 2, "");
		put_line(out, buf_cstr(&b));
	}
	out->failed |= buf_failed(&b);
	buf_release(&b);
}

/* How much is said, until it fits one screen. */
enum level {
	EVERYTHING,   /* -v */
	FIRST_DETAIL, /* the first detail of each finding, and what helps */
	NO_ADVICE,    /* of advice only the title */
	WORST,        /* of all but the first */
	TITLES,
	LEVELS
};

/* 1 if only the title of the nth finding is said. */
static int is_title(const struct findings *f, size_t nth, enum level level)
{
	return level == TITLES || (level == WORST && nth) ||
	       (level == NO_ADVICE && f->v.v[nth].severity == SEVERITY_ADVICE);
}

/* "advice   1.7 % of ... [unrooted-stacks]" */
static void put_title(struct buf *out, const struct finding *f, int with_id)
{
	struct buf b = {0};
	buf_fmt(out, "%-*s", INDENT, finding_severity_name(f->severity));
	finding_title(&b, f);
	if (with_id)
		buf_fmt(&b, " [%s]", f->kind->id);
	put_text_at(out, INDENT, INDENT, buf_cstr(&b));
	out->failed |= buf_failed(&b);
	buf_release(&b);
}

static void put_finding(struct buf *out, const struct finding *f, const char *host,
			enum level level)
{
	struct buf b = {0};
	size_t shown = level == EVERYTHING || !f->ndetails ? f->ndetails : 1;
	buf_char(out, '\n');
	put_title(out, f, 0);
	for (size_t i = 0; i < shown; i++)
		put_detail(out, &f->details[i], host);
	if (shown < f->ndetails)
		buf_fmt(out, "%*s... %zu more (show with -v)\n", INDENT, "",
			f->ndetails - shown);
	if (level == EVERYTHING) {
		buf_fmt(out, "%*s", INDENT, "");
		put_text_at(out, INDENT, INDENT + 2, f->kind->impact);
	}
	finding_remedy(&b, f);
	if (b.n) {
		buf_fmt(out, "%*sremedy: ", INDENT, "");
		put_text_at(out, INDENT + 8, INDENT + 2, buf_cstr(&b));
	}
	out->failed |= buf_failed(&b);
	buf_clear(&b);
	buf_fmt(&b, "%*s[%s]", INDENT, "", f->kind->id);
	put_text_at(out, 0, INDENT, buf_cstr(&b));
	out->failed |= buf_failed(&b);
	buf_release(&b);
}

static void put_verdicts(struct buf *out, const struct findings *f, unsigned asked)
{
	for (size_t i = 0; i < TOPICS; i++) {
		const char *verdict = findings_verdict(f, topics[i].bit);
		if (asked == ABOUT_NAMES && !verdict)
			verdict = "all are there";
		if (asked & topics[i].bit && verdict)
			buf_fmt(out, "\n  %-7s %s%s", topics[i].name, verdict,
				f->v.n ? "" : "; nothing found");
	}
	buf_char(out, '\n');
}

/* "perf.data:", and below it what the recording cost: "3.0 s, 10400 events/s, ...". */
static void put_file(struct buf *out, const char *path, const struct price_paid *paid)
{
	static const char label[] = "  cost    ";
	struct buf b = {0};
	escape_visible(out, path, strlen(path));
	buf_char(out, ':');
	if (!paid->events)
		return;
	price_paid_text(&b, paid);
	buf_fmt(out, "\n%s", label);
	put_text_at(out, sizeof(label) - 1, sizeof(label) - 1, buf_cstr(&b));
	out->n--; /* the verdicts begin lines of their own */
	out->failed |= buf_failed(&b);
	buf_release(&b);
}

static void put_all(struct buf *out, const struct findings *f, unsigned asked, enum level level)
{
	put_verdicts(out, f, asked);
	for (size_t i = 0; i < f->v.n; i++) {
		if (!is_title(f, i, level)) {
			put_finding(out, &f->v.v[i], f->host, level);
			continue;
		}
		buf_str(out, i && is_title(f, i - 1, level) ? "" : "\n");
		put_title(out, &f->v.v[i], 1);
	}
	if (level > FIRST_DETAIL)
		buf_str(out, "(-v says what helps)\n");
	if (*f->line) {
		buf_str(out, "\nall together: ");
		put_command_at(out, 14, 2, f->line);
	}
}

static int print_text(const char *path, const struct findings *f, unsigned asked, int verbose)
{
	enum { LINES = 24 }; /* without what the recording cost, which a store does not know */
	struct buf file = {0}, b = {0};
	int failed = 0;
	put_file(&file, path, &f->paid);
	for (enum level k = verbose ? EVERYTHING : FIRST_DETAIL; k < LEVELS; k++) {
		size_t lines = 0;
		buf_clear(&b);
		put_all(&b, f, asked, k);
		for (size_t i = 0; i < b.n; i++)
			lines += b.v[i] == '\n';
		if (verbose || lines <= LINES)
			break;
	}
	failed = buf_failed(&b) || buf_failed(&file);
	if (failed)
		say("out of memory");
	else
		printf("%s%s", buf_cstr(&file), buf_cstr(&b));
	buf_release(&file);
	buf_release(&b);
	return failed;
}

/* --- JSON ----------------------------------------------------------------------------- */

static void json_topics(struct json *j, const char *key, unsigned bits)
{
	json_open(j, key, '[');
	for (size_t i = 0; i < TOPICS; i++)
		if (bits & topics[i].bit)
			json_str(j, NULL, topics[i].name);
	json_close(j, ']');
}

/* Put what is in b, and empty it. */
static void json_buf(struct json *j, const char *key, struct buf *b)
{
	json_str(j, key, buf_cstr(b));
	if (buf_failed(b))
		j->b->failed = b->failed;
	buf_clear(b);
}

static void json_finding(struct json *j, const struct finding *f, const char *host)
{
	struct buf b = {0};
	json_open(j, NULL, '{');
	json_str(j, "id", f->kind->id);
	json_str(j, "harm", finding_severity_name(f->severity));
	json_topics(j, "touches", f->kind->topics);
	finding_title(&b, f);
	json_buf(j, "title", &b);
	json_open(j, "details", '[');
	for (size_t i = 0; i < f->ndetails; i++) {
		finding_statement(&b, &f->details[i]);
		json_buf(j, NULL, &b);
	}
	json_close(j, ']');
	json_open(j, "get", '[');
	for (size_t i = 0; i < f->ndetails; i++)
		if (missing_get(&f->details[i], host, &b))
			json_buf(j, NULL, &b);
	json_close(j, ']');
	json_str(j, "spoils", f->kind->impact);
	finding_remedy(&b, f);
	if (b.n)
		json_buf(j, "remedy", &b);
	else
		json_str(j, "remedy", NULL);
	json_close(j, '}');
	buf_release(&b);
}

static int print_json(const char *path, const struct findings *f, unsigned asked)
{
	struct buf b = {0};
	struct json j = {.b = &b};
	int worst = findings_worst(f, asked);
	json_open(&j, NULL, '{');
	json_u64(&j, "schema", 1);
	json_str(&j, "file", path);
	json_topics(&j, "asked", asked);
	json_str(&j, "worst", worst < 0 ? "none" : finding_severity_name((unsigned)worst));
	json_open(&j, "findings", '[');
	for (size_t i = 0; i < f->v.n; i++)
		json_finding(&j, &f->v.v[i], f->host);
	json_close(&j, ']');
	json_str(&j, "line", *f->line ? f->line : NULL);
	json_close(&j, '}');
	int failed = buf_failed(&b);
	if (failed)
		say("out of memory");
	else
		puts(buf_cstr(&b));
	buf_release(&b);
	return failed;
}

/* --- all of it ------------------------------------------------------------------------ */

/* Keep only findings about the topics asked, and the line if one of these needs it. */
static void select_asked(struct findings *f, unsigned asked)
{
	size_t n = 0;
	int again = 0;
	for (size_t i = 0; i < f->v.n; i++)
		if (f->v.v[i].kind->topics & asked) {
			again |= f->v.v[i].again;
			f->v.v[n++] = f->v.v[i];
		}
	f->v.n = n;
	f->line = again ? f->line : "";
}

/* Read the findings of import. 0, or the exit status. */
static int ask_store(const struct doctor_opts *o, const char *path, unsigned asked,
		     struct findings *f, unsigned *intended_for)
{
	struct tlinput_opts to = {.in = o->in, .recording = o->recording};
	struct err e = {0};
	struct store *s;
	int64_t id;
	if (store_open(&s, path, &e))
		return input_fail(NULL, &e);
	int rc = tlinput_one_recording(&to, "doctor", path, s, &id);
	if (!rc && store_findings(s, id, asked, f, intended_for, &e))
		rc = input_fail(NULL, &e);
	store_close(s);
	return rc;
}

static int ask_recording(const struct doctor_opts *o, const char *const *files, size_t nfiles,
			 unsigned asked, struct findings *f, unsigned *intended_for)
{
	struct input in;
	struct err e = {0};
	int rc = input_open(&in, "doctor", &o->in, files, nfiles);
	if (rc)
		return rc;
	if (input_examine(&in, asked, f, &e))
		rc = input_fail(&in, &e);
	*intended_for = findings_intended_topics(in.profile->rec);
	input_close(&in);
	return rc;
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	const struct doctor_opts *o = opts;
	const char *path = nfiles ? files[0] : o->in.input ? o->in.input : "perf.data";
	struct findings f = {0};
	unsigned asked = parse_asked(o), intended_for = 0;
	int rc = tlinput_is_store(path)
			 ? ask_store(o, path, asked, &f, &intended_for)
			 : ask_recording(o, files, nfiles, asked, &f, &intended_for);
	asked = (asked ? asked : intended_for) | ABOUT_NAMES;
	select_asked(&f, asked);
	if (!rc && o->json)
		rc = print_json(input_shown(path), &f, asked);
	else if (!rc)
		rc = print_text(input_shown(path), &f, asked, o->in.verbose);
	rc = rc < 0 ? 1 : rc;
	int worst = findings_worst(&f, asked);
	if (!rc && (worst == SEVERITY_WRONG || (o->in.strict && worst >= SEVERITY_PARTIAL)))
		rc = 3;
	findings_release(&f);
	return rc;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.brief = "check what a recording can answer, and how to record a better one",
	.usage = "[options] [FILE]",
	.text = "Lists findings, worst first: what was found, what it affects, what helps.\n"
		"  wrong    an answer would mislead (exit status 3; the command that gives\n"
		"           this answer refuses, too)\n"
		"  partial  something is missing; what is there is right\n"
		"  advice   the answer is right; the next recording could be better\n\n"
		"docs/doctor.md explains each finding. A store keeps the findings of its "
		"import.",
	.examples = "  perfkit doctor perf.data\n"
		    "  perfkit doctor --for tail perf.data\n"
		    "  perfkit doctor --json perf.data | jq -r '.findings[].id'",
	.tables = {rows, input_rows},
	.options_size = sizeof(struct doctor_opts),
	.max_files = 1,
	.modes = {{NULL, INPUT_FILTERS}},
	.run = run,
};
