#include "cmd/opt.h"
#include "cmd/fill.h"
#include "cmd/say.h"
#include "base/err.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct opt *find_row(const struct verb *v, const char *name, size_t n, char letter)
{
	for (int t = 0; t < OPT_TABLES && v->tables[t]; t++)
		for (const struct opt *o = v->tables[t]; o->name; o++)
			if (letter ? o->letter == letter
				   : strlen(o->name) == n && !strncmp(o->name, name, n))
				return o;
	return NULL;
}

static int usage_error(const struct verb *v, const char *what, const char *arg, const char *why)
{
	say_line("perfkit %s: %s%s%s (see: perfkit help %s)", v->name, what, arg, why, v->name);
	return 2;
}

static int no_memory(const struct verb *v)
{
	say_line("perfkit %s: out of memory", v->name);
	return 1;
}

int opt_takes_argument(const struct opt *o)
{
	return o->kind != OPT_FLAG && o->kind != OPT_UNFLAG && o->kind != OPT_PRESET;
}

static int is_list(const struct opt *o)
{
	return o->kind == OPT_LIST || o->kind == OPT_EVENTS || o->kind == OPT_EACH;
}

/* How long the first of the words is. */
static size_t word_length(enum opt_kind kind, const char *words)
{
	if (kind == OPT_EACH)
		return strlen(words);
	size_t n = 0;
	for (int in_terms = 0; words[n] && (words[n] != ',' || in_terms); n++)
		in_terms ^= kind == OPT_EVENTS && words[n] == '/';
	return n;
}

/* Append copies of the words. */
static int list_add(struct opt_list *l, enum opt_kind kind, const char *arg)
{
	for (const char *w = arg; *w;) {
		size_t n = word_length(kind, w);
		if (n) {
			char *word = mem_strndup(w, n);
			char **v = word ? mem_resize(l->v, l->n + 1, sizeof(*v)) : NULL;
			if (!v) {
				mem_free(word);
				return -1;
			}
			l->v = (const char **)v;
			l->v[l->n++] = word;
		}
		w += n + (w[n] == ',');
	}
	return 0;
}

void opt_release(const struct verb *v, void *opts)
{
	for (size_t t = 0; t < OPT_TABLES && v->tables[t]; t++)
		for (const struct opt *o = v->tables[t]; o->name; o++) {
			struct opt_list *l = (struct opt_list *)((char *)opts + o->at);
			if (!is_list(o) || !l->v)
				continue;
			for (size_t i = 0; i < l->n; i++)
				mem_free((char *)l->v[i]);
			mem_free(l->v);
			*l = (struct opt_list){0};
		}
}

static int set_number(const struct opt *o, void *target, const char *arg)
{
	char *end;
	errno = 0;
	if (!*arg)
		return -1;
	if (o->kind == OPT_U64) {
		if (*arg == '-')
			return -1;
		*(uint64_t *)target = strtoull(arg, &end, 0);
	} else if (o->kind == OPT_INT) {
		long x = strtol(arg, &end, 10);
		if (x > 1000000000 || x < 0) /* all are counts */
			return -1;
		*(int *)target = (int)x;
	} else {
		*(double *)target = strtod(arg, &end);
	}
	return errno || *end ? -1 : 0;
}

static int set_value(const struct verb *v, const struct opt *o, void *opts, const char *arg,
		     int on)
{
	void *target = (char *)opts + o->at;
	switch (o->kind) {
	case OPT_FLAG:
		*(int *)target = on;
		return 0;
	case OPT_UNFLAG:
		*(int *)target = !on;
		return 0;
	case OPT_STRING:
		*(const char **)target = arg;
		return 0;
	case OPT_PRESET:
		*(const char **)target = o->name;
		return 0;
	case OPT_LIST:
	case OPT_EVENTS:
	case OPT_EACH:
		if (list_add(target, o->kind, arg))
			return no_memory(v);
		return 0;
	default:
		if (set_number(o, target, arg)) {
			char what[80];
			snprintf(what, sizeof(what), "--%.40s needs a number, got '", o->name);
			return usage_error(v, what, arg, "'");
		}
		return 0;
	}
}

/* One --long option; *i moves over a separate argument. */
static int parse_long(const struct verb *v, int argc, char **argv, int *i, void *opts)
{
	const char *name = argv[*i] + 2, *eq = strchr(name, '=');
	size_t n = eq ? (size_t)(eq - name) : strlen(name);
	const struct opt *o = find_row(v, name, n, 0);
	int on = 1;
	if (!o && !strncmp(name, "no-", 3)) {
		o = find_row(v, name + 3, n - 3, 0);
		on = 0;
		if (o && o->kind != OPT_FLAG && o->kind != OPT_UNFLAG)
			o = NULL;
	}
	if (!o)
		return usage_error(v, "unknown option ", argv[*i], "");
	if (!opt_takes_argument(o))
		return eq ? usage_error(v, "option takes no argument: ", argv[*i], "")
			  : set_value(v, o, opts, "", on);
	if (eq)
		return set_value(v, o, opts, eq + 1, 1);
	if (*i + 1 >= argc)
		return usage_error(v, "option needs an argument: ", argv[*i], "");
	return set_value(v, o, opts, argv[++*i], 1);
}

/* A cluster of -x options; the first that takes an argument takes the rest or the next word. */
static int parse_short(const struct verb *v, int argc, char **argv, int *i, void *opts)
{
	for (const char *p = argv[*i] + 1; *p; p++) {
		const struct opt *o = find_row(v, "", 0, *p);
		if (!o)
			return usage_error(v, "unknown option ", argv[*i], "");
		if (!opt_takes_argument(o)) {
			int rc = set_value(v, o, opts, "", 1);
			if (rc)
				return rc;
			continue;
		}
		if (p[1])
			return set_value(v, o, opts, p + 1, 1);
		if (*i + 1 >= argc)
			return usage_error(v, "option needs an argument: ", argv[*i], "");
		return set_value(v, o, opts, argv[++*i], 1);
	}
	return 0;
}

int opt_parse(const struct verb *v, int argc, char **argv, void *opts, const char **files,
	      size_t *nfiles)
{
	int only_files = 0;
	*nfiles = 0;
	for (int i = 1; i < argc; i++) {
		const char *a = argv[i];
		int rc = 0;
		if (!only_files && !strcmp(a, "--")) {
			only_files = 1;
		} else if (!only_files && (!strcmp(a, "--help") || !strcmp(a, "-h"))) {
			return 1;
		} else if (!only_files && a[0] == '-' && a[1] == '-') {
			rc = parse_long(v, argc, argv, &i, opts);
		} else if (!only_files && a[0] == '-' && a[1]) {
			rc = parse_short(v, argc, argv, &i, opts);
		} else if (*nfiles < (size_t)v->max_files) {
			files[(*nfiles)++] = a;
		} else {
			rc = usage_error(v, "one file too many: ", a, "");
		}
		if (rc)
			return rc;
	}
	return 0;
}

/* --- modes ------------------------------------------------------------------------------- */

/* The verb's options as they are when nothing is given. */
static int with_defaults(const struct verb *v, void **out)
{
	*out = mem_zalloc(1, v->options_size);
	if (*out && v->defaults)
		v->defaults(*out);
	return *out ? 0 : ERR_NOMEM;
}

static int is_given(const struct opt *o, const void *opts, const void *defaults)
{
	static const size_t size[] = {
		[OPT_FLAG] = sizeof(int),
		[OPT_UNFLAG] = sizeof(int),
		[OPT_STRING] = sizeof(char *),
		[OPT_LIST] = sizeof(struct opt_list),
		[OPT_EVENTS] = sizeof(struct opt_list),
		[OPT_EACH] = sizeof(struct opt_list),
		[OPT_U64] = sizeof(uint64_t),
		[OPT_INT] = sizeof(int),
		[OPT_REAL] = sizeof(double),
	};
	const char *x = (const char *)opts + o->at;
	if (o->kind == OPT_PRESET) /* several share one place */
		return *(const char *const *)x == o->name;
	return memcmp(x, (const char *)defaults + o->at, size[o->kind]) != 0;
}

static int is_listed(const char *list, const char *name)
{
	size_t n = strlen(name);
	for (const char *p = list; p && *p; p += strspn(p, " ")) {
		size_t len = strcspn(p, " ");
		if (len == n && !strncmp(p, name, n))
			return 1;
		p += len;
	}
	return 0;
}

static int names(const struct opt_mode *m, const char *name)
{
	return is_listed(m->options, name);
}

static int is_mode(const struct opt_mode *m)
{
	return m->flag || m->options;
}

int opt_is_shown(const struct verb *v, const struct opt *o)
{
	int named = 0, asked = 0;
	for (unsigned i = 0; i < OPT_MODES && is_mode(&v->modes[i]); i++) {
		int is = names(&v->modes[i], o->name);
		named |= is;
		asked |= is && v->modes[i].flag;
	}
	return o->help && (!named || asked);
}

/* Bits of the modes asked for. */
static unsigned modes_asked(const struct verb *v, const void *opts, const void *defaults)
{
	unsigned asked = 0, plain = 0;
	for (unsigned i = 0; i < OPT_MODES && is_mode(&v->modes[i]); i++) {
		const char *flag = v->modes[i].flag;
		const struct opt *o = flag && *flag ? find_row(v, flag, strlen(flag), 0) : NULL;
		if (flag && !*flag)
			plain = 1u << i;
		if (o && is_given(o, opts, defaults))
			asked |= 1u << i;
	}
	return asked ? asked : plain;
}

/* "--unit goes with --offcpu, --offwake or --tail", "--weight does not go with --offcpu". */
static int refuse(const struct verb *v, const char *name, unsigned with, unsigned asked)
{
	char text[256] = "";
	size_t n = 0;
	unsigned plain = 0, list = with;
	for (unsigned i = 0; i < OPT_MODES && is_mode(&v->modes[i]); i++)
		if (with >> i & 1 && v->modes[i].flag && !*v->modes[i].flag)
			plain = 1;
	if (plain)
		list = asked;
	for (unsigned i = 0; i < OPT_MODES && is_mode(&v->modes[i]); i++) {
		if (!(list >> i & 1) || !v->modes[i].flag)
			continue;
		const char *comma = !n ? "" : list >> (i + 1) ? ", " : " or ";
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s--%s", comma,
				      v->modes[i].flag);
	}
	say_line("perfkit %s: --%s %s%s (see: perfkit help %s)", v->name, name,
		 !n      ? "has no meaning here"
		 : plain ? "does not go with "
			 : "goes with ",
		 text, v->name);
	return 2;
}

int opt_check_modes(const struct verb *v, const void *opts)
{
	void *defaults;
	int rc = 0;
	if (!is_mode(&v->modes[0]))
		return 0;
	if (with_defaults(v, &defaults))
		return no_memory(v);
	unsigned asked = modes_asked(v, opts, defaults);
	for (int t = 0; t < OPT_TABLES && v->tables[t] && !rc; t++)
		for (const struct opt *o = v->tables[t]; o->name && !rc; o++) {
			unsigned with = 0;
			for (unsigned i = 0; i < OPT_MODES && is_mode(&v->modes[i]); i++)
				with |= (unsigned)names(&v->modes[i], o->name) << i;
			if (with && !(with & asked) && is_given(o, opts, defaults))
				rc = refuse(v, o->name, with, asked);
		}
	mem_free(defaults);
	return rc;
}

int opt_given(const struct verb *v, const void *opts, const char *list, const char **name)
{
	void *defaults;
	*name = NULL;
	if (with_defaults(v, &defaults))
		return ERR_NOMEM;
	for (int t = 0; t < OPT_TABLES && v->tables[t] && !*name; t++)
		for (const struct opt *o = v->tables[t]; o->name && !*name; o++)
			if (is_listed(list, o->name) && is_given(o, opts, defaults))
				*name = o->name;
	mem_free(defaults);
	return 0;
}

static void help_row(struct buf *out, const struct opt *o)
{
	enum { LEFT = 26 };
	char left[64];
	int n = o->letter ? snprintf(left, sizeof(left), "  -%c, --%s", o->letter, o->name)
			  : snprintf(left, sizeof(left), "      --%s", o->name);
	if (o->arg && n >= 0 && (size_t)n < sizeof(left))
		snprintf(left + n, sizeof(left) - (size_t)n, " %s", o->arg);
	if (strlen(left) > LEFT - 2) {
		buf_fmt(out, "%s\n", left);
		*left = '\0';
	}
	buf_fmt(out, "%-*s", LEFT, left);
	fill_text(out, LEFT, LEFT, o->help);
}

static void help_text(struct buf *out, const char *s)
{
	while (*s) {
		int table;
		size_t n = fill_paragraph(s, &table);
		buf_char(out, '\n');
		if (table) {
			buf_add(out, s, n);
			buf_char(out, '\n');
		} else {
			struct buf b = {0};
			buf_add(&b, s, n);
			fill_text(out, 0, 0, buf_cstr(&b));
			buf_release(&b);
		}
		s += n;
		s += strspn(s, "\n");
	}
}

void opt_help(const struct verb *v)
{
	struct buf b = {0};
	buf_fmt(&b, "usage: perfkit %s %s\n\n%s\n", v->name, v->usage, v->brief);
	if (v->text)
		help_text(&b, v->text);
	buf_str(&b, "\nOptions:\n");
	for (int t = 0; t < OPT_TABLES && v->tables[t]; t++)
		for (const struct opt *o = v->tables[t]; o->name; o++)
			if (opt_is_shown(v, o))
				help_row(&b, o);
	if (v->examples)
		buf_fmt(&b, "\nExamples:\n%s\n", v->examples);
	fputs(buf_cstr(&b), stdout);
	buf_release(&b);
}
