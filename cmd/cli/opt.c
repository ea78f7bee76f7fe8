#include "cmd/cli/opt.h"
#include "cmd/cli/options.h"
#include "cmd/cli/say.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text/nearest.h"
#include "base/text/shellword.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_suffixed(const struct opt *o, const char *name, size_t n)
{
	size_t len = strlen(o->name);
	return o->kind == OPT_SUFFIX && n > len && !strncmp(o->name, name, len) &&
	       strspn(name + len, "0123456789.") == n - len;
}

/* Find an option by name, else by letter. An exact name comes before a prefix. */
static const struct opt *find_row(const struct verb *v, const char *name, size_t n, char letter)
{
	const struct opt *suffixed = NULL;
	for (int t = 0; t < OPT_TABLES && v->tables[t]; t++)
		for (const struct opt *o = v->tables[t]; o->name; o++) {
			if (o->kind == OPT_GROUP)
				continue;
			if (letter ? o->letter == letter
				   : strlen(o->name) == n && !strncmp(o->name, name, n))
				return o;
			if (!letter && is_suffixed(o, name, n))
				suffixed = o;
		}
	return suffixed;
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
	return o->kind != OPT_FLAG && o->kind != OPT_UNFLAG && o->kind != OPT_PRESET &&
	       o->kind != OPT_SUFFIX && o->kind != OPT_GROUP;
}

const char *opt_words(const struct opt *o)
{
	return o->arg && strchr(o->arg, '|') &&
			       strspn(o->arg, "abcdefghijklmnopqrstuvwxyz|") == strlen(o->arg)
		       ? o->arg
		       : NULL;
}

void opt_suggest(struct buf *out, const char *words, const char *typed)
{
	char word[64];
	if (nearest_in(words, typed, word, sizeof(word)))
		buf_fmt(out, "; did you mean '%s'?", word);
}

/* The option of v that `typed` means in perf or other tools, or NULL. */
static const char *meant_elsewhere(const struct verb *v, const char *typed, size_t n)
{
	const char *name = option_meant(typed, n);
	const struct opt *o = name ? find_row(v, name, strlen(name), 0) : NULL;
	return o && opt_is_shown(v, o) ? name : NULL;
}

/* The other case of a letter, if v has it; 0 if not. */
static char other_case(const struct verb *v, char letter)
{
	unsigned char c = (unsigned char)letter;
	char other = (char)(isupper(c) ? tolower(c) : toupper(c));
	return other != letter && find_row(v, "", 0, other) ? other : 0;
}

/* Print that an option does not exist, and which is meant. One letter is near no long name. */
static int unknown_option(const struct verb *v, const char *typed, const char *name, size_t n)
{
	struct nearest x = nearest_to(name, n);
	struct buf b = {0};
	int letter = n == 1 && typed[1] == *name;
	const char *meant = meant_elsewhere(v, name, n);
	for (int t = 0; t < OPT_TABLES && v->tables[t] && !meant && !letter; t++)
		for (const struct opt *o = v->tables[t]; o->name; o++)
			if (opt_is_shown(v, o))
				nearest_offer(&x, o->name);
	buf_char(&b, '\'');
	if (meant || x.best)
		buf_fmt(&b, "; did you mean '--%s'?", meant ? meant : x.best);
	else if (letter && other_case(v, *name))
		buf_fmt(&b, "; did you mean '-%c'?", other_case(v, *name));
	int rc = usage_error(v, "unknown option '", typed, buf_cstr(&b));
	buf_release(&b);
	return rc;
}

/* "no '%s'" of words that an option lists. */
static int check_word(const struct verb *v, const struct opt *o, const char *word)
{
	const char *words = opt_words(o);
	struct buf b = {0};
	size_t n = strlen(word);
	for (const char *p = words; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
		if (strcspn(p, "|") == n && !strncmp(p, word, n))
			return 0;
	for (const char *p = words; *p; p++)
		if (*p == '|')
			buf_str(&b, ", ");
		else
			buf_char(&b, *p);
	opt_suggest(&b, words, word);
	say_line("perfkit %s: --%s: '%s' is not one of %s (see: perfkit help %s)", v->name,
		 o->name, word, buf_cstr(&b), v->name);
	buf_release(&b);
	return 2;
}

static int is_list(const struct opt *o)
{
	return o->kind == OPT_LIST || o->kind == OPT_EVENTS || o->kind == OPT_EACH;
}

/* The length of the first word. */
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

static int check_words(const struct verb *v, const struct opt *o, const struct opt_list *l)
{
	int rc = 0;
	for (size_t i = 0; !rc && i < l->n; i++)
		rc = check_word(v, o, l->v[i]);
	return rc;
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
	case OPT_OUTPUT:
		*(const char **)target = arg;
		return opt_words(o) ? check_word(v, o, arg) : 0;
	case OPT_PRESET:
		*(const char **)target = o->name;
		return 0;
	case OPT_SUFFIX:
		*(const char **)target = arg;
		return 0;
	case OPT_LIST:
	case OPT_EVENTS:
	case OPT_EACH:
		if (!arg[strspn(arg, o->kind == OPT_EACH ? "" : ",")])
			return usage_error(v, "the list is empty: --", o->name, "");
		if (list_add(target, o->kind, arg))
			return no_memory(v);
		return opt_words(o) ? check_words(v, o, target) : 0;
	default:
		if (set_number(o, target, arg)) {
			char what[80];
			snprintf(what, sizeof(what), "--%.40s needs a %s, got '", o->name,
				 o->kind == OPT_INT ? "whole number" : "number");
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
		return unknown_option(v, argv[*i], name, n);
	if (!opt_takes_argument(o))
		return eq ? usage_error(v, argv[*i], "", " takes no argument")
			  : set_value(v, o, opts, name, on);
	if (eq)
		return set_value(v, o, opts, eq + 1, 1);
	if (*i + 1 >= argc)
		return usage_error(v, argv[*i], "", " needs an argument");
	return set_value(v, o, opts, argv[++*i], 1);
}

/* A cluster of -x options; the first that takes an argument takes the rest or the next word. */
static int parse_short(const struct verb *v, int argc, char **argv, int *i, void *opts)
{
	const char *name = argv[*i] + 1;
	size_t n = strlen(name); /* "-pid" is a slip; "-p999" is process 999 */
	if (n > 2 && strcspn(name, "0123456789") == n && find_row(v, name, n, 0))
		return unknown_option(v, argv[*i], name, n);
	for (const char *p = name; *p; p++) {
		const struct opt *o = find_row(v, "", 0, *p);
		if (!o)
			return unknown_option(v, argv[*i], argv[*i] + 1, strlen(argv[*i] + 1));
		if (!opt_takes_argument(o)) {
			int rc = set_value(v, o, opts, "", 1);
			if (rc)
				return rc;
			continue;
		}
		if (p[1])
			return set_value(v, o, opts, p + 1, 1);
		if (*i + 1 >= argc)
			return usage_error(v, argv[*i], "", " needs an argument");
		return set_value(v, o, opts, argv[++*i], 1);
	}
	return 0;
}

/* --all beside --help. */
static int asks_for_all(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--all"))
			return 1;
	return 0;
}

int opt_parse(const struct verb *v, int argc, char **argv, void *opts, const char **files,
	      size_t *nfiles)
{
	int only_files = 0;
	*nfiles = 0;
	for (int i = 1; i < argc; i++) {
		const char *a = argv[i];
		int separates = v->two_groups && *nfiles && !strcmp(a, "--"), rc = 0;
		if (!only_files && !separates && !strcmp(a, "--")) {
			only_files = 1;
		} else if (!only_files && (!strcmp(a, "--help") || !strcmp(a, "-h"))) {
			return asks_for_all(argc, argv) ? 3 : 1;
		} else if (!only_files && a[0] == '-' && a[1] == '-' && !separates) {
			rc = parse_long(v, argc, argv, &i, opts);
		} else if (!only_files && a[0] == '-' && a[1] && !separates) {
			rc = parse_short(v, argc, argv, &i, opts);
		} else if (*nfiles < (size_t)v->max_files) {
			files[(*nfiles)++] = a;
		} else {
			rc = usage_error(v, "one file too many: '", a, "'");
		}
		if (rc)
			return rc;
	}
	return 0;
}

/* --- modes ------------------------------------------------------------------------------- */

/* The verb's options with their defaults. */
static int with_defaults(const struct verb *v, void **out)
{
	*out = mem_zalloc(1, v->options_size);
	if (*out && v->defaults)
		v->defaults(*out);
	return *out ? 0 : ERR_NOMEM;
}

static int is_given(const struct verb *v, const struct opt *o, const void *opts,
		    const void *defaults)
{
	static const size_t size[] = {
		[OPT_FLAG] = sizeof(int),
		[OPT_UNFLAG] = sizeof(int),
		[OPT_STRING] = sizeof(char *),
		[OPT_OUTPUT] = sizeof(char *),
		[OPT_LIST] = sizeof(struct opt_list),
		[OPT_EVENTS] = sizeof(struct opt_list),
		[OPT_EACH] = sizeof(struct opt_list),
		[OPT_U64] = sizeof(uint64_t),
		[OPT_INT] = sizeof(int),
		[OPT_REAL] = sizeof(double),
	};
	const char *x = (const char *)opts + o->at;
	if (o->kind == OPT_PRESET || o->kind == OPT_SUFFIX) { /* several have the same target */
		const char *name = *(const char *const *)x;
		return name && find_row(v, name, strlen(name), 0) == o;
	}
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
	return o->help && o->kind != OPT_GROUP && (!named || asked);
}

/* Bits of the active modes. */
static unsigned modes_asked(const struct verb *v, const void *opts, const void *defaults)
{
	unsigned asked = 0, plain = 0;
	for (unsigned i = 0; i < OPT_MODES && is_mode(&v->modes[i]); i++) {
		const char *flag = v->modes[i].flag;
		const struct opt *o = flag && *flag ? find_row(v, flag, strlen(flag), 0) : NULL;
		if (flag && !*flag)
			plain = 1u << i;
		if (o && is_given(v, o, opts, defaults))
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

/* The name as typed by the user. */
static const char *name_given(const struct opt *o, const void *opts)
{
	const void *at = (const char *)opts + o->at;
	return o->kind == OPT_SUFFIX ? *(const char *const *)at : o->name;
}

/* Bits of the modes that list the option. */
static unsigned modes_with(const struct verb *v, const char *name)
{
	unsigned with = 0;
	for (unsigned i = 0; i < OPT_MODES && is_mode(&v->modes[i]); i++)
		with |= (unsigned)names(&v->modes[i], name) << i;
	return with;
}

int opt_goes(const struct verb *v, const void *opts, const char *name)
{
	void *defaults;
	unsigned with = modes_with(v, name);
	if (!with || with_defaults(v, &defaults))
		return 1;
	unsigned asked = modes_asked(v, opts, defaults);
	mem_free(defaults);
	return (with & asked) != 0;
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
			unsigned with = modes_with(v, o->name);
			if (with && !(with & asked) && is_given(v, o, opts, defaults))
				rc = refuse(v, name_given(o, opts), with, asked);
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
			if (is_listed(list, o->name) && is_given(v, o, opts, defaults))
				*name = o->name;
	mem_free(defaults);
	return 0;
}

static void put_list(struct buf *b, const struct opt *o, const struct opt_list *l)
{
	struct buf words = {0};
	for (size_t i = 0; i < l->n; i++) {
		if (i && o->kind == OPT_EACH) {
			shell_word(b, buf_cstr(&words));
			buf_fmt(b, " --%s ", o->name);
			buf_clear(&words);
		} else if (i) {
			buf_char(&words, ',');
		}
		buf_str(&words, l->v[i]);
	}
	shell_word(b, buf_cstr(&words));
	buf_release(&words);
}

/* An option that was given. */
static void put_given(struct buf *b, const struct opt *o, const void *opts)
{
	const void *at = (const char *)opts + o->at;
	if (o->kind <= OPT_UNFLAG && (*(const int *)at != 0) != (o->kind == OPT_FLAG))
		return;
	buf_fmt(b, " --%s", name_given(o, opts));
	if (opt_takes_argument(o))
		buf_char(b, ' ');
	switch (o->kind) {
	case OPT_STRING:
	case OPT_OUTPUT:
		shell_word(b, *(const char *const *)at);
		break;
	case OPT_LIST:
	case OPT_EVENTS:
	case OPT_EACH:
		put_list(b, o, at);
		break;
	case OPT_U64:
		buf_fmt(b, "%llu", (unsigned long long)*(const uint64_t *)at);
		break;
	case OPT_INT:
		buf_fmt(b, "%d", *(const int *)at);
		break;
	case OPT_REAL:
		buf_fmt(b, "%.17g", *(const double *)at);
		break;
	default:
		break;
	}
}

void opt_repeat(struct buf *b, const struct verb *v, const void *opts, const char *list)
{
	void *defaults;
	if (with_defaults(v, &defaults)) {
		b->failed = ERR_NOMEM;
		return;
	}
	for (int t = 0; t < OPT_TABLES && v->tables[t]; t++)
		for (const struct opt *o = v->tables[t]; o->name; o++)
			if (o->kind != OPT_GROUP && (o->help || o->kind == OPT_SUFFIX) &&
			    is_listed(list, o->name) && is_given(v, o, opts, defaults))
				put_given(b, o, opts);
	mem_free(defaults);
}
