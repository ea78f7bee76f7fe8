#include "libtime/record/perf_args.h"
#include "base/text/path.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How an option takes its value: not at all, from the rest of its word or the next one, or from
 * the rest of its word only (where it may be absent). */
enum takes { NOTHING, WORD, REST };

struct perf_opt {
	const char *name;
	char letter;
	enum takes takes;
	enum perf_role role;
};

/* Of tools/perf/builtin-record.c, 3.x to 6.x: those with a letter, with a value, or with a
 * role. Others are single words. */
static const struct perf_opt options[] = {
	{"event", 'e', WORD, PERF_EVENTS},
	{"freq", 'F', WORD, PERF_FREQ},
	{"count", 'c', WORD, PERF_COUNT},
	{NULL, 'g', NOTHING, PERF_STACKS},
	{"call-graph", 0, WORD, PERF_STACKS},
	{"user-callchains", 0, NOTHING, PERF_SIDES},
	{"kernel-callchains", 0, NOTHING, PERF_SIDES},
	{"filter", 0, WORD, PERF_FILTER},
	{"exclude-perf", 0, NOTHING, PERF_FILTER},
	{"all-cpus", 'a', NOTHING, PERF_ALL_CPUS},
	{"pid", 'p', WORD, PERF_TARGET},
	{"tid", 't', WORD, PERF_TARGET},
	{"uid", 'u', WORD, PERF_TARGET},
	{"cpu", 'C', WORD, PERF_CPUS},
	{"cgroup", 'G', WORD, PERF_CGROUPS},
	{"per-thread", 0, NOTHING, PERF_TARGET},
	{"all-user", 0, NOTHING, PERF_TARGET},
	{"all-kernel", 0, NOTHING, PERF_TARGET},
	{"branch-filter", 'j', WORD, PERF_TARGET},
	{"branch-any", 'b', NOTHING, PERF_TARGET},
	{"mmap-pages", 'm', WORD, PERF_RING},
	{"overwrite", 0, NOTHING, PERF_RING},
	{"clockid", 'k', WORD, PERF_CLOCK},
	{"output", 'o', WORD, PERF_OUTPUT},
	{"quiet", 'q', NOTHING, PERF_OUTPUT},
	{"no-buildid", 'B', NOTHING, PERF_NO_BUILDID},
	{"buildid-all", 0, NOTHING, PERF_BUILDIDS},
	{"buildid-mmap", 0, NOTHING, PERF_BUILDIDS},
	{"no-samples", 'n', NOTHING, PERF_NO_SAMPLES},
	{"no-timestamp", 0, NOTHING, PERF_NO_TIMES},
	{"off-cpu", 0, NOTHING, PERF_OFF_CPU},
	{"off-cpu-thresh", 0, WORD, PERF_OFF_CPU},
	{"delay", 'D', WORD, PERF_OTHER},
	{"realtime", 'r', WORD, PERF_OTHER},
	{"intr-regs", 'I', REST, PERF_OTHER},
	{"snapshot", 'S', REST, PERF_OTHER},
	{"compression-level", 'z', REST, PERF_OTHER},
	{"data", 'd', NOTHING, PERF_OTHER},
	{"no-inherit", 'i', NOTHING, PERF_OTHER},
	{"no-buildid-cache", 'N', NOTHING, PERF_OTHER},
	{"period", 'P', NOTHING, PERF_OTHER},
	{"raw-samples", 'R', NOTHING, PERF_OTHER},
	{"stat", 's', NOTHING, PERF_OTHER},
	{"timestamp", 'T', NOTHING, PERF_TIMES},
	{"verbose", 'v', NOTHING, PERF_OTHER},
	{"weight", 'W', NOTHING, PERF_OTHER},
	{"no-compress", 0, NOTHING, PERF_OTHER},
	{"max-size", 0, WORD, PERF_OTHER},
	{"affinity", 0, WORD, PERF_OTHER},
	{"mmap-flush", 0, WORD, PERF_OTHER},
	{"control", 0, WORD, PERF_OUTPUT},
	{"debuginfod", 0, REST, PERF_ACTS},
	{"synth", 0, WORD, PERF_SYNTH},
	{"setup-filter", 0, WORD, PERF_OTHER},
	{"clang-path", 0, WORD, PERF_ACTS},
	{"clang-opt", 0, WORD, PERF_ACTS},
	{"vmlinux", 0, WORD, PERF_ACTS},
	{"num-thread-synthesize", 0, WORD, PERF_OTHER},
	{"proc-map-timeout", 0, WORD, PERF_OTHER},
	{"switch-output-event", 0, WORD, PERF_ACTS},
	{"switch-max-files", 0, WORD, PERF_OTHER},
};
enum { OPTIONS = sizeof(options) / sizeof(*options) };

static const struct perf_opt *by_letter(char letter)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (letter && options[i].letter == letter)
			return &options[i];
	return NULL;
}

/* perf takes any beginning of a long name that no other has; the first that fits is right for
 * those with a role. */
static const struct perf_opt *by_name(const char *name, size_t n)
{
	const struct perf_opt *begins = NULL;
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct perf_opt *o = &options[i];
		if (!o->name || n < 2 || strncmp(o->name, name, n) != 0)
			continue;
		if (!o->name[n])
			return o;
		begins = begins ? begins : o;
	}
	return n >= 4 ? begins : NULL;
}

/* Words still to be read. */
struct cursor {
	const char *const *v;
	size_t n, at;
};

static const char *next(struct cursor *w)
{
	return w->at < w->n ? w->v[w->at++] : NULL;
}

static int read_long(struct perf_args *out, const char *word, struct cursor *w)
{
	const char *name = word + 2, *equals = strchr(name, '=');
	struct perf_arg a = {.word = word};
	a.opt = by_name(name, equals ? (size_t)(equals - name) : strlen(name));
	if (a.opt && a.opt->takes != NOTHING && equals)
		a.value = equals + 1;
	else if (a.opt && a.opt->takes == WORD)
		a.value = next(w);
	return vec_push(&out->v, a) ? ERR_NOMEM : 0;
}

/* -agF99 is -a -g -F 99. */
static int read_letters(struct perf_args *out, const char *word, struct cursor *w)
{
	for (const char *p = word + 1; *p; p++) {
		struct perf_arg a = {.word = word, .letter = *p, .opt = by_letter(*p)};
		int takes = a.opt ? a.opt->takes : NOTHING;
		if (takes != NOTHING && p[1])
			a.value = p + 1;
		else if (takes == WORD)
			a.value = next(w);
		if (vec_push(&out->v, a))
			return ERR_NOMEM;
		if (takes != NOTHING)
			break;
	}
	return 0;
}

/* "perf", "/usr/bin/perf", "perf_6.1". */
static int is_perf(const char *word)
{
	const char *base = path_base(word);
	return !strncmp(base, "perf", 4) && (!base[4] || strchr("_-.", base[4]));
}

int perf_args_read(struct perf_args *out, const char *const *words, size_t nwords)
{
	struct cursor w = {.v = words, .n = nwords, .at = 2};
	int rc = 0;
	*out = (struct perf_args){.command = nwords};
	if (nwords < 2 || !is_perf(words[0]) || strcmp(words[1], "record") != 0)
		return ERR_FORMAT;
	while (!rc && w.at < w.n) {
		const char *word = next(&w);
		if (!strcmp(word, "--") || word[0] != '-' || !word[1]) {
			out->command = w.at - (word[0] != '-' || !word[1]);
			break;
		}
		rc = word[1] == '-' ? read_long(out, word, &w) : read_letters(out, word, &w);
	}
	return rc;
}

enum perf_role perf_arg_role(const struct perf_arg *a)
{
	if (a->opt)
		return a->opt->role;
	return !a->letter && strchr(a->word, '=') ? PERF_ACTS : PERF_OTHER;
}

void perf_arg_add(struct words *out, const struct perf_arg *a)
{
	int attached = a->letter && a->opt && a->opt->takes == REST;
	if (a->letter)
		words_add(out, "-%c%s", a->letter, attached && a->value ? a->value : "");
	else
		words_add(out, "%s", a->word);
	if (a->value && !attached && (a->letter || !strchr(a->word, '=')))
		words_add(out, "%s", a->value);
}

uint64_t perf_ring_bytes(const char *value, uint64_t page)
{
	static const char units[] = "BKMG";
	char *end = NULL;
	uint64_t n = *value >= '0' && *value <= '9' ? strtoull(value, &end, 10) : 0;
	const char *unit = n && *end ? strchr(units, *end) : NULL;
	uint64_t size = unit ? (uint64_t)1 << (10 * (unit - units)) : page;
	if (!n || end[unit ? 1 : 0])
		return 0;
	return n > UINT64_MAX / size ? UINT64_MAX : n * size;
}

const char *perf_ring_text(char text[PERF_RING_TEXT], uint64_t bytes)
{
	unsigned unit = bytes & 0x3ff ? 0 : bytes & 0xfffff ? 1 : 2;
	snprintf(text, PERF_RING_TEXT, "%" PRIu64 "%c", bytes >> (10 * unit), "BKM"[unit]);
	return text;
}

void words_ring(struct words *out, uint64_t bytes)
{
	char text[PERF_RING_TEXT];
	words_pair(out, "-m", perf_ring_text(text, bytes));
}

void perf_args_release(struct perf_args *a)
{
	vec_release(&a->v);
}

/* 1 if it ends like the name of a file that perf before 6.5 compiles and loads into the kernel,
 * when there is one here. What may follow is /terms/ and a modifier. */
static int is_bpf_file(const char *event, size_t n)
{
	static const char *const endings[] = {".c", ".o", ".bpf"};
	for (size_t i = 0; i < 3; i++) {
		size_t k = strlen(endings[i]);
		for (size_t at = 1; at + k <= n; at++)
			if (!memcmp(event + at, endings[i], k) &&
			    (at + k == n || strchr("/:", event[at + k])))
				return 1;
	}
	return 0;
}

void words_events(struct words *out, const char *list)
{
	int file = 0;
	for (const char *p = list; *p; p += *p != '\0') {
		size_t n = strcspn(p, ",{}");
		file |= is_bpf_file(p, n);
		p += n;
	}
	words_pair(out, "-e", file ? "EVENT" : list);
}
