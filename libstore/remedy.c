#include "libstore/remedy.h"

#include <string.h>

const char remedy_sched_events[] =
	"-e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup "
	"-e sched:sched_wakeup_new -e sched:sched_process_exit";

/* Options of perf record that may have to go, and whether a word follows the short form. */
static const struct option {
	const char *name, *letter;
	unsigned drop;
	int word;
} options[] = {
	{"--freq", "-F", REMEDY_DROP_RATE, 1},
	{"--count", "-c", REMEDY_DROP_RATE, 1},
	{"--call-graph", NULL, REMEDY_DROP_STACKS, 1},
	{NULL, "-g", REMEDY_DROP_STACKS, 0},
	{"--event", "-e", REMEDY_DROP_EVENTS, 1},
	{"--pid", "-p", REMEDY_DROP_TARGET, 1},
	{"--tid", "-t", REMEDY_DROP_TARGET, 1},
	{"--uid", "-u", REMEDY_DROP_TARGET, 1},
	{"--cpu", "-C", REMEDY_DROP_TARGET, 1},
	{"--all-cpus", "-a", REMEDY_DROP_TARGET, 0},
	{"--mmap-pages", "-m", REMEDY_DROP_RING, 1},
	{"--clockid", "-k", REMEDY_DROP_CLOCK, 1},
	{"--output", "-o", REMEDY_DROP_OUTPUT, 1},
	{"--quiet", "-q", REMEDY_DROP_OUTPUT, 0},
};
enum { OPTIONS = sizeof(options) / sizeof(*options) };

/* Options that stay and take the next word, which is therefore not the command. */
static const char *const with_word[] = {
	"-e",
	"--event",
	"-F",
	"--freq",
	"-c",
	"--count",
	"--call-graph",
	"-p",
	"--pid",
	"-t",
	"--tid",
	"-u",
	"--uid",
	"-C",
	"--cpu",
	"-m",
	"--mmap-pages",
	"-k",
	"--clockid",
	"-o",
	"--output",
	"-G",
	"--cgroup",
	"-D",
	"--delay",
	"-j",
	"--branch-filter",
	"--filter",
	"--max-size",
	"--proc-map-timeout",
	"--switch-output-event",
	"--off-cpu-thresh",
};

/* One blank-separated word of the recorded line. */
struct word {
	const char *s;
	size_t n;
};

static int next_word(const char **p, struct word *w)
{
	while (**p == ' ')
		(*p)++;
	w->s = *p;
	w->n = strcspn(*p, " ");
	*p += w->n;
	return w->n > 0;
}

static int word_is(const struct word *w, const char *s)
{
	return s && strlen(s) == w->n && !memcmp(w->s, s, w->n);
}

/* 1 when the word needs no quotes. */
static int is_plain(const struct word *w)
{
	for (size_t i = 0; i < w->n; i++) {
		char c = w->s[i];
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      (c >= '0' && c <= '9') || (c && strchr("_./:=,+@%-", c))))
			return 0;
	}
	return 1;
}

static void add_word(struct buf *out, const struct word *w)
{
	int quote = !is_plain(w);
	buf_char(out, ' ');
	if (quote)
		buf_char(out, '\'');
	buf_add(out, w->s, w->n);
	if (quote)
		buf_char(out, '\'');
}

/* 1 when every byte of the line is printable and no quote is in it. */
static int is_quotable(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || (unsigned char)*s >= 0x7f || *s == '\'')
			return 0;
	return 1;
}

/* The option a word is and `drop` names; *skip: the word behind it goes too. */
static int is_dropped(const struct word *w, unsigned drop, int *skip)
{
	*skip = 0;
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option *o = &options[i];
		size_t n = o->name ? strlen(o->name) : 0;
		if (!(drop & o->drop))
			continue;
		if (word_is(w, o->name) || word_is(w, o->letter)) {
			*skip = o->word;
			return 1;
		}
		if (n && w->n > n && !memcmp(w->s, o->name, n) && w->s[n] == '=')
			return 1;
		if (o->word && o->letter && w->n > 2 && !memcmp(w->s, o->letter, 2))
			return 1;
	}
	return 0;
}

static int takes_word(const struct word *w)
{
	for (size_t i = 0; i < sizeof(with_word) / sizeof(*with_word); i++)
		if (word_is(w, with_word[i]))
			return 1;
	return 0;
}

/* Behind "perf" and "record" of the recorded line, or NULL. */
static const char *record_args(const char *cmdline)
{
	struct word w;
	const char *p = cmdline;
	if (!p || !is_quotable(p) || !next_word(&p, &w))
		return NULL;
	if (w.n < 4 || memcmp(w.s + w.n - 4, "perf", 4) || (w.n > 4 && w.s[w.n - 5] != '/'))
		return NULL;
	return next_word(&p, &w) && word_is(&w, "record") ? p : NULL;
}

void remedy_record(struct buf *out, const char *cmdline, unsigned drop, const char *add)
{
	const char *p = record_args(cmdline);
	struct word w;
	int skip = 0, keep = 0;
	buf_str(out, "perf record");
	if (*add)
		buf_fmt(out, " %s", add);
	if (!p) {
		buf_str(out, " -- COMMAND");
		return;
	}
	while (next_word(&p, &w)) {
		int was_value = skip || keep;
		if (skip) {
			skip = 0;
			continue;
		}
		if (!keep && (w.s[0] != '-' || word_is(&w, "--"))) { /* the command begins */
			do
				add_word(out, &w);
			while (next_word(&p, &w));
			return;
		}
		if (!was_value && is_dropped(&w, drop | REMEDY_DROP_OUTPUT, &skip))
			continue;
		keep = !was_value && takes_word(&w);
		add_word(out, &w);
	}
	if (drop & REMEDY_DROP_TARGET)
		buf_str(out, " -- sleep 10");
}
