#include "libtime/record/recorded_for.h"
#include "base/mem.h"
#include "libtime/record/perf_args.h"
#include "libtime/record/plan.h"

#include <stdlib.h>
#include <string.h>

/* "NAME == " or "NAME ~ " at *p: skips that. */
static int takes(const char **p, const char *name)
{
	size_t n = strlen(name);
	if (strncmp(*p, name, n) != 0 ||
	    (strncmp(*p + n, " == ", 4) != 0 && strncmp(*p + n, " ~ ", 3) != 0))
		return 0;
	*p += n + (*(*p + n + 1) == '=' ? 4 : 3);
	return 1;
}

/* A text in quotes, which *p ends behind. */
static int add_name(struct recorded_for *out, const char **p)
{
	if (**p != '"')
		return 0;
	size_t n = strcspn(*p + 1, "\"");
	char *name = mem_strndup(*p + 1, n);
	*p += n + 1;
	return !name || vec_push(&out->comms, name) ? ERR_NOMEM : 0;
}

/* The filter of sched_switch by which threads with stacks are chosen (chosen.h). */
static int read_filter(struct recorded_for *out, const char *filter)
{
	int rc = 0;
	for (const char *p = filter; *p && !rc; p += *p != '\0')
		if (takes(&p, "prev_pid"))
			rc = vec_push(&out->ids, (int32_t)strtol(p, NULL, 10));
		else if (takes(&p, "prev_comm"))
			rc = add_name(out, &p);
	return rc ? ERR_NOMEM : 0;
}

/* Ids are exact; names are those of threads that start later, too. */
static void drop_names(struct recorded_for *out)
{
	for (size_t i = 0; i < out->comms.n; i++)
		mem_free(out->comms.v[i]);
	out->comms.n = 0;
}

static int is_letter(const struct perf_arg *a, const char *letters, const char *const *names)
{
	if (a->letter)
		return strchr(letters, a->letter) != NULL;
	for (; *names; names++)
		if (!strncmp(a->word, *names, strlen(*names)))
			return 1;
	return 0;
}

static int read_options(struct recorded_for *out, const struct perf_args *args, int is_plan)
{
	static const char *const tasks[] = {"--pid", "--tid", "--uid", "--per-thread", NULL};
	int some = 0, rc = 0;
	for (size_t i = 0; i < args->v.n && !rc; i++) {
		const struct perf_arg *a = &args->v.v[i];
		enum perf_role role = perf_arg_role(a);
		out->whole |= role == PERF_ALL_CPUS || role == PERF_CPUS;
		some |= role == PERF_TARGET && is_letter(a, "ptu", tasks);
		if (is_plan && role == PERF_FILTER && a->value)
			rc = read_filter(out, a->value);
	}
	if (some)
		out->whole = 0;
	if (out->ids.n)
		drop_names(out);
	return rc;
}

/* An event that is enabled when the command begins is the command's own. */
static int is_of_command(const struct recording *rec)
{
	for (size_t i = 0; i < rec->events.n; i++)
		if (attr_flag(&rec->events.v[i].attr, ATTR_ENABLE_ON_EXEC))
			return 1;
	return 0;
}

/* The words of "perf sched record", which records all CPUs, as those of perf record. Heap. */
static const char **without_sched(const char *const *words, size_t n)
{
	const char **v = mem_alloc(n * sizeof(*v));
	for (size_t i = 0; v && i + 1 < n; i++)
		v[i] = words[i ? i + 1 : 0];
	return v;
}

static int read_words(struct recorded_for *out, const char *const *words, size_t n)
{
	struct perf_args args;
	int rc = perf_args_read(&args, words, n);
	if (!rc)
		rc = read_options(out, &args, record_plan_is(words, n));
	if (!rc && args.command < n)
		out->command = words[args.command];
	perf_args_release(&args);
	return rc == ERR_NOMEM ? rc : 0;
}

int recorded_for_read(struct recorded_for *out, const struct recording *rec, struct err *e)
{
	const char *const *words = rec->features.argv;
	const char **own = NULL;
	size_t n = rec->features.nargv;
	*out = (struct recorded_for){.recorder = n ? words[0] : NULL};
	if (n > 2 && !strcmp(words[1], "sched") && !strcmp(words[2], "record")) {
		own = without_sched(words, n);
		out->whole = 1;
	}
	int rc = own          ? read_words(out, own, n - 1)
		 : out->whole ? ERR_NOMEM
			      : read_words(out, words, n);
	if (is_of_command(rec))
		out->whole = 0;
	mem_free(own);
	return rc ? err_nomem(e) : 0;
}
