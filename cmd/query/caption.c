#include "cmd/query/caption.h"
#include "cmd/query/meant_input.h"
#include "libtime/sched/timeline_parts.h"
#include "render/text/escape.h"
#include "render/text/units.h"

#include <string.h>

void filters_list(struct buf *b, const char *name, const struct opt_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		buf_str(b, i ? "," : b->n ? " " : "");
		buf_str(b, i ? "" : name);
		buf_str(b, i ? "" : "=");
		escape_visible(b, l->v[i], strlen(l->v[i]));
	}
}

static void filters_text(struct buf *b, const char *name, const char *value)
{
	if (!value)
		return;
	buf_fmt(b, "%s%s=", b->n ? " " : "", name);
	escape_visible(b, value, strlen(value));
}

static void filters_meant(struct buf *b, const struct tlinput *ti)
{
	if (!ti->meant)
		return;
	buf_str(b, b->n ? " of " : "");
	meant_text(b, &ti->meant_name);
}

/* Those of threads, CPUs, time and label. */
static void filters_given(struct buf *b, const struct tlinput_opts *o)
{
	const struct input_opts *in = &o->in;
	filters_list(b, "comm", &in->comms);
	filters_list(b, "pid", &in->pids);
	filters_list(b, "tid", &in->tids);
	filters_list(b, "cpu", &in->cpus);
	filters_text(b, "time", in->time);
	filters_text(b, "label", o->label);
	filters_text(b, "site", o->site);
}

void filters_population(struct buf *b, const struct tlinput *ti)
{
	filters_given(b, ti->opt);
	filters_meant(b, ti);
}

static void shown(struct buf *b, int on, const char *what)
{
	if (on)
		buf_fmt(b, "%swith %s", b->n ? " " : "", what);
}

void filters_all(struct buf *b, const struct tlinput *ti, const struct wait_opts *o)
{
	filters_given(b, &o->tl);
	filters_list(b, "event", &o->tl.in.events);
	filters_list(b, "state", &o->states);
	filters_list(b, "cause", &o->causes);
	shown(b, o->idle, "waits at rest");
	shown(b, o->system, "system threads");
	if (o->no_unclear)
		buf_fmt(b, "%swithout unclear waits", b->n ? " " : "");
	filters_meant(b, ti);
}

const char *caption_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	return !strcmp(path, "-") ? "stdin" : slash && slash[1] ? slash + 1 : path;
}

struct caption_origin caption_origin_of(const struct tlinput *ti, uint64_t at_ns,
					struct buf *hosts)
{
	const struct timeline *tl = &ti->tl;
	const struct strtab *s = &ti->names->strings;
	buf_str(hosts, strtab_get(s, tl->rec.host));
	for (size_t i = 0; i < tl->parts.n && !tl->rec.host; i++)
		buf_fmt(hosts, "%s%s", i ? ", " : "", strtab_get(s, tl->parts.v[i].label));
	struct caption_origin o = {.host = buf_cstr(hosts),
				   .file = strtab_get(s, tl->rec.file),
				   .exact = tl->rec.wall_exact,
				   .recordings = tl->parts.n};
	if (tl->rec.wall_ns && at_ns != UINT64_MAX)
		o.wall_ns = tl->rec.wall_ns + (at_ns - tl->rec.origin_ns);
	return o;
}

void caption(struct buf *b, const char *what, const struct caption_origin *o, uint64_t ns,
	     uint64_t whole_ns)
{
	static const char dot[] = " \xc2\xb7 ";
	buf_str(b, what);
	if (*o->host)
		buf_fmt(b, " on %s", o->host);
	if (o->recordings)
		buf_fmt(b, " in %zu recordings", o->recordings);
	if (o->wall_ns) {
		buf_str(b, dot);
		units_wall_clock(b, o->wall_ns, o->exact);
	}
	if (*o->file)
		buf_fmt(b, "%s%s", dot, caption_file(o->file));
	if (ns) {
		buf_str(b, dot);
		units_duration(b, ns);
	}
	if (whole_ns) {
		buf_str(b, " of ");
		units_duration(b, whole_ns);
	}
}

uint64_t caption_timeline(struct buf *b, const char *what, const struct tlinput *ti)
{
	const struct sample_filter *f = &ti->in.fold.aggregate.filter;
	uint64_t all = timeline_recorded_ns(&ti->tl), from = ti->tl.rec.origin_ns;
	uint64_t in = timeline_recorded_in(&ti->tl, f->start, f->stop);
	struct buf hosts = {0};
	struct caption_origin o =
		caption_origin_of(ti, f->start > from ? f->start : from, &hosts);
	caption(b, what, &o, in, in < all ? all : 0);
	buf_release(&hosts);
	return in;
}
