/*
 * report.c - `perfkit report`: what is in a recording, who ran, what was lost, how well names
 * could be found.
 */
#include "base/mem.h"
#include "cmd/inputkind.h"
#include "cmd/missing.h"
#include "cmd/reportwaits.h"
#include "cmd/verbs.h"
#include "cmd/say.h"
#include "render/escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report_opts {
	struct tlinput_opts tl;
	int top, stats, system;
};

#define AT(field) offsetof(struct report_opts, field)
static const struct opt rows[] = {
	{"top", 'n', OPT_INT, AT(top), "N", "threads and DSOs shown (20; 0 = all)"},
	{"stats", 0, OPT_FLAG, AT(stats), NULL, "only the count of each record type"},
	{"system", 0, OPT_FLAG, AT(system), NULL, "waits of kernel threads and perf too"},
	OPT_END,
};

enum { LABEL = 11 };

/* 1234567 → "1,234,567" in one of a few rotating buffers. */
static const char *count_text(uint64_t x)
{
	static char text[4][32];
	static unsigned turn;
	char *out = text[turn++ % 4], digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, x), k = 0;
	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			out[k++] = ',';
		out[k++] = digits[i];
	}
	out[k] = '\0';
	return out;
}

static void label(const char *s)
{
	printf("%-*s", LABEL, s);
}

/* Texts of a stranger's file, with control characters made visible. */
static void text(const char *s)
{
	struct buf b = {0};
	escape_visible(&b, s, strlen(s));
	fputs(buf_cstr(&b), stdout);
	buf_release(&b);
}

static void print_file(const struct input *in)
{
	const struct recording *rec = in->profile->rec;
	label("recording");
	text(in->path);
	printf(", %s mode, %s-endian%s, %.1f MB of records\n",
	       rec->directory   ? "directory"
	       : rec->pipe_mode ? "pipe"
				: "file",
	       rec->big_endian ? "big" : "little", rec->compressed ? ", zstd" : "",
	       (double)rec->data_size / 1e6);
}

static void print_host(const struct features *f)
{
	if (f->hostname || f->osrelease || f->arch) {
		label("host");
		text(f->hostname ? f->hostname : "?");
		printf(", Linux ");
		text(f->osrelease ? f->osrelease : "?");
		printf(" ");
		text(f->arch ? f->arch : "?");
		if (f->cpus_online)
			printf(", %u CPUs", f->cpus_online);
		if (f->version) {
			printf(", perf ");
			text(f->version);
		}
		putchar('\n');
	}
	if (f->cpudesc) {
		label("cpu");
		text(f->cpudesc);
		putchar('\n');
	}
	if (f->cmdline) {
		label("command");
		text(f->cmdline);
		putchar('\n');
	}
}

static const char *clock_name(const struct recording *rec)
{
	static const char *const names[] = {
		"CLOCK_REALTIME",          "CLOCK_MONOTONIC",     "CLOCK_PROCESS_CPUTIME_ID",
		"CLOCK_THREAD_CPUTIME_ID", "CLOCK_MONOTONIC_RAW", "CLOCK_REALTIME_COARSE",
		"CLOCK_MONOTONIC_COARSE",  "CLOCK_BOOTTIME",
	};
	const struct event_attr *a = &rec->events.v[0].attr;
	if (!attr_flag(a, ATTR_USE_CLOCKID))
		return "perf's own (sched_clock)";
	if (a->clockid >= 0 && (size_t)a->clockid < sizeof(names) / sizeof(*names))
		return names[a->clockid];
	return a->clockid == 11 ? "CLOCK_TAI" : "unknown";
}

static void print_clock(const struct profile *p)
{
	const struct aggregate_stats *t = &p->totals;
	label("clock");
	printf("%s", clock_name(p->rec));
	if (t->first_time <= t->last_time && t->last_time)
		printf(", samples %" PRIu64 ".%09" PRIu64 " to %" PRIu64 ".%09" PRIu64
		       " (%.3f s)",
		       t->first_time / 1000000000, t->first_time % 1000000000,
		       t->last_time / 1000000000, t->last_time % 1000000000,
		       (double)(t->last_time - t->first_time) / 1e9);
	putchar('\n');
}

static const char *stacks_of(const struct event_attr *a)
{
	if (a->sample_type & PERF_SAMPLE_STACK_USER && a->sample_type & PERF_SAMPLE_REGS_USER)
		return "stacks by stack dump (DWARF)";
	if (a->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return "branch stacks";
	return a->sample_type & PERF_SAMPLE_CALLCHAIN ? "stacks by frame pointer" : "no stacks";
}

/* Of a timeline the survey counts, since its tables hold the samples of CPU time only. */
static void print_events(const struct profile *p, const struct survey *counted)
{
	const struct recording *rec = p->rec;
	for (size_t i = 0; i < rec->events.n; i++) {
		const struct event *ev = &rec->events.v[i];
		uint64_t samples = 0, weight = 0;
		for (size_t k = 0; k < p->folded.n; k++) {
			if (p->folded.v[k].event != i)
				continue;
			samples += p->folded.v[k].samples;
			weight += p->folded.v[k].weight;
		}
		if (counted)
			samples = i < counted->events.n ? counted->events.v[i].samples : 0;
		label(i ? "" : "events");
		text(ev->name);
		printf(": %s samples", count_text(samples));
		if (!ev->is_tracepoint && weight)
			printf(", sum of periods %s", count_text(weight));
		if (attr_flag(&ev->attr, ATTR_FREQ))
			printf(", %s Hz", count_text(ev->attr.sample_period));
		else
			printf(", period %s", count_text(ev->attr.sample_period));
		printf(", %s\n", stacks_of(&ev->attr));
	}
}

static void print_records(const struct recording *rec)
{
	const struct recording_stats *s = &rec->stats;
	int column = LABEL;
	label("records");
	for (uint32_t t = 0; t < RECORD_TYPES_COUNTED; t++) {
		char item[64];
		const char *name = record_type_name(t);
		if (!s->by_type[t])
			continue;
		int n = name ? snprintf(item, sizeof(item), "%s %s", name,
					count_text(s->by_type[t]))
			     : snprintf(item, sizeof(item), "type %u: %s", t,
					count_text(s->by_type[t]));
		if (column + n > 78) {
			printf("\n%*s", LABEL, "");
			column = LABEL;
		}
		column += printf("%s  ", item);
	}
	if (s->unknown_types)
		printf("unknown types %s", count_text(s->unknown_types));
	putchar('\n');
}

static void print_loss(const struct recording *rec)
{
	const struct recording_stats *s = &rec->stats;
	uint64_t samples = s->by_type[PERF_RECORD_SAMPLE];
	uint64_t dropped = recording_dropped_samples(rec);
	label("loss");
	if (!s->lost && !dropped && !s->torn[0] && !s->bad_records && !rec->cut_off)
		printf("none recorded\n");
	if (s->lost)
		printf("%s records lost by perf (%.1f %% of what it wrote and lost)  ",
		       count_text(s->lost),
		       100.0 * (double)s->lost / (double)(s->lost + samples));
	if (dropped)
		printf("%s samples dropped by the kernel  ", count_text(dropped));
	if (rec->cut_off)
		printf("not finished by perf  ");
	if (s->torn[0])
		printf("%s  ", s->torn);
	if (s->bad_records)
		printf("%s broken records", count_text(s->bad_records));
	if (s->lost || dropped || s->torn[0] || s->bad_records || rec->cut_off)
		putchar('\n');
}

/* --- threads ---------------------------------------------------------------------------- */

struct row {
	uint32_t comm;
	int32_t pid, tid;
	uint64_t samples;
};

static int by_thread(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->comm < y->comm ? -1 : x->comm > y->comm;
}

static int by_samples(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return by_thread(a, b);
}

static int print_threads(const struct profile *p, int top)
{
	struct row *v = mem_zalloc(p->folded.n, sizeof(*v));
	size_t n = 0;
	uint64_t total = 0;
	if (!v)
		return ERR_NOMEM;
	for (size_t i = 0; i < p->folded.n; i++) {
		const struct folded *f = &p->folded.v[i];
		v[i] = (struct row){
			.comm = f->comm, .pid = f->pid, .tid = f->tid, .samples = f->samples};
		total += f->samples;
	}
	qsort(v, p->folded.n, sizeof(*v), by_thread);
	for (size_t i = 0; i < p->folded.n; i++) {
		if (n && !by_thread(&v[n - 1], &v[i]))
			v[n - 1].samples += v[i].samples;
		else
			v[n++] = v[i];
	}
	qsort(v, n, sizeof(*v), by_samples);
	size_t shown = top > 0 && (size_t)top < n ? (size_t)top : n;
	printf("\n%-24s %10s %10s %12s %7s\n", "thread", "pid", "tid", "samples", "share");
	for (size_t i = 0; i < shown; i++) {
		struct buf b = {0};
		const char *comm = strtab_get(&p->stacks.strings, v[i].comm);
		escape_visible(&b, comm, strlen(comm));
		printf("%-24s %10d %10d %12s %5.1f %%\n", buf_cstr(&b), v[i].pid, v[i].tid,
		       count_text(v[i].samples),
		       total ? 100.0 * (double)v[i].samples / (double)total : 0);
		buf_release(&b);
	}
	if (shown < n)
		printf("%s more threads (--top 0 shows all)\n", count_text(n - shown));
	mem_free(v);
	return 0;
}

/* --- names ------------------------------------------------------------------------------ */

static int print_unnamed(const struct profile *p, int top)
{
	struct missing m;
	if (missing_find(&m, p, NULL)) {
		missing_release(&m);
		return ERR_NOMEM;
	}
	printf("\nnames: %.1f %% of samples have a function name at the leaf\n",
	       m.samples ? 100.0 * (double)m.named_leaf / (double)m.samples : 100.0);
	missing_print(stdout, p, &m, top);
	missing_release(&m);
	return 0;
}

static void print_stats(const struct recording *rec)
{
	for (uint32_t t = 0; t < RECORD_TYPES_COUNTED; t++) {
		const char *name = record_type_name(t);
		if (!rec->stats.by_type[t])
			continue;
		if (name)
			printf("%s %" PRIu64 "\n", name, rec->stats.by_type[t]);
		else
			printf("type-%u %" PRIu64 "\n", t, rec->stats.by_type[t]);
	}
}

static void print_head(const struct input *in, const struct survey *counted)
{
	print_file(in);
	print_host(&in->profile->rec->features);
	print_clock(in->profile);
	print_events(in->profile, counted);
	print_records(in->profile->rec);
	print_loss(in->profile->rec);
}

static int out_of_memory(void)
{
	say("out of memory");
	return 1;
}

static int report_samples(struct input *in, const struct report_opts *o)
{
	in->fold.aggregate.by = BY_PID | BY_TID;
	int rc = input_fold(in);
	if (rc)
		return rc;
	if (o->stats) {
		print_stats(in->profile->rec);
		return 0;
	}
	print_head(in, NULL);
	if (in->profile->folded.n &&
	    (print_threads(in->profile, o->top) || print_unnamed(in->profile, o->top)))
		return out_of_memory();
	return 0;
}

/* A timeline's samples as rows of their own, so that the tables above serve both. */
static int samples_to_folded(struct profile *p, const struct timeline *tl)
{
	for (size_t i = 0; i < p->rec->events.n; i++)
		p->first_of_event[i] = UINT64_MAX;
	p->totals.first_time = tl->rec.origin_ns;
	p->totals.last_time = tl->rec.end_ns;
	for (size_t i = 0; i < tl->samples.n; i++) {
		const struct tl_sample *s = &tl->samples.v[i];
		const struct tl_thread *t =
			s->thread == TL_NONE ? NULL : &tl->threads.v[s->thread];
		/* no thread: the idle task, as perf prints it, or one that nobody told */
		int none =
			strcmp(strtab_get(&tl->stacks->strings, s->comm), "swapper") ? -1 : 0;
		struct folded f = {.event = s->event,
				   .comm = s->comm,
				   .pid = t ? t->pid : none,
				   .tid = t ? t->tid : none,
				   .path = s->path,
				   .weight = s->period,
				   .samples = 1};
		if (vec_push(&p->folded, f))
			return ERR_NOMEM;
	}
	return 0;
}

static void print_store(const struct tlinput *ti, int several)
{
	const struct tl_recording *r = &ti->tl.rec;
	const struct strtab *s = &ti->names->strings;
	label("store");
	text(ti->path);
	if (several)
		printf(", recording %" PRId64, ti->recording);
	printf(", of ");
	text(strtab_get(s, r->file));
	putchar('\n');
	label("host");
	text(strtab_get(s, r->host));
	printf(", Linux ");
	text(strtab_get(s, r->kernel));
	putchar('\n');
	label("clock");
	text(strtab_get(s, r->clock));
	printf(", %.3f s, %zu samples\n", (double)(r->end_ns - r->origin_ns) / 1e9,
	       ti->tl.samples.n);
}

/* The nth recording of a store, or the only one of a file. */
static int report_one(const struct report_opts *o, const char *path, size_t nth, size_t *of)
{
	struct tlinput ti;
	int rc = tlinput_open_nth(&ti, "report", &o->tl, path, TLINPUT_CONTENTS, nth, of);
	if (rc)
		return rc;
	if (nth)
		putchar('\n');
	struct profile *p = ti.in.profile;
	if (!p) {
		print_store(&ti, *of > 1);
	} else {
		p->first_of_event = mem_zalloc(p->rec->events.n, sizeof(*p->first_of_event));
		if (!p->first_of_event || samples_to_folded(p, &ti.tl))
			rc = out_of_memory();
		else
			print_head(&ti.in, &ti.survey);
	}
	if (!rc && report_waits(&ti, o->top, o->system))
		rc = out_of_memory();
	if (!rc && p && p->folded.n && (print_threads(p, o->top) || print_unnamed(p, o->top)))
		rc = out_of_memory();
	rc = rc ? rc : input_status(&ti.in);
	tlinput_close(&ti);
	return rc;
}

static int report_timeline(const struct report_opts *o, const char *path)
{
	size_t of = 1;
	int rc = 0;
	for (size_t i = 0; i < of && !rc; i++)
		rc = report_one(o, path, i, &of);
	return rc;
}

/* 1 when the recording tells when threads left and got a CPU. */
static int has_scheduler(const struct recording *rec)
{
	for (size_t i = 0; i < rec->events.n; i++)
		if (!strcmp(rec->events.v[i].name, "sched:sched_switch") ||
		    attr_flag(&rec->events.v[i].attr, ATTR_CONTEXT_SWITCH))
			return 1;
	return 0;
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	const struct report_opts *o = opts;
	const char *path = nfiles ? files[0] : o->tl.in.input ? o->tl.in.input : "perf.data";
	struct source src;
	enum input_kind kind;
	struct err e = {0};
	struct input in = {.opt = &o->tl.in};
	if (input_kind_open(path, &src, &kind, &e))
		return input_fail(&in, &e);
	if (kind == INPUT_STORE) {
		source_close(&src);
		return report_timeline(o, path);
	}
	int again = strcmp(path, "-") != 0; /* a stream is read once: samples only */
	int rc = input_open_source(&in, "report", &o->tl.in, path, &src);
	if (rc)
		return rc;
	if (again && !o->stats && has_scheduler(in.profile->rec)) {
		input_close(&in);
		return report_timeline(o, path);
	}
	rc = report_samples(&in, o);
	rc = rc ? rc : input_status(&in);
	input_close(&in);
	return rc;
}

static void defaults(void *opts)
{
	((struct report_opts *)opts)->top = 20;
}

const struct verb verb_report = {
	.name = "report",
	.brief = "host, clock, events, threads, run and wait, loss, names",
	.usage = "[options] [FILE]",
	.examples = "  perfkit report perf.data\n  perfkit report --stats perf.data",
	.tables = {rows, tlinput_rows, input_rows},
	.options_size = sizeof(struct report_opts),
	.max_files = 1,
	.run = run,
	.defaults = defaults,
};
