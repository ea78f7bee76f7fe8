#include "cmd/query/side_input.h"
#include "cmd/cli/say.h"
#include "cmd/input/input_kind.h"
#include "libtime/join/side_file.h"
#include "render/text/units.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* "CLOCK_MONOTONIC, exact", "CLOCK_REALTIME, within 1.0 us". */
static void clock_words(struct buf *b, const struct side_option *o, const struct side_report *r)
{
	buf_str(b, side_clock_name(r->map.from));
	if (o->has_offset)
		buf_fmt(b, " moved by %" PRId64 " ns", o->offset_ns);
	if (r->map.guessed)
		buf_str(b, " (assumed: on no other do they lie in the recording)");
	buf_str(b, r->map.error_ns ? ", within " : ", exact");
	if (r->map.error_ns)
		units_duration(b, r->map.error_ns);
}

/* Warn of trampolines that label nothing. */
static void say_unseen(struct tlinput *ti, const struct side_option *o,
		       const struct side_report *r)
{
	const struct side_bound *x = &r->bound;
	struct buf b = {0};
	if (x->unmatched)
		buf_fmt(&b,
			"%" PRIu64 " of %" PRIu64 " trampolines are of a process that was "
			"not recorded",
			x->unmatched, x->trampolines);
	else if (x->unseen == x->trampolines && x->unseen && !x->shared)
		buf_fmt(&b,
			"no recorded stack has one of its %" PRIu64 " trampolines (stacks "
			"by frame pointers need -fno-omit-frame-pointer)",
			x->unseen);
	if (x->shared) {
		buf_fmt(&b,
			"%s%" PRIu64 " of %" PRIu64
			" trampolines share a function with others: "
			"stacks do not say which of them was called",
			b.n ? "; " : "", x->shared, x->trampolines);
	}
	if (r->unbound) {
		buf_str(&b, b.n ? "; " : "");
		units_plural(&b, r->unbound, "label", "labels");
		buf_str(&b, " found no free trampoline");
	}
	if (b.n)
		input_warn(&ti->in, "%s: %s", o->path.v, buf_cstr(&b));
	buf_release(&b);
}

static void say_taken(struct tlinput *ti, const struct side_option *o,
		      const struct side_report *r)
{
	struct buf b = {0};
	if (ti->opt->in.quiet)
		return;
	if (r->placed.gaps) {
		units_plural(&b, r->placed.gaps, "gap", "gaps");
	} else if (r->bound.bindings) {
		units_plural(&b, r->bound.bindings, "binding of ", "bindings of ");
		units_plural(&b, r->bound.trampolines, "trampoline", "trampolines");
	} else {
		units_plural(&b, r->counts.spans, "span", "spans");
	}
	buf_str(&b, " on ");
	clock_words(&b, o, r);
	if (r->placed.rough) {
		buf_str(&b, "; each somewhere in an interval of ");
		units_duration(&b, r->placed.length_ns);
	}
	if (r->counts.outside + r->placed.outside) {
		buf_str(&b, "; ");
		units_count(&b, r->counts.outside + r->placed.outside);
		buf_str(&b, " more are outside of the recording");
	}
	say("%s: %s", o->path.v, buf_cstr(&b));
	buf_release(&b);
}

/* Warn of spans without a thread. */
static void say_windows(struct tlinput *ti, const struct side_option *o,
			const struct side_counts *c)
{
	struct buf b = {0};
	if (c->unmatched) {
		units_count(&b, c->unmatched);
		buf_str(&b, " name a thread or process that is not in the recording, or "
			    "that is there twice");
	}
	if (c->threadless) {
		buf_str(&b, b.n ? "; " : "");
		units_count(&b, c->threadless);
		buf_str(&b, " name no thread");
	}
	if (c->overlapped) {
		buf_str(&b, b.n ? "; " : "");
		units_count(&b, c->overlapped);
		buf_str(&b, " overlap others of their thread");
	}
	if (b.n && !ti->opt->in.quiet)
		say("%s: %s: ask about these with --by window", o->path.v, buf_cstr(&b));
	buf_release(&b);
}

static void warn_bad(struct tlinput *ti, const struct side_option *o,
		     const struct side_report *r)
{
	struct buf b = {0};
	if (!r->bad.n)
		return;
	for (size_t i = 0; i < r->bad.n && i < SIDE_BAD_SHOWN; i++)
		buf_fmt(&b, "%s %s %" PRIu64 ": %s", i ? ";" : "", side_bad_unit(&r->bad),
			r->bad.first[i].line, r->bad.first[i].why);
	input_warn(&ti->in, "%s: %" PRIu64 " of %" PRIu64 " rows are left out:%s%s", o->path.v,
		   r->bad.n, r->rows, buf_cstr(&b), r->bad.n > SIDE_BAD_SHOWN ? " ..." : "");
	buf_release(&b);
}

static void warn_dropped(struct tlinput *ti, const struct side_option *o,
			 const struct side_report *r)
{
	if (r->dropped)
		input_warn(&ti->in,
			   "%s: the sampler could not keep %" PRIu64
			   " more gaps, which came too fast (raise record jitter --threshold)",
			   o->path.v, r->dropped);
}

/* `beside`: it was found next to the recording, so that only errors are printed, and the
 * recording is still used. */
static int add_file(struct tlinput *ti, const struct side_option *o, int beside)
{
	struct side_report r;
	struct err e = {0};
	input_keep_private(o->path.v);
	int rc = side_file_add(&ti->tl, ti->in.profile, o, &r, &e);
	if (rc && beside && rc != ERR_NOMEM && rc != ERR_LIMIT) {
		input_warn(&ti->in, "%s; %s left out", e.msg,
			   rc == ERR_REFUSED ? "they are" : "it is");
		return 0;
	}
	if (rc)
		return input_fail(&ti->in, &e);
	if (!beside) {
		say_taken(ti, o, &r);
		say_windows(ti, o, &r.counts);
		say_unseen(ti, o, &r);
	} else if (!r.placed.gaps && !ti->opt->in.quiet) {
		say("%s: the spinners had no gaps", o->path.v);
	}
	warn_bad(ti, o, &r);
	warn_dropped(ti, o, &r);
	return 0;
}

static int add_given(struct tlinput *ti, const char *text)
{
	struct side_option o;
	struct err e = {0};
	int rc = side_option_parse(text, &o, &e);
	if (!rc && !strcmp(o.path.v, "-") && !strcmp(ti->path, "-"))
		rc = err_set(&e, ERR_USAGE,
			     "--with: the recording is read from standard input");
	rc = rc ? input_fail(&ti->in, &e) : add_file(ti, &o, 0);
	side_option_release(&o);
	return rc;
}

/* Add the gaps of `perfkit record jitter` next to the recording, or in its bundle. */
static int add_recorded_gaps(struct tlinput *ti)
{
	const char *recording = ti->in.bundle.recording ? ti->in.bundle.recording : ti->path;
	struct side_option o = {.clock = SIDE_CLOCK_UNKNOWN, .cpu = -1};
	struct err e = {0};
	struct stat st;
	int rc = 0;
	if (!ti->in.profile || ti->tl.gaps.n)
		return 0;
	buf_fmt(&o.path, "%s.gaps", recording);
	if (buf_failed(&o.path))
		rc = input_fail(&ti->in, (err_nomem(&e), &e));
	else if (!stat(buf_cstr(&o.path), &st) && S_ISREG(st.st_mode))
		rc = add_file(ti, &o, 1);
	side_option_release(&o);
	return rc;
}

int side_input_add(struct tlinput *ti, const char *verb)
{
	const struct opt_list *l = &ti->opt->sides;
	int rc = 0;
	if (l->n && ti->tl.parts.n) {
		say_line("perfkit %s: %s: --with belongs to one recording; choose it with "
			 "--recording",
			 verb, input_shown(ti->path));
		return 2;
	}
	for (size_t i = 0; i < l->n && !rc; i++)
		rc = add_given(ti, l->v[i]);
	return rc ? rc : add_recorded_gaps(ti);
}
