#include "cmd/record/record_jitter.h"
#include "base/cpu_list.h"
#include "base/mem.h"
#include "cmd/cli/say.h"
#include "cmd/input/output.h"
#include "cmd/input/scratch.h"
#include "cmd/jitter/gap_files.h"
#include "cmd/record/record_run.h"
#include "render/text/units.h"

#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
	THRESHOLD_NS = 300,
	CPU_MAX = 8191,
	SET_BYTES = (CPU_MAX + 1) / CHAR_BIT,
	CAP_SYS_ADMIN = 21, /* include/uapi/linux/capability.h */
	CAP_PERFMON = 38,
};

#define AT(field) offsetof(struct jitter_opts, field)
const struct opt record_jitter_rows[] = {
	OPT_HEADING("How to record"),
	{"spin", 'c', OPT_STRING, AT(spin), "CPU,...",
	 "jitter: the CPUs to spin on, one thread each: 2,4-7"},
	{"threshold", 0, OPT_STRING, AT(threshold), "DUR",
	 "ignore shorter gaps (default 300ns; also -t)"},
	{"control", 0, OPT_INT, AT(control), "CPU",
	 "also spin on this idle CPU, as a baseline: its gaps come from\nthe machine itself"},
	{"csv", 0, OPT_OUTPUT, AT(csv), "FILE",
	 "jitter: also write the gaps as time,delay\n(the wall clock at their end, their "
	 "length in ns)"},
	{"influx", 0, OPT_OUTPUT, AT(influx), "FILE",
	 "also write them as InfluxDB's line protocol"},
	{"gaps-only", 0, OPT_FLAG, AT(gaps_only), NULL,
	 "do not run perf: only write the gaps, as text (default\njitter.gaps)"},
	OPT_END,
};

int record_jitter_given(const struct jitter_opts *o, const char **name)
{
	*name = o->spin           ? "--spin"
		: o->threshold    ? "--threshold"
		: o->control >= 0 ? "--control"
		: o->csv          ? "--csv"
		: o->influx       ? "--influx"
		: o->gaps_only    ? "--gaps-only"
				  : NULL;
	return *name != NULL;
}

/* --- what is asked -------------------------------------------------------------------- */

/* The CPUs to spin on; the last is the control. */
struct cpus {
	int v[SPIN_CPUS];
	size_t n;
};

static int add_cpu(struct cpus *c, int cpu, struct err *e)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i] == cpu)
			return err_set(e, ERR_USAGE, "CPU %d is named twice", cpu);
	if (c->n == SPIN_CPUS)
		return err_set(e, ERR_USAGE, "%d spinners at most", SPIN_CPUS);
	c->v[c->n++] = cpu;
	return 0;
}

static int parse_cpus(struct cpus *c, const struct jitter_opts *o, struct err *e)
{
	int from, to, more = 0, r = 0;
	const char *at = o->spin;
	c->n = 0;
	if (!o->spin)
		return err_set(e, ERR_USAGE, "which CPUs? for example -c 2-3");
	while (!r && (more = cpu_list_next(&at, CPU_MAX, &from, &to)) > 0)
		for (int cpu = from; cpu <= to && !r; cpu++)
			r = add_cpu(c, cpu, e);
	if (!r && (more || !c->n))
		return err_set(e, ERR_USAGE, "--spin takes CPUs as 0,2-3, not '%s'", o->spin);
	if (!r && o->control > CPU_MAX)
		return err_set(e, ERR_USAGE, "--control takes a CPU, not %d", o->control);
	return r || o->control < 0 ? r : add_cpu(c, o->control, e);
}

/* Check the CPUs before perf runs. */
static int check_cpus(const struct cpus *c, struct err *e)
{
	cpu_set_t *before = mem_zalloc(2, SET_BYTES);
	cpu_set_t *one = before ? (void *)((char *)before + SET_BYTES) : NULL;
	int r = before ? 0 : err_nomem(e);
	if (!r && sched_getaffinity(0, SET_BYTES, before))
		r = err_sys(e, "CPUs that this process may use");
	for (size_t i = 0; i < c->n && !r; i++) {
		memset(one, 0, SET_BYTES);
		CPU_SET_S((unsigned)c->v[i], SET_BYTES, one);
		if (sched_setaffinity(0, SET_BYTES, one))
			r = err_set(e, ERR_USAGE,
				    "cannot run on CPU %d: it is offline, or this process may "
				    "not use it",
				    c->v[i]);
		else
			sched_setaffinity(0, SET_BYTES, before);
	}
	mem_free(before);
	return r;
}

static int parse_threshold(const struct jitter_opts *o, uint64_t *ns, struct err *e)
{
	*ns = THRESHOLD_NS;
	if (o->threshold && (units_parse_duration(o->threshold, ns) || !*ns))
		return err_set(e, ERR_USAGE, "--threshold takes a duration as 300ns, not '%s'",
			       o->threshold);
	return 0;
}

/* --- gaps alone ----------------------------------------------------------------------- */

/* Leave the spinners' CPUs, if there are others; *before is the old affinity. */
static void step_aside(const struct cpus *c, cpu_set_t *before)
{
	cpu_set_t *set = mem_zalloc(1, SET_BYTES);
	if (set && !sched_getaffinity(0, SET_BYTES, before)) {
		memcpy(set, before, SET_BYTES);
		for (size_t i = 0; i < c->n; i++)
			CPU_CLR_S((unsigned)c->v[i], SET_BYTES, set);
		if (CPU_COUNT_S(SET_BYTES, set))
			sched_setaffinity(0, SET_BYTES, set);
	}
	mem_free(set);
}

static void say_spun(const struct spinner *s, int control, uint64_t threshold_ns)
{
	struct buf b = {0};
	double all = s->end_ns > s->begin_ns ? (double)(s->end_ns - s->begin_ns) : 1;
	buf_fmt(&b, "perfkit record: CPU %d%s: ", s->cpu,
		s->cpu == control ? " (control)" : "");
	units_plural(&b, s->gaps, "gap", "gaps");
	buf_str(&b, " of ");
	units_duration(&b, threshold_ns);
	buf_fmt(&b, " and more, %.2f %% of ", (double)s->lost_ns * 100 / all);
	units_duration(&b, s->end_ns - s->begin_ns);
	buf_str(&b, ", the longest ");
	units_duration(&b, s->max_ns);
	if (s->dropped) {
		buf_str(&b, "; ");
		units_count(&b, s->dropped);
		buf_str(&b, " of them came too fast to be written (raise --threshold)");
	}
	fprintf(stderr, "%s\n", buf_cstr(&b));
	buf_release(&b);
}

static int gaps_alone(const struct jitter_opts *o, const struct record_wish *w,
		      const struct cpus *c, struct err *e)
{
	struct gap_paths paths = {w->output ? w->output : "jitter.gaps", o->csv, o->influx,
				  !w->output};
	struct gap_files files;
	struct spin_wish wish = {.cpus = c->v,
				 .n = c->n,
				 .duration_ns = (uint64_t)w->duration * 1000000000u,
				 .gap = gap_files_add,
				 .ctx = &files};
	struct spin *s = NULL;
	cpu_set_t *before = mem_zalloc(1, SET_BYTES);
	int r = before ? parse_threshold(o, &wish.threshold_ns, e) : err_nomem(e);
	if (!r)
		step_aside(c, before);
	mem_free(before);
	r = r ? r : spin_new(&s, &wish, e);
	if (r)
		return r;
	r = gap_files_open(&files, &paths, s, c->n, o->control, e);
	if (!r) {
		spin_run(s);
		r = gap_files_end(&files, s, c->n, 0, e);
	}
	for (size_t i = 0; i < c->n && !r; i++)
		say_spun(spin_at(s, i), o->control, wish.threshold_ns);
	if (!r && !w->output)
		fprintf(stderr, "next: perfkit tail --by gap --with %s RECORDING\n",
			paths.gaps);
	spin_free(s);
	return r;
}

/* --- with perf ------------------------------------------------------------------------ */

/* The command that perf runs: this program, with --gaps-only. */
static int spin_words(struct words *out, const struct jitter_opts *o,
		      const struct record_wish *w, const char *self, const char *gaps)
{
	const struct {
		const char *option, *value;
	} given[] = {{"-c", o->spin},
		     {"--threshold", o->threshold},
		     {"--csv", o->csv},
		     {"--influx", o->influx},
		     {"-o", gaps}};
	words_add(out, "%s", self);
	words_add(out, "record");
	words_add(out, "jitter");
	words_add(out, "--gaps-only");
	if (o->control >= 0) {
		words_add(out, "--control");
		words_add(out, "%d", o->control);
	}
	if (w->duration) {
		words_add(out, "-d");
		words_add(out, "%d", w->duration);
	}
	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++)
		if (given[i].value) {
			words_add(out, "%s", given[i].option);
			words_add(out, "%s", given[i].value);
		}
	return out->failed;
}

/* 1 if interrupt vectors have entry and exit events, as on some architectures. */
static int has_vectors(void)
{
	struct utsname here;
	if (!access("/sys/kernel/tracing/events/sched", F_OK))
		return !access("/sys/kernel/tracing/events/irq_vectors", F_OK);
	return !uname(&here) && !strcmp(here.machine, "x86_64");
}

/* The programs to run: perf with the spinner, then pack. */
struct run {
	struct record_plan plan;
	struct words spin, pack;
	struct buf also, data, gaps;
};

static void release(struct run *r)
{
	record_plan_release(&r->plan);
	words_release(&r->spin);
	words_release(&r->pack);
	buf_release(&r->also);
	buf_release(&r->data);
	buf_release(&r->gaps);
}

static int plan(struct run *r, const struct jitter_opts *o, const struct record_wish *given,
		const char *self, const char *dir, struct err *e)
{
	struct record_wish w = *given;
	const char *output = w.output ? w.output : "jitter.tar.zst";
	if (has_vectors())
		buf_fmt(&r->also, w.also ? "vectors,%s" : "vectors", w.also);
	else if (w.also)
		buf_str(&r->also, w.also);
	buf_fmt(&r->data, "%s%sperf.data", dir, *dir ? "/" : "");
	buf_fmt(&r->gaps, "%s.gaps", buf_cstr(&r->data));
	if (buf_failed(&r->also) || buf_failed(&r->data) || buf_failed(&r->gaps) ||
	    spin_words(&r->spin, o, &w, self, buf_cstr(&r->gaps)))
		return err_nomem(e);
	w.also = r->also.n ? buf_cstr(&r->also) : NULL;
	w.output = buf_cstr(&r->data);
	w.command = (const char *const *)r->spin.v.v;
	w.ncommand = r->spin.v.n;
	w.duration = 0; /* the spinner's */
	/* without stacks only the kernel is named */
	const char *share = w.stacks ? "0" : "1";
	const char *words[] = {self,   "pack",        "-q",  "-o",
			       output, "--min-share", share, w.output};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		words_add(&r->pack, "%s", words[i]);
	if (r->pack.failed)
		return err_nomem(e);
	return record_plan(&r->plan, &w, e);
}

static void print_line(const struct words *w)
{
	struct buf b = {0};
	words_line(&b, w);
	puts(buf_cstr(&b));
	buf_release(&b);
}

static int print(const struct jitter_opts *o, const struct record_wish *w, int dry,
		 struct err *e)
{
	struct run r = {0};
	int rc = o->gaps_only ? err_set(e, ERR_USAGE, "--gaps-only runs nothing: no --dry-run")
			      : plan(&r, o, w, "perfkit", "", e);
	if (!rc) {
		print_line(&r.plan.record);
		print_line(&r.pack);
		fflush(stdout);
		if (dry & JITTER_PRICE)
			print_estimate(&r.plan, w, (dry & JITTER_MEASURE) != 0);
	}
	release(&r);
	return rc;
}

/* One line instead of perf's page. */
static int check_perf(const struct record_wish *w, struct err *e)
{
	static const char otherwise[] = "--gaps-only measures the gaps without saying who "
					"caused them";
	char line[256];
	uint64_t caps = UINT64_MAX;
	int paranoid = 2;
	char *file = file_of_command(w->perf);
	mem_free(file);
	if (!file)
		return err_set(e, ERR_NOTFOUND, "there is no %s here; %s", w->perf, otherwise);
	FILE *f = fopen("/proc/self/status", "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "CapEff: %" SCNx64, &caps);
	if (f)
		fclose(f);
	f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	if (f && fscanf(f, "%d", &paranoid) != 1)
		paranoid = 2;
	if (f)
		fclose(f);
	if (paranoid >= 0 && !(caps >> CAP_SYS_ADMIN & 1) && !(caps >> CAP_PERFMON & 1))
		return err_set(e, ERR_REFUSED,
			       "only root or CAP_PERFMON can see who had a CPU; %s", otherwise);
	return 0;
}

/* Make a folder next to the bundle: recordings may be too large for /tmp. */
static int make_folder(const char *output, char *dir, size_t size, struct err *e)
{
	const char *name = output && strcmp(output, "-") ? output : "jitter.tar.zst";
	int n = snprintf(dir, size, "%s.XXXXXX", name);
	if (n < 0 || (size_t)n >= size)
		return err_set(e, ERR_USAGE, "%s: too long a name", name);
	return mkdtemp(dir) ? 0 : err_sys(e, "%s: cannot make a folder", dir);
}

static int run_both(struct run *r, const struct cpus *c, const struct record_wish *w,
		    const char *dir, struct err *e)
{
	struct stat st;
	cpu_set_t *before = mem_zalloc(1, SET_BYTES);
	if (!before)
		return err_nomem(e);
	step_aside(c, before); /* so that perf is not the jitter */
	if (!w->duration)
		fprintf(stderr,
			"perfkit record: recording all CPUs until Ctrl-C (--duration)\n");
	int status = run_words(&r->plan.record, 0);
	if (CPU_COUNT_S(SET_BYTES, before))
		sched_setaffinity(0, SET_BYTES, before);
	mem_free(before);
	if (stat(buf_cstr(&r->gaps), &st) || stat(buf_cstr(&r->data), &st)) {
		scratch_remove_tree(dir); /* perf or the spinner has printed why */
		return err_set(e, ERR_IO, "perf record failed (status %d)", status);
	}
	if (run_words(&r->pack, 0))
		return err_set(e, ERR_IO, "cannot pack the recording, which is in %s",
			       buf_cstr(&r->data));
	scratch_remove_tree(dir);
	return 0;
}

static int with_perf(const struct jitter_opts *o, const struct record_wish *w,
		     const struct cpus *c, struct err *e)
{
	char dir[PATH_MAX], self[PATH_MAX];
	struct run r = {0};
	int rc = check_cpus(c, e);
	rc = rc ? rc : check_perf(w, e);
	if (rc)
		return rc;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n > 0 ? n : 0] = '\0';
	rc = n > 0 ? make_folder(w->output, dir, sizeof(dir), e) : err_sys(e, "/proc/self/exe");
	if (rc)
		return rc;
	rc = plan(&r, o, w, self, dir, e);
	if (rc)
		scratch_remove_tree(dir);
	else
		rc = run_both(&r, c, w, dir, e);
	if (!rc && (!w->output || strcmp(w->output, "-")))
		fprintf(stderr, "next: perfkit tail --by gap %s\n",
			w->output ? w->output : "jitter.tar.zst");
	release(&r);
	return rc;
}

/* Check the outputs before recording. */
static int check_outputs(const struct jitter_opts *o, const struct record_wish *w,
			 struct err *e)
{
	const struct gap_paths paths = {w->output, o->csv, o->influx, 0};
	int r = output_check(paths.gaps, e);
	r = r ? r : output_check(paths.csv, e);
	r = r ? r : output_check(paths.influx, e);
	return r ? r : gap_paths_check(&paths, e);
}

int record_jitter(const struct jitter_opts *o, const struct record_wish *w, int dry)
{
	struct cpus cpus;
	struct err e = {0};
	uint64_t ns;
	int rc = parse_cpus(&cpus, o, &e);
	rc = rc ? rc : parse_threshold(o, &ns, &e);
	rc = rc ? rc : check_outputs(o, w, &e);
	if (!rc && dry)
		rc = print(o, w, dry, &e);
	else if (!rc)
		rc = o->gaps_only ? gaps_alone(o, w, &cpus, &e) : with_perf(o, w, &cpus, &e);
	if (rc)
		say_line("perfkit record: %s", e.msg);
	return !rc ? 0 : rc == ERR_USAGE ? 2 : rc == ERR_REFUSED ? 3 : 1;
}
