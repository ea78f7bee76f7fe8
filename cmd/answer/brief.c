#include "cmd/answer/brief.h"
#include "base/mem.h"
#include "base/text/name_id.h"
#include "base/text/shellword.h"
#include "cmd/answer/compared_rows.h"
#include "cmd/answer/report_functions.h"
#include "cmd/query/tail_query.h"
#include "libtime/explain/chain.h"
#include "libtime/explain/episode_id.h"
#include "libtime/sched/timeline_answers.h"
#include "libtime/sched/timeline_parts.h"
#include "render/tail/site_words.h"
#include "render/tail/tail_words.h"
#include "render/text/escape.h"
#include "render/text/json.h"
#include "render/text/units.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 5, LINKS = 6, NAME = 60 };

/* A row: a name and its time (or count). */
struct brief_row {
	struct buf name;
	uint64_t weight;
	const char *kind;    /* of its id: "function", "site"; NULL: none */
	const char *verdict; /* of a site; NULL: none */
};

struct brief {
	const char *path;
	int json, counts;
	uint64_t recorded_ns;
	const char *can[3]; /* CPU time, waits, tail; static */
	uint64_t cpu, waiting;
	struct brief_row functions[ROWS], sites[ROWS], links[LINKS];
	size_t nfunctions, nsites, nlinks;
	uint64_t worst_ns;
	struct buf root, episode; /* what the worst was due to, and its id */
	struct buf unclear; /* function of unclear waits that are longer than that; empty */
};

static const char *const questions[] = {"cpu", "waits", "tail"};

/* --- what is known ---------------------------------------------------------------------- */

/* Insert a row into the n largest. Its name is taken over. */
static size_t put_row(struct brief_row *v, size_t n, size_t most, struct brief_row x)
{
	size_t at = n;
	while (at && v[at - 1].weight < x.weight)
		at--;
	if (at == most) {
		buf_release(&x.name);
		return n;
	}
	if (n == most)
		buf_release(&v[--n].name);
	memmove(v + at + 1, v + at, (n - at) * sizeof(*v));
	v[at] = x;
	return n + 1;
}

static int read_can(struct brief *b, struct tlinput *ti)
{
	static const unsigned topics[] = {ABOUT_CPU, ABOUT_OFFCPU, ABOUT_TAIL};
	struct findings f;
	struct err e = {0};
	int rc = tlinput_findings(ti, ABOUT_CPU | ABOUT_OFFCPU | ABOUT_TAIL, &f, &e);
	for (size_t i = 0; i < 3 && !rc; i++)
		b->can[i] = findings_verdict(&f, topics[i]);
	findings_release(&f);
	return rc ? input_fail(&ti->in, &e) : 0;
}

static int read_functions(struct brief *b, struct tlinput *ti, const struct report_opts *o)
{
	struct report_opts plain = {.wait = o->wait, .top = -1};
	const struct table_query q = {.of = waits_population(ti, &o->wait),
				      .events = ti->events};
	struct rows r = {.kind = NULL};
	if (table_function_event(&ti->tl, &q) == NO_ID ||
	    report_functions_kind(ti, &plain, &q) == table_kind_of("function"))
		return 0;
	int rc = report_window_rows(ti, &plain, table_kind_of("function"), 0, &r);
	b->counts = r.kind == table_functions(0);
	for (uint32_t i = 0; i < r.keys.n && !rc; i++) {
		struct brief_row x = {
			.weight = rows_get(&r, i, b->counts ? COL_SELF_COUNT : COL_SELF),
			.kind = "function"};
		if (!x.weight)
			continue;
		name_of_function(&x.name, rows_text(&r, &ti->tl, i, COL_FUNCTION),
				 rows_text(&r, &ti->tl, i, COL_MODULE));
		b->cpu += x.weight;
		b->nfunctions = put_row(b->functions, b->nfunctions, ROWS, x);
	}
	rows_release(&r);
	return rc;
}

static int read_sites(struct brief *b, struct tlinput *ti, const struct report_opts *o)
{
	struct report_opts plain = {.wait = o->wait, .top = -1};
	struct rows r = {.kind = NULL};
	int rc = report_window_rows(ti, &plain, table_kind_of("site"), 0, &r);
	for (uint32_t i = 0; i < r.keys.n && !rc; i++) {
		struct brief_row x = {.weight = rows_get(&r, i, COL_TOTAL), .kind = "site"};
		if (r.keys.v[i].hidden || x.weight == CELL_NONE)
			continue;
		x.verdict = rows_text(&r, &ti->tl, i, COL_VERDICT);
		compared_row_name(&x.name, &ti->tl, &r, i);
		b->waiting += x.weight;
		b->nsites = put_row(b->sites, b->nsites, ROWS, x);
	}
	rows_release(&r);
	return rc;
}

static void add_links(struct brief *b, const struct timeline *tl, const struct explanation *x)
{
	for (size_t i = 0; i < x->chain.n && b->nlinks < LINKS; i++) {
		const struct chain_link *l = &x->chain.v[i];
		struct brief_row *to = &b->links[b->nlinks++];
		to->weight = l->ns;
		describe_thread(&to->name, tl, l->thread, l->comm);
		buf_fmt(&to->name, ": %s", part_state_name(l->state));
		if (*cause_name(l->cause))
			buf_fmt(&to->name, ", %s", cause_name(l->cause));
	}
}

static int read_worst(struct brief *b, struct tlinput *ti, const struct report_opts *o)
{
	const struct tail_opts opt = {.wait = o->wait, .by = "wait", .top = 1};
	struct tail_run run = {.opt = &opt, .ti = *ti};
	const struct explanation *x;
	uint32_t names[TAIL_NAMES];
	size_t n = 0;
	struct err e = {0};
	struct tail t;
	int rc = tail_ask_opened(&run, "report", names, &n, NULL);
	*ti = run.ti;
	if (rc)
		return rc;
	if (tail_make(&ti->tl, &run.query, &t, &e))
		return input_fail(&ti->in, &e);
	if (t.rows.n) {
		const struct episode *ep = &t.episodes.v.v[t.rows.v[0].episode];
		b->worst_ns = episode_ns(ep);
		episode_id_put(&b->episode, &ti->tl, EPISODE_WAIT, ep);
		describe_root_brief(&b->root, &t, &t.rows.v[0].root);
		rc = tail_explain_row(&t, 0, &x, &e) ? input_fail(&ti->in, &e) : 0;
		if (!rc)
			add_links(b, &ti->tl, x);
	}
	const struct site_sums *unclear = &t.episodes.apart.by[APART_UNCLEAR];
	if (!rc && unclear->v.n && unclear->v.v[0].max_ns > b->worst_ns)
		describe_site_frame(&b->unclear, &ti->tl, unclear->v.v[0].site);
	tail_release(&t);
	return rc;
}

/* --- writing ---------------------------------------------------------------------------- */

/* The first characters of a name, in visible form. */
static void put_cut(struct buf *b, const char *s, size_t len, size_t most)
{
	struct buf all = {0};
	escape_visible(&all, s, len);
	size_t n = escape_prefix(all.v, all.n, most);
	buf_add(b, all.v, n);
	if (n < all.n)
		buf_char(b, '~');
	buf_release(&all);
}

/* The same in Markdown, where it means nothing. */
static void put_code(struct buf *b, const char *s, size_t len)
{
	struct buf cut = {0};
	put_cut(&cut, s, len, NAME);
	escape_markdown_code(b, cut.v, cut.n);
	b->failed |= cut.failed;
	buf_release(&cut);
}

static void put_weight(struct buf *b, uint64_t weight, int counts)
{
	if (counts)
		units_count(b, weight);
	else
		units_duration(b, weight);
}

/* "CPU time 3.0 s; waiting 12.1 s; worst wait 40 ms: app: lock in f()". */
static void put_headline(struct buf *b, const struct brief *x, int markdown)
{
	if (x->nfunctions) {
		buf_str(b, x->counts ? "events " : "CPU time ");
		put_weight(b, x->cpu, x->counts);
	}
	if (x->nsites) {
		buf_str(b, x->nfunctions ? "; waiting " : "waiting ");
		units_duration(b, x->waiting);
	}
	if (x->worst_ns) {
		buf_str(b, "; worst wait ");
		units_duration(b, x->worst_ns);
		buf_str(b, ": ");
		if (markdown)
			put_code(b, x->root.v, x->root.n);
		else
			put_cut(b, x->root.v, x->root.n, NAME);
	}
	if (!x->nfunctions && !x->nsites)
		buf_str(b, "neither CPU samples nor waits");
}

/* The nth command that says more; 0: there is none. */
static int put_command(struct buf *b, const struct brief *x, size_t nth)
{
	const struct {
		const char *verb;
		const struct buf *value; /* NULL: none */
		int has;
	} v[] = {
		{"tail", NULL, x->worst_ns > 0},
		{"tail --work-frame", &x->unclear, x->unclear.n > 0},
		{"tail --episode", &x->episode, x->worst_ns > 0},
		{"source --tail", NULL, x->worst_ns > 0},
		{"report --by site", NULL, x->nsites > 0},
		{"source", NULL, x->nfunctions > 0},
		{"doctor", NULL, 1},
	};
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		if (!v[i].has || nth--)
			continue;
		buf_fmt(b, "perfkit %s ", v[i].verb);
		if (v[i].value) {
			buf_add(b, v[i].value->v, v[i].value->n);
			buf_char(b, ' ');
		}
		if (strlen(x->path) > 2 * NAME || !shell_is_printable(x->path))
			buf_str(b, "FILE");
		else
			shell_word(b, x->path);
		return 1;
	}
	return 0;
}

static void markdown_rows(struct buf *b, const char *title, const struct brief_row *v, size_t n,
			  size_t most, int counts)
{
	if (n)
		buf_fmt(b, "\n## %s\n", title);
	for (size_t i = 0; i < n && i < most; i++) {
		buf_str(b, "- ");
		put_weight(b, v[i].weight, counts);
		buf_str(b, "  ");
		put_code(b, v[i].name.v, v[i].name.n);
		if (v[i].kind) {
			buf_str(b, "  ");
			name_id(b, v[i].kind, v[i].name.v, v[i].name.n);
		}
		if (v[i].verdict)
			buf_fmt(b, "  %s", v[i].verdict);
		buf_char(b, '\n');
	}
}

static void put_markdown(struct buf *b, const struct brief *x, size_t most)
{
	buf_str(b, "# ");
	put_code(b, x->path, strlen(x->path));
	buf_char(b, '\n');
	units_duration(b, x->recorded_ns);
	buf_str(b, " recorded");
	for (size_t i = 0; i < 3; i++)
		buf_fmt(b, "; %s: %s", questions[i], x->can[i] ? x->can[i] : "-");
	buf_str(b, "\n\n");
	put_headline(b, x, 1);
	buf_char(b, '\n');
	markdown_rows(b, "functions, self", x->functions, x->nfunctions, most, x->counts);
	markdown_rows(b, "wait sites", x->sites, x->nsites, most, 0);
	markdown_rows(b, "worst wait", x->links, x->nlinks, most + 1, 0);
	buf_str(b, "\n## next\n```\n");
	for (size_t i = 0; put_command(b, x, i); i++)
		buf_char(b, '\n');
	buf_str(b, "```\n");
}

static void json_rows(struct json *j, const char *key, const struct brief_row *v, size_t n,
		      size_t most, const char *unit)
{
	struct buf name = {0};
	json_open(j, key, '[');
	for (size_t i = 0; i < n && i < most; i++) {
		buf_clear(&name);
		put_cut(&name, v[i].name.v, v[i].name.n, NAME);
		json_open(j, NULL, '{');
		json_text(j, "name", name.v, name.n);
		if (v[i].kind) {
			buf_clear(&name);
			name_id(&name, v[i].kind, v[i].name.v, v[i].name.n);
			json_text(j, "id", name.v, name.n);
		}
		json_u64(j, unit, v[i].weight);
		if (v[i].verdict)
			json_str(j, "verdict", v[i].verdict);
		json_close(j, '}');
	}
	json_close(j, ']');
	buf_release(&name);
}

static void put_json(struct buf *b, const struct brief *x, size_t most)
{
	struct json j = {.b = b};
	struct buf text = {0};
	json_open(&j, NULL, '{');
	json_u64(&j, "schema", 1);
	put_cut(&text, x->path, strlen(x->path), NAME);
	json_text(&j, "file", text.v, text.n);
	json_u64(&j, "recorded_ns", x->recorded_ns);
	json_open(&j, "can", '{');
	for (size_t i = 0; i < 3; i++)
		json_str(&j, questions[i], x->can[i]);
	json_close(&j, '}');
	buf_clear(&text);
	put_headline(&text, x, 0);
	json_text(&j, "headline", text.v, text.n);
	json_rows(&j, "functions", x->functions, x->nfunctions, most,
		  x->counts ? "self" : "self_ns");
	json_rows(&j, "sites", x->sites, x->nsites, most, "ns");
	if (x->worst_ns)
		json_text(&j, "episode", x->episode.v, x->episode.n);
	else
		json_null(&j, "episode");
	json_rows(&j, "worst", x->links, x->nlinks, most + 1, "ns");
	json_open(&j, "next", '[');
	for (size_t i = 0;; i++) {
		buf_clear(&text);
		if (!put_command(&text, x, i))
			break;
		json_text(&j, NULL, text.v, text.n);
	}
	json_close(&j, ']');
	json_close(&j, '}');
	buf_char(b, '\n');
	buf_release(&text);
}

/* With fewer rows if it were too long. */
static int put_brief(const struct brief *x)
{
	struct buf b = {0};
	struct err e = {0};
	for (size_t most = ROWS + 1; most-- > 0 && !buf_failed(&b);) {
		buf_clear(&b);
		(x->json ? put_json : put_markdown)(&b, x, most);
		if (b.n <= BRIEF_MOST)
			break;
	}
	int failed = buf_failed(&b);
	if (!failed)
		fwrite(b.v, 1, b.n, stdout);
	buf_release(&b);
	return failed ? input_fail(NULL, (err_nomem(&e), &e)) : 0;
}

static void release(struct brief *b)
{
	for (size_t i = 0; i < b->nfunctions; i++)
		buf_release(&b->functions[i].name);
	for (size_t i = 0; i < b->nsites; i++)
		buf_release(&b->sites[i].name);
	for (size_t i = 0; i < b->nlinks; i++)
		buf_release(&b->links[i].name);
	buf_release(&b->root);
	buf_release(&b->episode);
	buf_release(&b->unclear);
}

int report_brief(const struct report_opts *o, const char *path)
{
	struct brief b = {.path = input_shown(path), .json = o->json};
	struct tlinput ti;
	int rc = tlinput_open(&ti, "report", &o->wait.tl, path, &tlinput_report);
	if (rc)
		return rc;
	b.recorded_ns = timeline_recorded_ns(&ti.tl);
	rc = tlinput_only_one(&ti, "report");
	rc = rc ? rc : read_can(&b, &ti);
	rc = rc ? rc : read_functions(&b, &ti, o);
	if (!rc && !timeline_answerable(&ti.tl, 1, NULL)) {
		rc = read_sites(&b, &ti, o);
		rc = rc ? rc : read_worst(&b, &ti, o);
	}
	rc = rc ? rc : put_brief(&b);
	rc = rc ? rc : input_status(&ti.in);
	release(&b);
	tlinput_close(&ti);
	return rc;
}
