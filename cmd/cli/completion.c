/* completion.c - shell completions for bash, zsh and fish from the tables of the verbs. */
#include "cmd/cli/manpage.h"
#include "libtime/causes/causes.h"

#include <string.h>

/* The words of arguments whose names do not list all of them. */
static const char *known_words(const struct opt *o)
{
	static const char *const known[][2] = {
		{"by WHAT", "thread site span function lock waker irq cgroup"},
		{"by", "wait activation span window"},
		{"group", "root holder stack cause thread comm label:"},
		{"split", "comm pid tid cpu event cgroup"},
		{"state", "blocked runnable preempted unknown running"},
		{"stacks KIND", "auto dwarf fp lbr none"},
		{"color", "hot mem io wakeup chain java js perl red green blue aqua yellow "
			  "purple orange kind dso"},
		{"bgcolors", "yellow blue green grey"},
	};
	size_t n = strlen(o->name);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const char *name = known[i][0]; /* and the argument's, if given */
		if (!strcmp(o->name, name) || (!strncmp(o->name, name, n) && name[n] == ' ' &&
					       !strcmp(o->arg, name + n + 1)))
			return known[i][1];
	}
	return NULL;
}

enum takes { TAKES_WORDS, TAKES_DIRECTORY, TAKES_FILE, TAKES_OTHER };

/* The kind of an option's argument. */
static enum takes takes(const struct opt *o)
{
	if (opt_words(o) || known_words(o) || !strcmp(o->name, "cause"))
		return TAKES_WORDS;
	if (!strcmp(o->arg, "DIR"))
		return TAKES_DIRECTORY;
	return strstr(o->arg, "FILE") ? TAKES_FILE : TAKES_OTHER;
}

/* The words of TAKES_WORDS, between blanks. */
static void put_words(FILE *f, const struct opt *o)
{
	const char *words = known_words(o);
	if (opt_words(o))
		for (const char *p = o->arg; *p; p++)
			putc(*p == '|' ? ' ' : *p, f);
	else if (words)
		fputs(words, f);
	else
		for (unsigned i = 0; i < CAUSE_COUNT; i++)
			fprintf(f, "%s%s", i ? " " : "", cause_name(i));
}

/* The help's first line inside single quotes; `also` are further characters to drop. */
static void put_brief(FILE *f, const char *s, const char *also)
{
	for (; *s && *s != '\n'; s++)
		putc(*s == '\'' || *s == '\\' || strchr(also, *s) ? ' ' : *s, f);
}

/* Call `row` for every option that is not rare. */
static void each_option(FILE *f, const struct verb *v,
			void (*row)(FILE *f, const struct verb *v, const struct opt *o))
{
	for (int t = 0; t < OPT_TABLES && v->tables[t]; t++)
		for (const struct opt *o = v->tables[t]; o->name; o++)
			if (opt_is_shown(v, o) && !opt_is_rare(o))
				row(f, v, o);
}

/* --- bash ---------------------------------------------------------------------------- */

static void bash_word(FILE *f, const struct verb *v, const struct opt *o)
{
	(void)v;
	fprintf(f, " --%s", o->name);
}

static void bash_argument(FILE *f, const struct verb *v, const struct opt *o)
{
	static const char *const kinds[] = {
		[TAKES_DIRECTORY] = "kind=-d", [TAKES_FILE] = "kind=-f", [TAKES_OTHER] = ""};
	if (!opt_takes_argument(o))
		return;
	fprintf(f, "\t%s:--%s", v->name, o->name);
	if (o->letter)
		fprintf(f, " | %s:-%c", v->name, o->letter);
	if (takes(o) != TAKES_WORDS) {
		fprintf(f, ") %s ;;\n", kinds[takes(o)]);
		return;
	}
	fputs(") words='", f);
	put_words(f, o);
	fputs("' ;;\n", f);
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
	fputs("help --version'\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ] || [ \"$verb\" = help ]; then\n"
	      "\t\t[ \"$prev\" = --completion ] && all='bash zsh fish'\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$all\" -- \"$cur\"))\n"
	      "\t\treturn\n\tfi\n\tcase $verb:$prev in\n",
	      f);
	for (size_t i = 0; i < n; i++)
		each_option(f, verbs[i], bash_argument);
	fputs("\t*)\n\t\tcase $verb:$cur in\n", f);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "\t\t%s:-*) words='", verbs[i]->name);
		each_option(f, verbs[i], bash_word);
		fputs("' ;;\n", f);
		if (verbs[i]->words)
			fprintf(f,
				"\t\t%s:*) [ \"$COMP_CWORD\" -eq 2 ] && words='%s' || "
				"kind=-f ;;\n",
				verbs[i]->name, verbs[i]->words);
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
	static const char *const kinds[] = {
		[TAKES_DIRECTORY] = "_files -/", [TAKES_FILE] = "_files", [TAKES_OTHER] = " "};
	(void)v;
	const char *eq = opt_takes_argument(o) ? "=" : "";
	if (o->letter)
		fprintf(f, "\t\t\t{-%c%s,--%s%s}'[", o->letter, *eq ? "+" : "", o->name, eq);
	else
		fprintf(f, "\t\t\t'*--%s%s[", o->name, eq);
	put_brief(f, o->help, "[]:");
	putc(']', f);
	if (*eq && takes(o) == TAKES_WORDS) {
		fputs(":argument:(", f);
		put_words(f, o);
		putc(')', f);
	} else if (*eq) {
		fprintf(f, ":argument:%s", kinds[takes(o)]);
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
	fputs("\t\t'help:options and examples of a command'\n\t)\n"
	      "\tif ((CURRENT > 2)) && [[ ${words[CURRENT-1]} == --completion ]]; then\n"
	      "\t\tcompadd bash zsh fish\n\t\treturn\n\tfi\n"
	      "\tif ((CURRENT == 2)) || [[ ${words[2]} == help ]]; then\n"
	      "\t\t_describe verb verbs\n\t\treturn\n\tfi\n"
	      "\tlocal verb=${words[2]}\n\tshift words\n\t((CURRENT--))\n"
	      "\tcase $verb in\n",
	      f);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "\t%s)\n\t\t_arguments -s \\\n", verbs[i]->name);
		each_option(f, verbs[i], zsh_option);
		if (verbs[i]->words)
			fprintf(f, "\t\t\t'1:argument:(%s)' \\\n", verbs[i]->words);
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
	static const char *const kinds[] = {[TAKES_DIRECTORY] =
						    " -x -a '(__fish_complete_directories)'",
					    [TAKES_FILE] = " -r -F",
					    [TAKES_OTHER] = " -x"};
	fprintf(f, "complete -c perfkit -n '__perfkit_verb %s' -l %s", v->name, o->name);
	if (o->letter)
		fprintf(f, " -s %c", o->letter);
	if (opt_takes_argument(o) && takes(o) == TAKES_WORDS) {
		fputs(" -x -a '", f);
		put_words(f, o);
		putc('\'', f);
	} else if (opt_takes_argument(o)) {
		fputs(kinds[takes(o)], f);
	}
	fputs(" -d '", f);
	put_brief(f, o->help, "");
	fputs("'\n", f);
}

static void fish(FILE *f, const struct verb *const *verbs, size_t n)
{
	fputs("# fish completion for perfkit, made by perfkit help --completion fish\n"
	      "function __perfkit_verb\n\tset -l w (commandline -opc)\n"
	      "\ttest \"$w[2]\" = $argv[1]\nend\n"
	      "function __perfkit_first\n\ttest (count (commandline -opc)) = 2\n"
	      "\tand __perfkit_verb $argv\nend\n",
	      f);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "complete -c perfkit -f -n __fish_use_subcommand -a %s -d '",
			verbs[i]->name);
		put_brief(f, verbs[i]->brief, "");
		fputs("'\n", f);
	}
	fputs("complete -c perfkit -f -n __fish_use_subcommand -a help "
	      "-d 'options and examples of a command'\n"
	      "complete -c perfkit -n '__perfkit_verb help' -l completion -x "
	      "-a 'bash zsh fish'\n",
	      f);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "complete -c perfkit -f -n '__perfkit_verb help' -a %s\n",
			verbs[i]->name);
		if (verbs[i]->words)
			fprintf(f, "complete -c perfkit -f -n '__perfkit_first %s' -a '%s'\n",
				verbs[i]->name, verbs[i]->words);
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
