/* main.c - finds the verb, or prints help, and returns the exit status. */
#include "base/text/nearest.h"
#include "cmd/input/budget.h"
#include "cmd/cli/manpage.h"
#include "cmd/cli/options.h"
#include "cmd/input/sandbox.h"
#include "cmd/cli/say.h"
#include "cmd/input/scratch.h"
#include "cmd/cli/topics.h"
#include "cmd/verbs.h"

#include <elfutils/version.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

/* clang-format off */
static const struct verb *const verbs[] = {
	/* what most people need */
	&verb_record,
	&verb_report,
	&verb_tail,
	&verb_svg,
	&verb_html,
	&verb_pack,
	/* more */
	&verb_collapse,
	&verb_compare,
	&verb_doctor,
	&verb_export,
	&verb_fleet,
	&verb_import,
	&verb_mcp,
	&verb_source,
	&verb_symbols,
	&verb_timeline,
	&verb_unpack,
	&verb_watch,
};
/* clang-format on */
enum { VERBS = sizeof(verbs) / sizeof(*verbs), FIRST_VERBS = 6 };

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < VERBS; i++)
		if (!strcmp(verbs[i]->name, name))
			return verbs[i];
	return strcmp(name, "flamegraph") ? NULL : &verb_svg;
}

static void help(FILE *f)
{
	fputs("usage: perfkit COMMAND [options] [FILE]\n\n"
	      "Reads what `perf record` wrote, offline, and shows where CPU time and waiting\n"
	      "went. FILE defaults to perf.data; - is standard input.\n\n"
	      "Examples:\n"
	      "  perfkit record tail -p PID -d 10       record what the questions below need\n"
	      "  perfkit tail                           why were its slowest moments slow?\n"
	      "  perfkit report                         which functions and threads take "
	      "time?\n"
	      "  perfkit svg --offcpu -o waits.svg      where does it wait?\n\n"
	      "Commands:\n",
	      f);
	for (size_t i = 0; i < VERBS; i++)
		fprintf(f, "%s  %-10s %s\n", i == FIRST_VERBS ? "\nMore:\n" : "",
			verbs[i]->name, verbs[i]->brief);
	fputs("\nHelp:\n"
	      "  help COMMAND      examples and the command's own options\n",
	      f);
	for (const struct topic *t = topics; t->name; t++)
		fprintf(f, "  help %-12s %s\n", t->name, t->brief);
	fputs("  help --all        every option, and why it exists\n"
	      "  --version         versions of perfkit and its libraries\n",
	      f);
}

/* Suggest a command for an unknown word. Returns the exit status. */
static int unknown_command(const char *word, int with_topics)
{
	struct nearest x = nearest_to(word, strlen(word));
	for (size_t i = 0; i < VERBS; i++)
		nearest_offer(&x, verbs[i]->name);
	nearest_offer(&x, "flamegraph");
	nearest_offer(&x, "--version");
	if (!with_topics)
		nearest_offer(&x, "help");
	for (const struct topic *t = topics; with_topics && t->name; t++)
		nearest_offer(&x, t->name);
	say("no %s '%s'%s%s%s (see: perfkit help)", *word == '-' ? "option" : "command", word,
	    x.best ? "; did you mean '" : "", x.best ? x.best : "", x.best ? "'?" : "");
	return 2;
}

/* Print the versions of the libraries in use (for libtraceevent and libelf, which have no
 * function for it, those of their headers), and what the sandbox is made of. */
static int version(void)
{
	unsigned xxh = XXH_versionNumber();
	struct buf sandbox = {0};
	sandbox_describe(&sandbox);
	printf("perfkit %s\n", PERFKIT_VERSION);
	printf("libtraceevent %s\n", TRACEEVENT_VERSION);
	printf("elfutils      0.%d\n", _ELFUTILS_VERSION);
	printf("zstd          %s\n", ZSTD_versionString());
	printf("SQLite        %s\n", sqlite3_libversion());
	printf("xxHash        %u.%u.%u\n", xxh / 10000, xxh / 100 % 100, xxh % 100);
	printf("sandbox       %s\n", buf_cstr(&sandbox));
	buf_release(&sandbox);
	return 0;
}

/* `perfkit help NAME [--all]`: of a command or a topic. */
static int help_about(const char *name, int all)
{
	const struct verb *v = find_verb(name);
	const struct topic *t = topic_named(name);
	if (t) {
		topic_print(stdout, t);
		opt_topic(stdout, name, verbs, VERBS);
	} else if (v) {
		opt_help(v, all);
	}
	return t || v ? 0 : unknown_command(name, 1);
}

/* `help --all`; for the build: `help --man perfkit|VERB`, `help --completion SHELL`, `help
 * --verbs`. */
static int help_machine(const char *what, const char *name)
{
	const struct verb *v = find_verb(name);
	if (!strcmp(what, "--all"))
		options_print(stdout, verbs, VERBS);
	else if (!strcmp(what, "--verbs"))
		for (size_t i = 0; i < VERBS; i++)
			puts(verbs[i]->name);
	else if (!strcmp(what, "--man") && !strcmp(name, "perfkit"))
		man_perfkit(stdout, verbs, VERBS);
	else if (!strcmp(what, "--man") && v)
		man_verb(stdout, v);
	else if (strcmp(what, "--completion") || completion_script(stdout, name, verbs, VERBS))
		return fprintf(stderr,
			       "perfkit help: --man perfkit|VERB, --completion bash|zsh|fish, "
			       "--all, --verbs; not '%s %s'\n",
			       what, name),
		       2;
	return 0;
}

static int help_command(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[0], "--all"))
		return help_about(argv[1], 1);
	if (argc > 0 && !strncmp(argv[0], "--", 2))
		return help_machine(argv[0], argc > 1 ? argv[1] : "");
	if (argc > 0)
		return help_about(argv[0], argc > 1 && !strcmp(argv[1], "--all"));
	help(stdout);
	return 0;
}

/* Files are mapped: one that is truncated meanwhile, or a disk failure, raises SIGBUS. */
static void on_bus(int sig)
{
	static const char line[] =
		"perfkit: a file became shorter while it was read, or its disk failed\n";
	(void)sig;
	if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0)
		_exit(1);
	scratch_remove();
	_exit(1);
}

/* The next file would get the number of a closed standard stream. What replaces it can be
 * neither read nor written (except stderr), so that lost results are reported.
 */
static void fill_standard_streams(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY) < 0)
			return;
}

/* At the limit of file sizes, write returns EFBIG. Programs that are run do not inherit a
 * handler, unlike SIG_IGN. */
static void on_file_size(int sig)
{
	(void)sig;
}

int main(int argc, char **argv)
{
	fill_standard_streams();
	sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = on_file_size}, NULL);
	/* may be ignored by who started it: waitpid would fail */
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
	sigaction(SIGBUS, &(struct sigaction){.sa_handler = on_bus}, NULL);
	const char *word = argc < 2 ? "--help" : argv[1];
	const struct verb *v = find_verb(word);
	if (v) {
		int rc = budget_stack();
		return rc ? verb_finish(rc) : verb_main(v, argc - 1, argv + 1);
	}
	if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
		if (argc > 2 && !strcmp(argv[2], "--all"))
			return verb_finish(help_command(1, argv + 2));
		help(argc < 2 ? stderr : stdout);
		return verb_finish(argc < 2 ? 2 : 0);
	}
	if (!strcmp(word, "--version") || !strcmp(word, "-V") || !strcmp(word, "version"))
		return verb_finish(version());
	if (!strcmp(word, "help"))
		return verb_finish(help_command(argc - 2, argv + 2));
	return unknown_command(word, 0);
}
