/* manpage.c - man pages (man(7) macros) from the tables of the verbs. */
#include "cmd/cli/manpage.h"
#include "render/text/fill.h"

#include <string.h>

/* n bytes of text as roff: backslashes and dashes are escaped; no line is a request. */
static void put_roff(FILE *f, const char *s, size_t n, int bol)
{
	for (size_t i = 0; i < n; i++) {
		if (bol && (s[i] == '.' || s[i] == '\''))
			fputs("\\&", f);
		bol = s[i] == '\n';
		if (s[i] == '\\')
			fputs("\\e", f);
		else if (s[i] == '-')
			fputs("\\-", f);
		else if (s[i] == '~')
			fputs("\\(ti", f);
		else if (s[i] == '^')
			fputs("\\(ha", f);
		else if (s[i] == '`')
			fputs("\\(ga", f);
		else
			putc(s[i], f);
	}
}

static void put_text(FILE *f, const char *s)
{
	put_roff(f, s, strlen(s), 1);
}

/* Lines that keep their breaks. */
static void put_lines(FILE *f, const char *s)
{
	fputs(".nf\n", f);
	put_text(f, s);
	fputs("\n.fi\n", f);
}

/* Help text: paragraphs between blank lines; one with an indented line keeps its breaks. */
static void put_paragraphs(FILE *f, const char *s)
{
	while (*s) {
		int table;
		size_t n = fill_paragraph(s, &table);
		if (table)
			fputs(".nf\n", f);
		put_roff(f, s, n, 1);
		fputs(table ? "\n.fi\n" : "\n", f);
		s += n;
		while (*s == '\n')
			s++;
		if (*s)
			fputs(".PP\n", f);
	}
}

static void put_head(FILE *f, const char *name, const char *brief)
{
	fputs(".\\\" made from the option tables by perfkit help --man; do not edit\n.TH ", f);
	for (const char *p = name; *p; p++)
		putc(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p, f);
	fputs(" 1 \"" PERFKIT_RELEASED "\" \"perfkit " PERFKIT_VERSION
	      "\" \"User Commands\"\n.SH NAME\n",
	      f);
	put_text(f, name);
	fputs(" \\- ", f);
	put_text(f, brief);
	fputs("\n.SH SYNOPSIS\n", f);
}

static void put_group(void *ctx, const char *title)
{
	FILE *f = ctx;
	if (!*title)
		return;
	fputs(".SS ", f);
	put_text(f, title);
	putc('\n', f);
}

static void put_option(void *ctx, const struct opt *o)
{
	FILE *f = ctx;
	fputs(".TP\n", f);
	if (o->letter)
		fprintf(f, "\\fB\\-%c\\fR, ", o->letter);
	fputs("\\fB\\-\\-", f);
	put_roff(f, o->name, strlen(o->name), 0);
	fputs("\\fR", f);
	if (o->arg) {
		fputs(" \\fI", f);
		put_roff(f, o->arg, strlen(o->arg), 0);
		fputs("\\fR", f);
	}
	putc('\n', f);
	put_text(f, o->help);
	putc('\n', f);
}

/* "[options] [FILE]"; further lines begin with "perfkit VERB". */
static void put_usage(FILE *f, const struct verb *v)
{
	const char *line = v->usage;
	fputs(".nf\n", f);
	fprintf(f, "\\fBperfkit %s\\fR ", v->name);
	for (const char *nl; (nl = strchr(line, '\n')); line = nl + 1 + strspn(nl + 1, " \t")) {
		put_roff(f, line, (size_t)(nl - line), 0);
		putc('\n', f);
	}
	put_roff(f, line, strlen(line), 0);
	fputs("\n.fi\n", f);
}

static int has_option(const struct verb *v, const char *name)
{
	for (int t = 0; t < OPT_TABLES && v->tables[t]; t++)
		for (const struct opt *o = v->tables[t]; o->name; o++)
			if (!strcmp(o->name, name) && opt_is_shown(v, o))
				return 1;
	return 0;
}

/* The exit status of a verb, or of all verbs if v is NULL. */
static void put_exit_status(FILE *f, const struct verb *v)
{
	fputs(".SH EXIT STATUS\n"
	      ".TP\n.B 0\ndone, perhaps with warnings on standard error\n"
	      ".TP\n.B 1\nfailed: a file is missing or damaged, memory or disk ran out\n"
	      ".TP\n.B 2\nwrong usage\n"
	      ".TP\n.B 3\nrefused, or not to be trusted: the recording cannot answer this\n",
	      f);
	if (!v || has_option(v, "force"))
		fputs("(\\fB\\-\\-force\\fR goes on)\n", f);
	if (!v || has_option(v, "strict"))
		fputs("or, with \\fB\\-\\-strict\\fR, there was a warning\n", f);
	if (v && v->exits) {
		fputs(".TP\n.B other\n", f);
		put_text(f, v->exits);
		putc('\n', f);
	}
}

void man_verb(FILE *f, const struct verb *v)
{
	char name[64];
	snprintf(name, sizeof(name), "perfkit-%s", v->name);
	put_head(f, name, v->brief);
	put_usage(f, v);
	if (v->text) {
		fputs(".SH DESCRIPTION\n", f);
		put_paragraphs(f, v->text);
	}
	fputs(".SH OPTIONS\n", f);
	opt_each(v, f, put_group, put_option);
	put_exit_status(f, v);
	if (v->examples) {
		fputs(".SH EXAMPLES\n", f);
		put_lines(f, v->examples);
	}
	fputs(".SH SEE ALSO\n.BR perfkit (1),\n.BR perf\\-record (1)\n", f);
}

static void put_see_also(FILE *f, const struct verb *const *verbs, size_t n)
{
	fputs(".SH SEE ALSO\n", f);
	for (size_t i = 0; i < n; i++)
		fprintf(f, ".BR perfkit\\-%s (1),\n", verbs[i]->name);
	fputs(".BR perf\\-record (1),\n.BR perf\\-script (1)\n", f);
}

void man_perfkit(FILE *f, const struct verb *const *verbs, size_t n)
{
	put_head(f, "perfkit", "where CPU time and waiting went, from perf.data, offline");
	fputs("\\fBperfkit\\fR \\fICOMMAND\\fR [\\fIoptions\\fR] [\\fIFILE\\fR]\n.br\n"
	      "\\fBperfkit help\\fR [\\fICOMMAND\\fR | \\fITOPIC\\fR]\n.br\n\\fBperfkit "
	      "\\-\\-version\\fR\n"
	      ".SH DESCRIPTION\n"
	      "Reads what\n.BR perf\\-record (1)\nwrote, on any machine, without perf, and "
	      "says where CPU time\nand waiting went.\n"
	      "\\fIFILE\\fR (default \\fIperf.data\\fR, \\fB\\-\\fR is standard input) is a\n"
	      "recording, a bundle made by \\fBperfkit pack\\fR, a store made by\n"
	      "\\fBperfkit import\\fR or, for pictures, folded stacks; its content tells\n"
	      "which; recordings and folded stacks compressed by zstd, gzip, xz or\n"
	      "bzip2 are read as they are. Results go to standard output, all else to standard "
	      "error.\n"
	      ".SH COMMANDS\n",
	      f);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, ".TP\n.BR perfkit\\-%s (1)\n", verbs[i]->name);
		put_text(f, verbs[i]->brief);
		putc('\n', f);
	}
	put_exit_status(f, NULL);
	fputs(".SH ENVIRONMENT\n"
	      ".TP\n.B PERF_BUILDID_DIR\nthe build\\-id cache, instead of "
	      "\\fI\\(ti/.debug\\fR\n"
	      ".TP\n.B DEBUGINFOD_URLS\nif set, debug files are asked of these servers, by "
	      "build\\-id\n"
	      ".TP\n.B TMPDIR\nwhere temporary files go\n",
	      f);
	put_see_also(f, verbs, n);
}
