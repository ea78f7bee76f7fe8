/* record_price.c - what a planned recording costs; print_estimate of record_run.h. */
#include "base/mem.h"
#include "cmd/record_run.h"
#include "libparse/recording.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Bytes of a record, as measured with perf 6.1 on x86-64: the fixed part with raw tracepoint
 * fields, a callchain of kernel and user frames, registers; a copy comes on top. */
enum { PLAIN_BYTES = 112, CHAIN_BYTES = 150, REGS_BYTES = 160, PERF_STAT_FIELDS = 3 };

/* CPU time of a record, kernel and perf together: rounded from docs/recording.md's table of
 * prices, so good for a choice between two lines, not for a bill. */
enum { PLAIN_NS = 700, CHAIN_NS = 1100, COPY_NS = 900, COPY_NS_PER_KB = 400 };

/* More than this perf did not write without losing records, at -m 2048 on two CPUs. */
#define WRITTEN_MAX 150e6

struct rate {
	char name[128];     /* may be a glob */
	const char *filter; /* of the plan; NULL: none */
	double per_second;
	int stacks;  /* as record_graph() */
	int sampled; /* by frequency */
	int counted;
};

struct rates {
	VEC(struct rate) v;
	int measured;         /* recorded, not only counted: the fields below are set */
	double bytes, cpu_ns; /* of the bare recording, a second */
	uint64_t lost;
};

struct cost {
	double events, bytes, cpu_ns;
};

/* --- what is planned -----------------------------------------------------------------------
 */

/* "sched:sched_switch/call-graph=dwarf,stack-size=4096/" taken apart. */
static struct rate rate_of_event(const char *event)
{
	struct rate r = {.stacks = GRAPH_NONE};
	const char *dump = strstr(event, "stack-size="), *freq = strstr(event, "freq=");
	snprintf(r.name, sizeof(r.name), "%.*s", (int)strcspn(event, "/"), event);
	if (dump)
		r.stacks = atoi(dump + strlen("stack-size="));
	else if (strstr(event, "call-graph="))
		r.stacks = GRAPH_FP;
	if (freq) {
		r.sampled = 1;
		r.per_second =
			atof(freq + strlen("freq=")) * (double)sysconf(_SC_NPROCESSORS_ONLN);
	}
	return r;
}

static int events_of_plan(struct rates *rates, const struct record_plan *p)
{
	for (size_t i = 0; i + 1 < p->record.v.n; i++) {
		const char *word = p->record.v.v[i], *value = p->record.v.v[i + 1];
		if (!strcmp(word, "--"))
			break;
		if (!strcmp(word, "--filter") && rates->v.n)
			rates->v.v[rates->v.n - 1].filter = value;
		if (strcmp(word, "-e") != 0)
			continue;
		struct rate r = rate_of_event(value);
		if (vec_push(&rates->v, r))
			return ERR_NOMEM;
	}
	return 0;
}

/* The cpu mode names its stack kind for the whole recording. */
static void cpu_rate(struct rates *rates, const struct record_wish *w, const struct words *line)
{
	if (w->mode != RECORD_CPU || !rates->v.n)
		return;
	struct rate *r = &rates->v.v[0];
	r->sampled = 1;
	r->per_second = w->frequency * (double)(w->cpus > 0 ? w->cpus : 1);
	for (size_t i = 0; i + 1 < line->v.n; i++) {
		const char *graph = line->v.v[i + 1];
		if (!strcmp(line->v.v[i], "--call-graph"))
			r->stacks = strncmp(graph, "dwarf,", 6) ? GRAPH_FP : atoi(graph + 6);
	}
}

/* Probes are not set yet. */
static int is_countable(const struct rate *r)
{
	return !r->sampled && strncmp(r->name, "perfkit:", 8) != 0;
}

static int add_countable(struct words *w, const struct rates *rates)
{
	int any = 0;
	for (size_t i = 0; i < rates->v.n; i++) {
		const struct rate *r = &rates->v.v[i];
		if (!is_countable(r))
			continue;
		any = 1;
		words_add(w, "-e");
		words_add(w, "%s", r->name);
		if (r->filter) {
			words_add(w, "--filter");
			words_add(w, "%s", r->filter);
		}
	}
	return any;
}

static void add_sleep(struct words *w)
{
	words_add(w, "--");
	words_add(w, "sleep");
	words_add(w, "1");
}

/* --- counting ------------------------------------------------------------------------------
 */

/* Events come in the plan's order; one of its names may stand twice, or be several events. */
static void take_count(struct rates *rates, size_t *at, const char *name, double n)
{
	for (size_t i = *at; i < rates->v.n; i++) {
		struct rate *r = &rates->v.v[i];
		if (fnmatch(r->name, name, 0) || (r->counted && !strchr(r->name, '*')))
			continue;
		r->per_second += n;
		r->counted = 1;
		*at = i;
		return;
	}
}

/* What `perf stat -x,` counted: "1234,,sched:sched_switch,..." */
static void take_counts(struct rates *rates, char *text)
{
	size_t at = 0;
	char *save = NULL;
	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *field[PERF_STAT_FIELDS] = {line};
		for (int i = 1; i < PERF_STAT_FIELDS && field[i - 1]; i++) {
			field[i] = strchr(field[i - 1], ',');
			if (field[i])
				*field[i]++ = '\0';
		}
		if (!field[2] || *line < '0' || *line > '9')
			continue;
		field[2][strcspn(field[2], ",")] = '\0';
		take_count(rates, &at, field[2], atof(line));
	}
}

static int any_counted(const struct rates *rates)
{
	int any = 0, countable = 0;
	for (size_t i = 0; i < rates->v.n; i++) {
		any |= rates->v.v[i].counted;
		countable |= is_countable(&rates->v.v[i]);
	}
	return any || !countable;
}

static int count_events(struct rates *rates, const char *perf)
{
	struct words w = {0};
	struct buf out = {0};
	words_add(&w, "%s", perf);
	words_add(&w, "stat");
	words_add(&w, "-a");
	words_add(&w, "-x,");
	int any = add_countable(&w, rates);
	add_sleep(&w);
	if (any && !w.failed && !run_words_read(&w, &out) && !buf_failed(&out) && out.n &&
	    buf_cstr(&out)[0])
		take_counts(rates, out.v);
	buf_release(&out);
	words_release(&w);
	return any_counted(rates);
}

/* --- measuring -----------------------------------------------------------------------------
 */

static double cpu_of_children(void)
{
	struct rusage u = {0};
	getrusage(RUSAGE_CHILDREN, &u);
	return ((double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec) * 1e9 +
	       ((double)u.ru_utime.tv_usec + (double)u.ru_stime.tv_usec) * 1e3;
}

static void read_counts(struct rates *rates, const char *path)
{
	struct recording *rec;
	struct record r;
	struct err e = {0};
	if (recording_open(&rec, path, &e))
		return;
	VEC(uint64_t) n = {0};
	while (n.n < rec->events.n && !vec_push(&n, 0))
		;
	while (n.n == rec->events.n && recording_next(rec, &r, &e) == 1) {
		const struct event *ev =
			r.type == PERF_RECORD_SAMPLE ? recording_event(rec, &r) : NULL;
		if (ev)
			n.v[ev - rec->events.v]++;
		rates->bytes += r.size;
	}
	size_t at = 0;
	for (size_t i = 0; i < n.n; i++)
		if (rec->events.v[i].name)
			take_count(rates, &at, rec->events.v[i].name, (double)n.v[i]);
	rates->lost = rec->stats.lost + rec->stats.lost_samples;
	rates->measured = 1;
	vec_release(&n);
	recording_close(rec);
}

/* Record the events without their stacks for a second, into a file that goes again. */
static int measure_events(struct rates *rates, const struct record_wish *x)
{
	const char *tmp = getenv("TMPDIR");
	char path[256];
	struct words w = {0};
	struct buf out = {0};
	snprintf(path, sizeof(path), "%.200s/perfkit-measure.XXXXXX",
		 tmp && *tmp ? tmp : "/tmp");
	int fd = mkstemp(path);
	if (fd < 0)
		return 0;
	close(fd);
	words_add(&w, "%s", x->perf);
	words_add(&w, "record");
	words_add(&w, "-aNq");
	words_add(&w, "-c");
	words_add(&w, "1");
	words_add(&w, "-m");
	words_add(&w, "%d", x->pages ? x->pages : 128);
	words_add(&w, "-o");
	words_add(&w, "%s", path);
	int any = add_countable(&w, rates);
	add_sleep(&w);
	double before = cpu_of_children();
	if (any && !w.failed && !run_words_read(&w, &out)) {
		rates->cpu_ns = cpu_of_children() - before;
		read_counts(rates, path);
	}
	unlink(path);
	buf_release(&out);
	words_release(&w);
	return any_counted(rates);
}

/* --- the estimate --------------------------------------------------------------------------
 */

/* `no_copy`: the same with frame pointers. */
static struct cost sum_up(const struct rates *rates, int no_copy)
{
	struct cost c = {0};
	for (size_t i = 0; i < rates->v.n; i++) {
		const struct rate *r = &rates->v.v[i];
		double size = PLAIN_BYTES, ns = PLAIN_NS;
		if (r->stacks != GRAPH_NONE) {
			size += CHAIN_BYTES;
			ns += CHAIN_NS;
		}
		if (r->stacks > 0 && !no_copy) {
			size += REGS_BYTES + r->stacks;
			ns += COPY_NS + r->stacks / 1024.0 * COPY_NS_PER_KB;
		}
		c.events += r->per_second;
		c.bytes += r->per_second * size;
		c.cpu_ns += r->per_second * ns;
	}
	return c;
}

static void print_rates(const struct rates *rates)
{
	int column = 0;
	for (size_t i = 0; i < rates->v.n; i++) {
		const struct rate *r = &rates->v.v[i];
		char item[192];
		if (!strncmp(r->name, "perfkit:", 8))
			continue;
		int n = snprintf(item, sizeof(item), "%s %s%.0f/s%s", r->name,
				 r->sampled ? "at most " : "", r->per_second,
				 r->filter ? " with stacks" : "");
		if (column && column + n > 76) {
			fputc('\n', stderr);
			column = 0;
		}
		fprintf(stderr, "%s%s", column ? ", " : "# ", item);
		column += n + 2;
	}
	fputc('\n', stderr);
}

static void print_cost(const struct rates *rates, const struct record_wish *w)
{
	enum { MUCH = 20000000 }; /* bytes a second: a disk's worth, and perf busy writing */
	struct cost all = sum_up(rates, 0), few = sum_up(rates, 1);
	if (rates->measured)
		fprintf(stderr,
			"# measured without stacks: %.1f MB/s, perf took %.2f s of CPU time "
			"with its "
			"start, "
			"%llu records lost\n",
			rates->bytes / 1e6, rates->cpu_ns / 1e9,
			(unsigned long long)rates->lost);
	fprintf(stderr, "# estimate: %.0f events/s, %.1f MB/s, %.0f %% of a CPU%s\n",
		all.events, all.bytes / 1e6, all.cpu_ns / 1e7,
		w->mode == RECORD_REQUESTS ? ", and 72 bytes a probe hit" : "");
	if (all.bytes > WRITTEN_MAX)
		fprintf(stderr,
			"# records will be lost: perf did not write more than %.0f MB/s where "
			"this "
			"was measured\n",
			WRITTEN_MAX / 1e6);
	if (all.bytes > MUCH && !w->chosen && w->mode != RECORD_CPU)
		fputs("# cheaper: stacks of the threads in question only (-p, --comm, "
		      "--cgroup)\n",
		      stderr);
	if (all.bytes > MUCH && few.bytes * 2 < all.bytes)
		fprintf(stderr,
			"# cheaper: --stacks fp, %.1f MB/s (stacks of code without frame "
			"pointers end early)\n",
			few.bytes / 1e6);
}

void print_estimate(const struct record_plan *p, const struct record_wish *w, int measure)
{
	struct rates rates = {0};
	if (!events_of_plan(&rates, p)) {
		cpu_rate(&rates, w, &p->record);
		if (measure ? measure_events(&rates, w) : count_events(&rates, w->perf)) {
			print_rates(&rates);
			print_cost(&rates, w);
		} else {
			fprintf(stderr,
				"# rate not measured: perf may not count these events "
				"here (be root, or lower kernel.perf_event_paranoid)\n");
		}
	}
	vec_release(&rates.v);
}
