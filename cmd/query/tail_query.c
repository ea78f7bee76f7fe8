#include "cmd/query/tail_query.h"
#include "base/text/nearest.h"
#include "cmd/cli/say.h"
#include "cmd/query/caption.h"
#include "cmd/query/tail_spans.h"
#include "libtime/explain/episode_id.h"
#include "render/text/units.h"

#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(struct tail_opts, field)
const struct opt tail_pick_rows[] = {
	OPT_HEADING("Episodes"),
	{"by", 0, OPT_STRING, AT(by), "wait|activation|gap|span[:NAME]|window[:NAME]",
	 "what an episode is (default: wait, or the only span):\n"
	 "a wait; an activation: what a thread does between two waits at rest; a span; a "
	 "window: the part of a span in which no one thread worked on it; a gap: time for "
	 "which a jitter sampler lacked its CPU (--with)"},
	{"p50", 0, OPT_PRESET, AT(preset), NULL, "episodes at or above the median"},
	{"p90", 0, OPT_PRESET, AT(preset), NULL, "those at or above the 90th percentile"},
	{"p95", 0, OPT_PRESET, AT(preset), NULL, "the 95th"},
	{"p99", 0, OPT_PRESET, AT(preset), NULL, "those at or above the 99th percentile"},
	{"p999", 0, OPT_PRESET, AT(preset), NULL,
	 "those at or above it (default); any: --p99, --p99.95"},
	{"p9999", 0, OPT_PRESET, AT(preset), NULL, "the 99.99th"},
	{"p", 0, OPT_SUFFIX, AT(preset), NULL, NULL},
	{"pct", 0, OPT_STRING, AT(pct), "X", "the Xth: --pct 99.95 is --p99.95"},
	{"over", 0, OPT_STRING, AT(over), "DUR", "those that lasted at least DUR: 500us, 2ms"},
	{"key", 0, OPT_STRING, AT(key), "ID", "the spans of one key (request id, trace id)"},
	{"episode", 0, OPT_STRING, AT(episode), "ID",
	 "one episode: THREAD+START as rows have it (8859+0.5392),\nor its id in JSON: "
	 "wait:8859+0.539214456"},
	{"where", 0, OPT_EACH, AT(where), "LABEL=VALUE",
	 "only spans with this label (repeatable)"},
	{"open", 0, OPT_FLAG, AT(open), NULL,
	 "also those cut off by the recording's edge\nor by lost records, with the length "
	 "observed"},
	OPT_END,
};

static int usage(const struct tail_run *r, const char *what, const char *arg)
{
	say_line("perfkit %s: %s%s (see: perfkit help %s)", r->verb, what, arg, r->verb);
	return 2;
}

/* --- what is asked -------------------------------------------------------------------- */

/* "p50", "p99.9" and "p999": without a point, digits after the first two are decimals if the
 * first is a 9. */
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
	int given = !!o->preset + !!o->pct + !!o->over + !!o->key + !!o->episode +
		    (o->top != TAIL_NO_TOP);
	*p = (struct episode_pick){.kind = PICK_PERCENTILE,
				   .millipercent = 99900,
				   .least = given || o->open ? 0 : PICK_LEAST,
				   .unusual = !given && !o->open,
				   .dirty = o->open || o->episode};
	if (given > 1)
		return usage(r,
			     "give only one of --p50 ... --p9999, --pct, --over, --key, "
			     "--episode and --top",
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
	if (o->episode) {
		p->kind = PICK_ID;
		if (!episode_id_parse(o->episode, &p->id))
			return usage(r,
				     "--episode takes THREAD+START like 8859+0.539214, or an "
				     "id of JSON, not ",
				     o->episode);
	}
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

/* `option` takes `what`; suggest the one of `words`, its plain values, that is nearest. */
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

/* Check and parse the options before the recording is read. */
static int parse(struct tail_run *r)
{
	const struct tail_opts *o = r->opt;
	struct tail_query *q = &r->query;
	const char *by = o->by ? o->by : "";
	int spans = is_by(by, "span") || is_by(by, "window");
	if (*by && strcmp(by, "wait") && strcmp(by, "activation") && strcmp(by, "gap") &&
	    !spans)
		return not_one_of(
			r, "by",
			"wait, activation, gap, span, span:NAME, window or window:NAME",
			"wait activation gap span window", by);
	if (*by && !spans && (o->key || o->where.n))
		return usage(r, "--key and --where choose spans, not --by ", by);
	if (o->json && o->csv)
		return usage(r, "--json and --csv exclude each other", "");
	int rc = parse_group(r);
	rc = rc ? rc : parse_pick(r, &q->pick);
	return rc ? rc : parse_show(r, &q->show);
}

/* Refuse, unless forced, if most of the selected tail was not recorded completely; or if nothing
 * has the id. */
int tail_refuse(const struct tail_run *r, const struct tail *t)
{
	const struct episode_selection *s = &t->selection;
	struct buf pct = {0};
	if (r->query.pick.kind == PICK_ID && !s->v.n) {
		say_line("perfkit %s: no %s is %s; filters may leave it out, or it is of "
			 "another --by",
			 r->verb, episode_kind_name(r->query.episodes.kind), r->opt->episode);
		return 3;
	}
	if (!s->uncertain || r->query.pick.dirty)
		return 0;
	units_percent(&pct, r->query.pick.millipercent);
	say("cannot say what p%s is: of %llu episodes that long, %llu are open or "
	    "suspect (cut off by the recording's edge, or next to missing records); ask "
	    "for --top N, a lower percentile or fewer threads (--comm, --pid), or record "
	    "for longer (perfkit doctor says what would help)%s",
	    buf_cstr(&pct), (unsigned long long)(s->whole + s->dirty),
	    (unsigned long long)s->dirty,
	    r->opt->wait.tl.in.force ? "" : "; --open, --force go on");
	buf_release(&pct);
	return r->opt->wait.tl.in.force ? 0 : 3;
}

int tail_ask(struct tail_run *r, const char *verb, const char *path, uint32_t *names, size_t *n,
	     int *several)
{
	r->verb = verb;
	int rc = parse(r);
	if (!rc)
		rc = tlinput_open(&r->ti, verb, &r->opt->wait.tl, path,
				  r->says_unnamed ? &tlinput_tail : &tlinput_times);
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
	enum episode_kind kind = r->query.episodes.kind;
	if (many || kind == EPISODE_SPAN || kind == EPISODE_WINDOW || kind == EPISODE_GAP)
		tl_meant_by_spans(&r->ti);
	r->query.episodes.of.meant = r->ti.meant;
	if (!rc && many && !several)
		rc = tail_list_names(r, "choose one with --by span:NAME", names, *n);
	if (!rc && r->query.episodes.kind == EPISODE_GAP && !r->threadless)
		rc = usage(r,
			   "gaps are of CPUs, not of threads: only tail and timeline --tail "
			   "show them",
			   "");
	if (!rc && r->query.episodes.kind == EPISODE_GAP &&
	    tlinput_asks_threads(&r->opt->wait.tl))
		rc = usage(r, TLINPUT_GAPS_OF_CPUS, "");
	if (!rc && !several && r->query.episodes.kind == EPISODE_WINDOW && !r->threadless)
		rc = usage(r, "these spans are windows, of no one thread", "");
	if (!rc && r->opt->wait.tl.site && (many || r->query.episodes.kind != EPISODE_WAIT))
		rc = usage(r, "--site chooses waits: it needs --by wait", "");
	if (several)
		*several = many;
	return rc;
}

int tail_is_threadless(const struct tail_run *r)
{
	enum episode_kind kind = r->query.episodes.kind;
	return kind == EPISODE_WINDOW || kind == EPISODE_GAP;
}

int tail_explain(struct tail_run *r, struct tail *t, struct err *e)
{
	struct progress p;
	progress_start(&p, "explaining", input_shows_progress(&r->opt->wait.tl.in));
	int rc = tail_make(&r->ti.tl, &r->query, t, e);
	progress_end(&p);
	return rc;
}

int tail_take(struct tail_run *r, struct tail *t)
{
	struct err e = {0};
	int rc = tail_explain(r, t, &e) ? input_fail(&r->ti.in, &e) : 0;
	if (!rc && (rc = tail_refuse(r, t)))
		tail_release(t);
	return rc;
}

int tail_open(struct tail_run *r, const char *verb, const char *path, struct tail *t)
{
	uint32_t names[TAIL_NAMES];
	size_t n = 0;
	int rc = tail_ask(r, verb, path, names, &n, NULL);
	if (rc)
		return rc;
	rc = tail_take(r, t);
	if (rc)
		tlinput_close(&r->ti);
	return rc;
}

size_t tail_ranked(const struct tail_run *r, const struct tail *t)
{
	return r->query.pick.dirty ? t->episodes.v.n : t->episodes.clean.n;
}

void tail_what(const struct tail_run *r, const struct tail *t, struct buf *b)
{
	buf_fmt(b, "time inside the %zu worst of %zu episodes (by %s)", t->rows.n,
		tail_ranked(r, t), episode_kind_name(r->query.episodes.kind));
}

void tail_filters(const struct tlinput *ti, const struct tail_opts *o, struct buf *b)
{
	filters_all(b, ti, &o->wait);
	filters_list(b, "where", &o->where);
}
