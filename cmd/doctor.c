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

/* Print text after `used` columns of the current line, and further lines with `indent` blanks.
 * Leading blanks remain (columns of shares). 0, or ERR_NOMEM. */
static int print_text_at(size_t used, size_t indent, const char *s)
{
	struct buf shown = {0}, b = {0};
	size_t lead = strspn(s, " ");
	escape_visible(&shown, s + lead, strlen(s + lead));
	printf("%*s", (int)lead, "");
	fill_text(&b, used + lead, indent, buf_cstr(&shown));
	fputs(buf_cstr(&b), stdout);
	int failed = buf_failed(&shown) || buf_failed(&b);
	buf_release(&shown);
	buf_release(&b);
	return failed ? ERR_NOMEM : 0;
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
static int print_command_at(size_t used, size_t indent, const char *s)
{
	struct buf b = {0};
	escape_visible(&b, s, strlen(s));
	const char *p = buf_cstr(&b);
	for (int first = 1; *p; first = 0) {
		size_t n = argument_length(p), wide = escape_chars(p, n);
		if (!first && used + 1 + wide > FILL_WIDTH - 2) {
			printf(" \\\n%*s", (int)indent, "");
			used = indent;
		} else if (!first) {
			putchar(' ');
			used++;
		}
		printf("%.*s", (int)n, p);
		used += wide;
		p += n + (p[n] == ' ');
	}
	putchar('\n');
	int failed = buf_failed(&b);
	buf_release(&b);
	return failed ? ERR_NOMEM : 0;
}

static void print_line(const char *s)
{
	put_visible(stdout, s);
	putchar('\n');
}

static int print_detail(const struct statement *s, const char *host, struct buf *b)
{
	int failed = 0;
	buf_clear(b);
	finding_statement(b, s);
	printf("%*s", INDENT, "");
	if (s->form == FORM_LOST_WHERE) /* a drawing */
		print_line(buf_cstr(b));
	else
		failed |= print_text_at(INDENT, INDENT + 2, buf_cstr(b));
	failed |= buf_failed(b);
	buf_clear(b);
	if (missing_get(s, host, b)) {
		printf("%*sget it: ", INDENT + 2, "");
		print_line(buf_cstr(b));
	}
	return failed | buf_failed(b);
}

/* With `verbose` all of it; else the first detail, and what helps. */
static int print_finding(const struct finding *f, const char *host, int verbose)
{
	struct buf b = {0};
	int failed = 0;
	size_t shown = verbose || !f->ndetails ? f->ndetails : 1;
	printf("\n%-*s", INDENT, finding_severity_name(f->severity));
	finding_title(&b, f);
	failed |= print_text_at(INDENT, INDENT, buf_cstr(&b));
	for (size_t i = 0; i < shown; i++)
		failed |= print_detail(&f->details[i], host, &b);
	if (shown < f->ndetails)
		printf("%*s... %zu more (show with -v)\n", INDENT, "", f->ndetails - shown);
	if (verbose) {
		printf("%*s", INDENT, "");
		failed |= print_text_at(INDENT, INDENT + 2, f->kind->impact);
	}
	buf_clear(&b);
	finding_remedy(&b, f);
	if (b.n) {
		printf("%*sremedy: ", INDENT, "");
		failed |= print_text_at(INDENT + 8, INDENT + 2, buf_cstr(&b));
	}
	printf("%*s[%s]\n", INDENT, "", f->kind->id);
	failed |= buf_failed(&b);
	buf_release(&b);
	return failed;
}

static int print_text(const char *path, const struct findings *f, unsigned asked, int verbose)
{
	put_visible(stdout, path);
	printf(":");
	for (size_t i = 0; i < TOPICS; i++) {
		const char *verdict = findings_verdict(f, topics[i].bit);
		if (asked == ABOUT_NAMES && !verdict)
			verdict = "all are there";
		if (asked & topics[i].bit && verdict)
			printf("\n  %-7s %s%s", topics[i].name, verdict,
			       f->v.n ? "" : "; nothing found");
	}
	putchar('\n');
	int failed = 0;
	for (size_t i = 0; i < f->v.n; i++)
		failed |= print_finding(&f->v.v[i], f->host, verbose);
	if (*f->line) {
		fputs("\nall together: ", stdout);
		failed |= print_command_at(14, 2, f->line);
	}
	if (failed)
		say("out of memory");
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
