#include "cmd/opt.h"
#include "cmd/say.h"
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

int opt_takes_argument(const struct opt *o)
{
	return o->kind != OPT_FLAG && o->kind != OPT_UNFLAG && o->kind != OPT_PRESET;
}

/* Split at commas and append copies of the words. */
static int list_add(struct opt_list *l, const char *arg)
{
	for (const char *w = arg; *w;) {
		size_t n = strcspn(w, ",");
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
			if (o->kind != OPT_LIST || !l->v)
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
		if (x > 1000000000 || x < -1000000000)
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
		if (list_add(target, arg))
			return usage_error(v, "out of memory at --", o->name, "");
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

static void help_row(const struct opt *o)
{
	char left[64];
	int n = o->letter ? snprintf(left, sizeof(left), "  -%c, --%s", o->letter, o->name)
			  : snprintf(left, sizeof(left), "      --%s", o->name);
	if (o->arg && n >= 0 && (size_t)n < sizeof(left))
		snprintf(left + n, sizeof(left) - (size_t)n, " %s", o->arg);
	const char *line = o->help;
	if (strlen(left) > 25) {
		puts(left);
		*left = '\0';
	}
	while (line) {
		const char *nl = strchr(line, '\n');
		int len = nl ? (int)(nl - line) : (int)strlen(line);
		printf("%-26s%.*s\n", left, len, line);
		*left = '\0';
		line = nl ? nl + 1 : NULL;
	}
}

void opt_help(const struct verb *v)
{
	printf("usage: perfkit %s %s\n\n%s\n", v->name, v->usage, v->brief);
	if (v->text)
		printf("\n%s\n", v->text);
	puts("\nOptions:");
	for (int t = 0; t < OPT_TABLES && v->tables[t]; t++)
		for (const struct opt *o = v->tables[t]; o->name; o++)
			if (o->help)
				help_row(o);
	if (v->examples)
		printf("\nExamples:\n%s\n", v->examples);
}
