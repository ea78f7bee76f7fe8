/*
 * tail.c - `perfkit tail`: the worst episodes of a recording, and what made them so.
 */
#include "base/mem.h"
#include "base/nearest.h"
#include "base/outfile.h"
#include "cmd/tail_out.h"
#include "cmd/tail_spans.h"
#include "cmd/verbs.h"
#include "cmd/input/output.h"
#include "cmd/cli/say.h"
#include "render/text/escape.h"
#include "render/tail/tail_json.h"
#include "render/tail/window_text.h"
#include "render/text/units.h"

#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(struct tail_opts, field)
const struct opt tail_pick_rows[] = {
	OPT_HEADING("Episodes"),
	{"by", 0, OPT_STRING, AT(by), "wait|activation|span[:NAME]|window[:NAME]",
	 "what an episode is: a wait; a thread's work between two\nidle waits; a span "
	 "(default: span if the recording has spans\nof exactly one name, else wait); a "
	 "window: the time of a span\nthat no single thread worked on, and what threads did in "
	 "it"},
	{"p50", 0, OPT_PRESET, AT(preset), NULL, "episodes at or above the median,"},
	{"p90", 0, OPT_PRESET, AT(preset), NULL, "the 90th percentile,"},
	{"p95", 0, OPT_PRESET, AT(preset), NULL, "the 95th,"},
	{"p99", 0, OPT_PRESET, AT(preset), NULL, "the 99th,"},
	{"p999", 0, OPT_PRESET, AT(preset), NULL, "the 99.9th (default; also --p99.9),"},
	{"p9999", 0, OPT_PRESET, AT(preset), NULL, "the 99.99th"},
	{"p", 0, OPT_SUFFIX, AT(preset), NULL, NULL},
	{"pct", 0, OPT_STRING, AT(pct), "X", "or the Xth: --pct 99.95, --p99.95"},
	{"over", 0, OPT_STRING, AT(over), "DUR",
	 "episodes that lasted at least DUR: 500us, 2ms"},
	{"key", 0, OPT_STRING, AT(key), "ID", "the spans of one key (request id, trace id)"},
	{"where", 0, OPT_EACH, AT(where), "LABEL=VALUE",
	 "only spans with this label rank (repeatable)"},
	{"open", 0, OPT_FLAG, AT(open), NULL,
	 "include episodes cut off by the recording's edge or by\nlost records, with their "
	 "observed length"},
	OPT_END,
};

static const struct opt rows[] = {
	OPT_HEADING("Episodes"),
	{"top", 0, OPT_U64, AT(top), "N", "the N longest episodes; 0 = all"},
	OPT_HEADING("Output"),
	{"group", 0, OPT_STRING, AT(group), "root|holder|stack|cause|thread|comm|label:KEY",
	 "what the worst episodes are counted by (default root: the\nchain's end; holder: who "
	 "held them up directly, which is the\nowner of the lock, the waker or who had the "
	 "CPU; label:KEY: of spans)"},
	{"hist", 0, OPT_FLAG, AT(hist), NULL,
	 "print a histogram of all episodes (powers of 2)"},
	{"rows", 'n', OPT_U64, AT(rows), "N", "lines in each table (default 20; 0 = all)"},
	{"details", 0, OPT_U64, AT(details), "N", "explain N episodes in full (default 3)"},
	{"why", 0, OPT_FLAG, AT(why), NULL,
	 "say for each explained episode why its wait is taken for work"},
	{"stacks", 0, OPT_STRING, AT(stacks), "short|full", "stacks in the explanations"},
	{"json", 0, OPT_FLAG, AT(json), NULL,
	 "print JSON (schema 2): all selected episodes, or --rows"},
	{"csv", 0, OPT_FLAG, AT(csv), NULL, "print CSV, one line per episode: all, or --rows"},
	{"svg", 0, OPT_OUTPUT, AT(svg), "FILE",
	 "draw timelines of the worst episodes into FILE (10, or\n--rows)"},
	{"flame", 0, OPT_OUTPUT, AT(flame), "FILE",
	 "draw a flame graph of the selected episodes into FILE"},
	OPT_END,
};

static int usage(const struct tail_run *r, const char *what, const char *arg)
{
	say_line("perfkit %s: %s%s (see: perfkit help %s)", r->verb, what, arg, r->verb);
	return 2;
}

static int fail(const struct err *e)
{
	return input_fail(NULL, e);
}

/* --- what is asked -------------------------------------------------------------------------
 */

/* "p50", "p99.9" and, as people say it, "p999": without a point, what follows two digits of
 * which the first is a 9 are decimals. */
static int preset_percent(const char *name, uint32_t *out)
{
	const char *digits = name + 1;
	char text[32];
	if (strlen(digits) < 3 || *digits != '9' || strchr(digits, '.'))
		return units_parse_percent(digits, out);
	snprintf(text, sizeof(text), "%.2s.%.20s", digits, digits + 2);
	return units_parse_percent(text, out);
}

#define NOT_PERCENT "a percentile is above 0 and at most 100, with up to 3 decimals: not "

static int parse_pick(const struct tail_run *r, struct episode_pick *p)
{
	const struct tail_opts *o = r->opt;
	int given = !!o->preset + !!o->pct + !!o->over + !!o->key + (o->top != TAIL_NO_TOP);
	*p = (struct episode_pick){
		.kind = PICK_PERCENTILE, .millipercent = 99900, .dirty = o->open};
	if (given > 1)
		return usage(r,
			     "give only one of --p50 ... --p9999, --pct, --over, --key "
			     "and --top",
			     "");
	if (o->preset && preset_percent(o->preset, &p->millipercent))
		return usage(r, NOT_PERCENT, o->preset + 1);
	if (o->pct && units_parse_percent(o->pct, &p->millipercent))
		return usage(r, NOT_PERCENT, o->pct);
	if (o->over) {
		p->kind = PICK_OVER;
		if (units_parse_duration(o->over, &p->ns))
			return usage(r, "--over takes a duration like 500us or 2ms, not ",
				     o->over);
	}
	if (o->key)
		p->kind = PICK_KEY;
	if (o->top != TAIL_NO_TOP) {
		p->kind = PICK_TOP;
		p->top = o->top ? o->top : UINT64_MAX;
	}
	return 0;
}

static int parse_show(const struct tail_run *r, struct tail_show *s)
{
	const struct tail_opts *o = r->opt;
	*s = (struct tail_show){0};
	struct err why = {0};
	if (waits_causes(&o->wait.causes, &s->causes, &why))
		return usage(r, "", why.msg);
	for (size_t i = 0; i < o->wait.states.n; i++) {
		unsigned k = 0;
		while (k <= PART_UNKNOWN && strcmp(part_state_name(k), o->wait.states.v[i]))
			k++;
		if (k > PART_UNKNOWN) {
			struct err e = {0};
			waits_no_state(o->wait.states.v[i],
				       "running blocked runnable preempted unknown", &e);
			return usage(r, e.msg, "");
		}
		s->states |= 1u << k;
	}
	return 0;
}

/* `option` takes `what`, of which `words` are the plain ones: what was meant? */
static int not_one_of(const struct tail_run *r, const char *option, const char *what,
		      const char *words, const char *given)
{
	char word[16];
	const char *near = nearest_in(words, given, word, sizeof(word));
	say_line("perfkit %s: --%s is %s, not %s%s%s%s (see: perfkit help %s)", r->verb, option,
		 what, given, near ? "; did you mean '" : "", near ? near : "",
		 near ? "'?" : "", r->verb);
	return 2;
}

static int parse_group(struct tail_run *r)
{
	const char *group = r->opt->group;
	int by = group ? tail_group_of(group) : GROUP_ROOT;
	if (group && !strncmp(group, "label:", 6))
		by = GROUP_LABEL;
	else if (by < 0 || by == GROUP_LABEL)
		return not_one_of(r, "group",
				  "root, holder, stack, cause, thread, comm or label:KEY",
				  "root holder stack cause thread comm label:", group);
	r->query.group_by = (enum tail_group_by)by;
	return 0;
}

/* "span" or "span:NAME". */
static int is_by(const char *by, const char *kind)
{
	size_t n = strlen(kind);
	return !strncmp(by, kind, n) && (!by[n] || by[n] == ':');
}

/* What can be checked before the recording is read. */
static int parse(struct tail_run *r)
{
	const struct tail_opts *o = r->opt;
	struct tail_query *q = &r->query;
	const char *by = o->by ? o->by : "";
	int spans = is_by(by, "span") || is_by(by, "window");
	if (*by && strcmp(by, "wait") && strcmp(by, "activation") && !spans)
		return not_one_of(r, "by",
				  "wait, activation, span, span:NAME, window or window:NAME",
				  "wait activation span window", by);
	if (*by && !spans && (o->key || o->where.n))
		return usage(r, "--key and --where choose spans, not --by ", by);
	if (o->json && o->csv)
		return usage(r, "--json and --csv exclude each other", "");
	int rc = parse_group(r);
	rc = rc ? rc : parse_pick(r, &q->pick);
	return rc ? rc : parse_show(r, &q->show);
}

/* --- several names -------------------------------------------------------------------------
 */

/* Several span names and none chosen: percentiles of each. */
static int each_name(struct tail_run *r, const uint32_t *names, size_t n)
{
	struct buf b = {0};
	struct err e = {0};
	int rc = 0;
	for (size_t i = 0; !rc && i < n; i++) {
		struct tail t = {.tl = &r->ti.tl};
		r->query.episodes.span = names[i];
		r->query.episodes.kind = EPISODE_SPAN;
		tail_settle_kind(r);
		rc = episodes_collect(t.tl, &r->query.episodes, &t.episodes, &e);
		if (!rc)
			tailout_population(r, &t, &b);
		buf_char(&b, '\n');
		tail_release(&t);
	}
	if (!rc && !buf_failed(&b)) {
		fwrite(b.v, 1, b.n, stdout);
		printf("several spans: choose one with --by span:NAME\n");
	}
	rc = rc || buf_failed(&b) ? fail(&e) : 0;
	buf_release(&b);
	return rc;
}

/* --- answers -------------------------------------------------------------------------------
 */

/* The selected tail rests on what was not seen whole: no number, unless forced. */
int tail_refuse(const struct tail_run *r, const struct tail *t)
{
	const struct episode_selection *s = &t->selection;
	struct buf pct = {0};
	if (!s->cannot_say || r->query.pick.dirty)
		return 0;
	units_percent(&pct, r->query.pick.millipercent);
	say("cannot say what p%s is: of %llu episodes that long, %llu are open or "
	    "suspect (cut by the recording's edge, or records are missing there); "
	    "--top N, a lower percentile or a population (--comm, --pid) can be asked, a "
	    "longer recording with a larger -m would help%s",
	    buf_cstr(&pct), (unsigned long long)(s->v.n + s->dirty),
	    (unsigned long long)s->dirty,
	    r->opt->wait.tl.in.force ? "" : "; --open, --force go on");
	buf_release(&pct);
	return r->opt->wait.tl.in.force ? 0 : 3;
}

static int draw(const struct tail_opts *o, struct tail *t, struct err *e)
{
	struct tl_svg_options so;
	tl_svg_defaults(&so);
	struct buf filters = {0};
	tailout_filters(o, &filters);
	so.title = "The worst episodes";
	so.filters = buf_cstr(&filters);
	so.no_unclear = o->wait.no_unclear;
	int rc = tailout_svg(t, o->rows_given && o->rows ? (size_t)o->rows : TAIL_PANELS,
			     o->svg, &so, e);
	buf_release(&filters);
	return rc;
}

/* Windows are explained by what threads did in them: text or JSON. */
static int answer_windows(struct tail_run *r)
{
	const struct tail_opts *o = r->opt;
	struct tail t = {.tl = &r->ti.tl};
	struct err e = {0};
	struct buf b = {0};
	if (o->csv || o->svg || o->flame || o->hist || o->group)
		return usage(r,
			     "these spans are windows, no single thread's work: they have no "
			     "--csv, --svg, --flame, --hist or --group",
			     "");
	int rc = episodes_collect(t.tl, &r->query.episodes, &t.episodes, &e);
	rc = rc ? rc : episodes_select(&t.episodes, t.tl, &r->query.pick, &t.selection, &e);
	struct windows_answer a = {
		t.tl,          &t.episodes, &t.selection, (size_t)o->rows, (size_t)o->details,
		output_width()};
	a.rows = o->json && !o->rows_given ? 0 : a.rows;
	if (!rc && !o->json) {
		buf_fmt(&b, "tail by window in %s\n", tailout_file(r));
		tailout_population(r, &t, &b);
	}
	rc = rc ? rc : o->json ? windows_json(&b, &a, &e) : windows_text(&b, &a, &e);
	if (!rc)
		fwrite(b.v, 1, b.n, stdout);
	buf_release(&b);
	tail_release(&t);
	return rc ? fail(&e) : 0;
}

static int answer(struct tail_run *r)
{
	if (r->query.episodes.kind == EPISODE_WINDOW)
		return answer_windows(r);
	struct tail t;
	struct err e = {0};
	struct buf b = {0};
	const struct tail_opts *o = r->opt;
	if (tail_make(&r->ti.tl, &r->query, &t, &e))
		return fail(&e);
	int refused = tail_refuse(r, &t);
	if (refused)
		t.rows.n = t.groups.n = 0;
	int rc = o->json  ? tailjson_write(&b, &t, o->rows_given ? o->rows : 0, &e)
		 : o->csv ? tailcsv_write(&b, &t, o->rows_given ? o->rows : 0, &e)
			  : tailout_text(r, &t, &b, &e);
	if (!rc)
		fwrite(b.v, 1, b.n, stdout);
	if (!rc && o->flame && !refused)
		rc = tailout_flame(r, &t, &e);
	if (!rc && o->svg && !refused)
		rc = draw(o, &t, &e);
	rc = rc ? fail(&e) : refused;
	buf_release(&b);
	tail_release(&t);
	return rc;
}

int tail_ask(struct tail_run *r, const char *verb, const char *path, uint32_t *names, size_t *n,
	     int *several)
{
	r->verb = verb;
	int rc = parse(r);
	if (!rc)
		rc = tlinput_open(&r->ti, verb, &r->opt->wait.tl, path, 1);
	if (rc)
		return rc;
	rc = tail_ask_opened(r, verb, names, n, several);
	if (rc)
		tlinput_close(&r->ti);
	return rc;
}

int tail_ask_opened(struct tail_run *r, const char *verb, uint32_t *names, size_t *n,
		    int *several)
{
	int many = 0;
	r->verb = verb;
	int rc = parse(r);
	if (rc)
		return rc;
	r->query.episodes.of = waits_population(&r->ti, &r->opt->wait);
	r->query.episodes.of.ranked = 1;
	rc = tail_choose(r, names, n, &many);
	if (!rc && many && !several)
		rc = tail_list_names(r, "choose one with --by span:NAME", names, *n);
	if (!rc && !several && r->query.episodes.kind == EPISODE_WINDOW &&
	    strcmp(verb, "tail") != 0)
		rc = usage(r, "these spans are windows, no single thread's work", "");
	if (several)
		*several = many;
	return rc;
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	struct tail_opts o = *(const struct tail_opts *)opts;
	struct tail_run r = {.opt = &o};
	uint32_t names[TAIL_NAMES];
	size_t n = 0;
	int several = 0;
	o.rows_given = o.rows != UINT64_MAX;
	if (!o.rows_given)
		o.rows = 20;
	const char *path = nfiles               ? files[0]
			   : o.wait.tl.in.input ? o.wait.tl.in.input
						: "perf.data";
	int one = o.json || o.csv || o.svg || o.flame;
	int rc = tail_ask(&r, "tail", path, names, &n, one ? NULL : &several);
	if (rc)
		return rc;
	if (o.json || o.csv)
		tlinput_say_spoilt(&r.ti);
	rc = several ? each_name(&r, names, n) : answer(&r);
	if (!rc)
		rc = input_status(&r.ti.in);
	tlinput_close(&r.ti);
	return rc;
}

static void defaults(void *opts)
{
	struct tail_opts *o = opts;
	o->rows = UINT64_MAX;
	o->top = TAIL_NO_TOP;
	o->details = 3;
}

const struct verb verb_tail = {
	.name = "tail",
	.brief = "explain the worst episodes: when, how long, why, who caused them",
	.usage = "[options] [FILE]",
	.text = "Ranks the waits of all threads (or spans, or activations), prints "
		"percentiles, and\n"
		"explains the worst: where the time went, who woke the thread, who had its "
		"CPU, and\n"
		"the chain of threads back to the root cause. Thread, process, CPU and time "
		"filters\n"
		"choose which episodes are ranked; --cause and --state choose which of the "
		"worst are\n"
		"shown. Idle waits (a thread waiting for work in its main loop) are hidden.",
	.examples = "  perfkit tail perf.data\n"
		    "  perfkit tail --p99 --comm server perf.data\n"
		    "  perfkit tail --comm server --over 5ms --group thread run.db\n"
		    "  perfkit tail --by activation --json perf.data",
	.tables = {tail_pick_rows, rows, wait_rows, tlinput_rows, input_rows},
	.options_size = sizeof(struct tail_opts),
	.max_files = 1,
	.modes = {{"", "group hist details stacks"},
		  {"json", "group hist details stacks"}, /* how the text looks is not an */
		  {"csv", "hist details stacks"},        /* error where there is none */
		  {NULL, "event label"}},
	.run = run,
	.defaults = defaults,
};
