/* completion.c - shell completions for bash, zsh and fish from the tables of the verbs. */
#include "cmd/manpage.h"

#include <string.h>

/* "comm|pid|tid" names all the words there are; "PX|N%" does not. */
static int is_choice(const struct opt *o)
{
	return o->arg && strchr(o->arg, '|') &&
	       strspn(o->arg, "abcdefghijklmnopqrstuvwxyz|") == strlen(o->arg);
}

static int is_directory(const struct opt *o)
{
	return o->arg && !strcmp(o->arg, "DIR");
}

/* The words of a choice, between blanks. */
static void put_choices(FILE *f, const struct opt *o)
{
	for (const char *p = o->arg; *p; p++)
		putc(*p == '|' ? ' ' : *p, f);
}

/* The help's first line inside single quotes; `also` are further characters to leave out. */
static void put_brief(FILE *f, const char *s, const char *also)
{
	for (; *s && *s != '\n'; s++)
		putc(*s == '\'' || *s == '\\' || strchr(also, *s) ? ' ' : *s, f);
}

/* Call `row` for every option that help shows. */
static void each_option(FILE *f, const struct verb *v,
			void (*row)(FILE *f, const struct verb *v, const struct opt *o))
{
	for (int t = 0; t < OPT_TABLES && v->tables[t]; t++)
		for (const struct opt *o = v->tables[t]; o->name; o++)
			if (opt_is_shown(v, o))
				row(f, v, o);
}

/* --- bash ---------------------------------------------------------------------------- */

static void bash_word(FILE *f, const struct verb *v, const struct opt *o)
{
	(void)v;
	fprintf(f, " --%s", o->name);
}

static void bash_choice(FILE *f, const struct verb *v, const struct opt *o)
{
	if (!is_choice(o))
		return;
	fprintf(f, "\t%s:--%s) words='", v->name, o->name);
	put_choices(f, o);
	fputs("' ;;\n", f);
}

static void bash_argument(FILE *f, const struct verb *v, const struct opt *o)
{
	if (!opt_takes_argument(o) || is_choice(o))
		return;
	fprintf(f, "\t%s:--%s", v->name, o->name);
	if (o->letter)
		fprintf(f, " | %s:-%c", v->name, o->letter);
	fprintf(f, ") kind=%s ;;\n", is_directory(o) ? "-d" : "-f");
}

static void bash(FILE *f, const struct verb *const *verbs, size_t n)
{
	fputs("# bash completion for perfkit, made by perfkit help --completion bash\n"
	      "_perfkit()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	      "\tlocal verb=${COMP_WORDS[1]} words= kind=\n"
	      "\tif [ \"$prev\" = = ]; then\n"
	      "\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
	      "\telif [ \"$cur\" = = ]; then\n"
	      "\t\tcur=\n"
	      "\tfi\n"
	      "\tlocal all='",
	      f);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%s ", verbs[i]->name);
	fputs("help'\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ] || [ \"$verb\" = help ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$all --version\" -- \"$cur\"))\n"
	      "\t\treturn\n\tfi\n\tcase $verb:$prev in\n",
	      f);
	for (size_t i = 0; i < n; i++) {
		each_option(f, verbs[i], bash_choice);
		each_option(f, verbs[i], bash_argument);
	}
	fputs("\t*)\n\t\tcase $verb:$cur in\n", f);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "\t\t%s:-*) words='", verbs[i]->name);
		each_option(f, verbs[i], bash_word);
		fputs("' ;;\n", f);
	}
	fputs("\t\t*) kind=-f ;;\n\t\tesac ;;\n\tesac\n"
	      "\tif [ -n \"$kind\" ]; then\n"
	      "\t\tcompopt -o filenames 2>/dev/null\n"
	      "\t\tCOMPREPLY=($(compgen $kind -- \"$cur\"))\n"
	      "\telse\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	      "\tfi\n}\ncomplete -F _perfkit perfkit\n",
	      f);
}

/* --- zsh ----------------------------------------------------------------------------- */

static void zsh_option(FILE *f, const struct verb *v, const struct opt *o)
{
	(void)v;
	const char *eq = opt_takes_argument(o) ? "=" : "";
	if (o->letter)
		fprintf(f, "\t\t\t{-%c%s,--%s%s}'[", o->letter, *eq ? "+" : "", o->name, eq);
	else
		fprintf(f, "\t\t\t'*--%s%s[", o->name, eq);
	put_brief(f, o->help, "[]:");
	putc(']', f);
	if (opt_takes_argument(o)) {
		fputs(":argument:", f);
		if (is_choice(o)) {
			putc('(', f);
			put_choices(f, o);
			putc(')', f);
		} else {
			fputs(is_directory(o) ? "_files -/" : "_files", f);
		}
	}
	fputs("' \\\n", f);
}

static void zsh(FILE *f, const struct verb *const *verbs, size_t n)
{
	fputs("#compdef perfkit\n"
	      "# zsh completion for perfkit, made by perfkit help --completion zsh\n"
	      "_perfkit()\n{\n\tlocal -a verbs\n\tverbs=(\n",
	      f);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "\t\t'%s:", verbs[i]->name);
		put_brief(f, verbs[i]->brief, ":");
		fputs("'\n", f);
	}
	fputs("\t\t'help:options and examples of a verb'\n\t)\n"
	      "\tif ((CURRENT == 2)) || [[ ${words[2]} == help ]]; then\n"
	      "\t\t_describe verb verbs\n\t\treturn\n\tfi\n"
	      "\tlocal verb=${words[2]}\n\tshift words\n\t((CURRENT--))\n"
	      "\tcase $verb in\n",
	      f);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "\t%s)\n\t\t_arguments -s \\\n", verbs[i]->name);
		each_option(f, verbs[i], zsh_option);
		fputs("\t\t\t'*:file:_files'\n\t\t;;\n", f);
	}
	fputs("\tesac\n}\n"
	      "if [[ ${funcstack[1]} == _perfkit ]]; then\n\t_perfkit \"$@\"\n"
	      "else\n\tcompdef _perfkit perfkit\nfi\n",
	      f);
}

/* --- fish ---------------------------------------------------------------------------- */

static void fish_option(FILE *f, const struct verb *v, const struct opt *o)
{
	fprintf(f, "complete -c perfkit -n '__fish_seen_subcommand_from %s' -l %s", v->name,
		o->name);
	if (o->letter)
		fprintf(f, " -s %c", o->letter);
	if (is_choice(o)) {
		fputs(" -x -a '", f);
		put_choices(f, o);
		putc('\'', f);
	} else if (is_directory(o)) {
		fputs(" -x -a '(__fish_complete_directories)'", f);
	} else if (opt_takes_argument(o)) {
		fputs(" -r -F", f);
	}
	fputs(" -d '", f);
	put_brief(f, o->help, "");
	fputs("'\n", f);
}

static void fish(FILE *f, const struct verb *const *verbs, size_t n)
{
	fputs("# fish completion for perfkit, made by perfkit help --completion fish\n", f);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "complete -c perfkit -f -n __fish_use_subcommand -a %s -d '",
			verbs[i]->name);
		put_brief(f, verbs[i]->brief, "");
		fputs("'\n", f);
	}
	fputs("complete -c perfkit -f -n __fish_use_subcommand -a help "
	      "-d 'options and examples of a verb'\n",
	      f);
	for (size_t i = 0; i < n; i++) {
		fprintf(f,
			"complete -c perfkit -f -n '__fish_seen_subcommand_from help' -a %s\n",
			verbs[i]->name);
		each_option(f, verbs[i], fish_option);
	}
}

int completion_script(FILE *f, const char *shell, const struct verb *const *verbs, size_t n)
{
	if (!strcmp(shell, "bash"))
		bash(f, verbs, n);
	else if (!strcmp(shell, "zsh"))
		zsh(f, verbs, n);
	else if (!strcmp(shell, "fish"))
		fish(f, verbs, n);
	else
		return -1;
	return 0;
}
