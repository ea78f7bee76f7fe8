/* findings_runtimes.c - interpreters whose own functions are shown instead of the program's. */
#include "base/mem.h"
#include "base/text/path.h"
#include "libtime/doctor/findings_internal.h"

#include <stdio.h>
#include <string.h>

/* How a stack shows that a runtime runs the program's functions, and how to see those. */
static const struct runtime {
	const char *function; /* is on it, by the beginning of its name, … */
	const char *files[2]; /* … or one of these files, likewise */
	enum form title, remedy;
} runtimes[] = {
	{"_PyEval_", {"python3", "libpython3"}, FORM_PYTHON_HIDDEN, FORM_NAME_PYTHON},
	{"PyEval_EvalFrameEx",
	 {"python2", "libpython2"},
	 FORM_PYTHON_HIDDEN,
	 FORM_NEWER_PYTHON},
	{"Builtins_InterpreterEntryTrampoline", {NULL}, FORM_NODE_HIDDEN, FORM_NAME_NODE},
	{"execute_ex", {"libphp", "php-fpm"}, FORM_PHP_HIDDEN, FORM_NAME_PHP},
	{"JavaCalls::call_helper", {NULL}, FORM_JAVA_HIDDEN, FORM_NAME_JAVA},
};
enum { RUNTIMES = sizeof(runtimes) / sizeof(*runtimes), NAMED = 1 << RUNTIMES };

/* 1 for a frame that a perf map or jitdump named, also in a file that perf inject made of it. */
static int is_generated(const struct strtab *s, const struct frame *f)
{
	return f->name && (f->kind == FRAME_JIT ||
			   !strncmp(path_base(strtab_get(s, f->dso)), "jitted-", 7));
}

static int begins(const char *s, const char *with)
{
	return with && !strncmp(s, with, strlen(with));
}

static unsigned look_at(const struct strtab *s, const struct frame *f)
{
	const char *name = strtab_get(s, f->name), *file = path_base(strtab_get(s, f->dso));
	if (is_generated(s, f))
		return NAMED;
	for (size_t i = 0; i < RUNTIMES; i++)
		if (begins(name, runtimes[i].function) || begins(file, runtimes[i].files[0]) ||
		    begins(file, runtimes[i].files[1]))
			return 1u << i;
	return 0;
}

/* Samples of each runtime whose stacks show none of the program's functions, and some. 0 or
 * ERR_NOMEM. */
static int count_hidden(const struct diagnosis *j, uint64_t hidden[RUNTIMES],
			uint64_t shown[RUNTIMES], uint64_t *all)
{
	const struct stacks *s = &j->in->profile->stacks;
	uint64_t *sums = diagnose_path_sums(j->in);
	uint8_t *has = mem_zalloc(s->paths.n + 1, 1);
	uint8_t *of_frame = mem_zalloc(s->frames.n + 1, 1);
	int rc = sums && has && of_frame ? 0 : ERR_NOMEM;
	for (size_t i = 1; !rc && i < s->frames.n; i++)
		of_frame[i] = (uint8_t)look_at(&s->strings, &s->frames.v[i]);
	for (size_t i = 1; !rc && i < s->paths.n; i++) {
		has[i] = has[s->paths.v[i].parent] | of_frame[s->paths.v[i].frame];
		*all += sums[i];
		for (size_t k = 0; k < RUNTIMES; k++)
			*(has[i] & NAMED ? &shown[k] : &hidden[k]) +=
				has[i] >> k & 1 ? sums[i] : 0;
	}
	mem_free(sums);
	mem_free(has);
	mem_free(of_frame);
	return rc;
}

void diagnose_runtimes(struct diagnosis *j)
{
	uint64_t hidden[RUNTIMES] = {0}, shown[RUNTIMES] = {0}, all = 0;
	if (count_hidden(j, hidden, shown, &all))
		j->failed = ERR_NOMEM;
	for (size_t i = 0; !j->failed && i < RUNTIMES; i++) {
		double share = percent(hidden[i], all);
		if (share < 1 || shown[i] > hidden[i]) /* it starts without */
			continue;
		struct finding *f = diagnose_add(
			j, runtimes[i].title, share < 10 ? SEVERITY_ADVICE : SEVERITY_PARTIAL,
			FACTS(fact_share("samples", hidden[i], all)));
		diagnose_remedy(j, f, runtimes[i].remedy, NO_FACTS);
	}
}
