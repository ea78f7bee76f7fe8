/*
 * fleet.c - `perfkit fleet`: answers a question about the tables of many recordings with an
 * installed SQL engine.
 */
#include "base/child.h"
#include "base/text/buf.h"
#include "base/text/nearest.h"
#include "base/vec.h"
#include "cmd/cli/say.h"
#include "cmd/fleet_queries.h"
#include "cmd/input/form.h"
#include "cmd/input/output.h"
#include "cmd/input/sandbox.h"
#include "cmd/input/scratch.h"
#include "cmd/verbs.h"
#include "render/text/escape.h"
#include "render/text/table.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct fleet_opts {
	struct form_opts form;
	const char *since, *sql;
	int csv, no_sandbox;
};

#define AT(field) offsetof(struct fleet_opts, field)
static const struct opt rows[] = {
	OPT_HEADING("Options"),
	{"since", 0, OPT_STRING, AT(since), "DATE",
	 "only of that day (UTC) and later: 2026-08-03"},
	{"csv", 0, OPT_FLAG, AT(csv), NULL, "print CSV: times in nanoseconds"},
	FORM_ROWS,
	{"sql", 0, OPT_STRING, AT(sql), "duckdb|clickhouse|spark",
	 "print the query as SQL for that engine, run nothing;\nwith the views it needs"},
	SANDBOX_OPTION(AT(no_sandbox)),
	OPT_END,
};

static int usage(const char *what)
{
	say_line("perfkit fleet: %s (see: perfkit help fleet)", what);
	return 2;
}

/* --- the engine ------------------------------------------------------------------------- */

/* Python's module duckdb, if the program duckdb is missing. */
/* -I leaves out the caller's own packages, too; they are no input's. */
static const char python[] = "import csv, site, sys\n"
			     "site.addsitedir(site.getusersitepackages())\n"
			     "try:\n"
			     "    import duckdb\n"
			     "except ImportError:\n"
			     "    sys.exit(126)\n"
			     "try:\n"
			     "    r = duckdb.connect().execute(sys.argv[1])\n"
			     "except duckdb.Error as e:\n"
			     "    sys.exit(str(e))\n"
			     "w = csv.writer(sys.stdout, lineterminator='\\n')\n"
			     "w.writerow([d[0] for d in r.description])\n"
			     "while rows := r.fetchmany(10000):\n"
			     "    w.writerows(rows)\n";

enum {
	NOT_HERE = 126,
	NOT_FOUND = 127,
	ANSWER_MAX = 256 << 20, /* a small table may hold one long text for many rows */
};

/* s3://bucket/tables, which DuckDB reads itself. */
static int is_remote(const char *dir)
{
	return strstr(dir, "://") != NULL;
}

/* In the child: run the engine in our own folder. In that of the tables, Python would take a
 * stranger's csv.py for its own (-I looks only where Python is installed). */
static void become_engine(const char *scratch, const char *sql, int out, int errors,
			  int try_python)
{
	const char *duckdb[] = {"duckdb", "-batch", "-bail", "-csv", "-nullvalue",
				"",       "-c",     sql,     NULL};
	const char *module[] = {"python3", "-I", "-c", python, sql, NULL};
	prctl(PR_SET_PDEATHSIG, SIGTERM); /* what it spills is removed with its parent */
	if (dup2(out, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0)
		_exit(1);
	child_become(try_python ? module : duckdb, scratch, CHILD_CLEAN);
	_exit(NOT_FOUND);
}

static int read_all(int fd, struct buf *out)
{
	char piece[1 << 16];
	ssize_t n = 0;
	while (!buf_failed(out) &&
	       ((n = read(fd, piece, sizeof(piece))) > 0 || (n < 0 && errno == EINTR)))
		if (n > 0)
			buf_add(out, piece, (size_t)n);
	return n < 0 ? ERR_IO : buf_failed(out);
}

/* Ask an engine. Returns its exit status; *out has its output, *said what it wrote to stderr. */
static int ask(const char *scratch, const char *sql, int try_python, struct buf *out,
	       struct buf *said)
{
	int fd[2], status = -1, errors = memfd_create("duckdb", MFD_CLOEXEC);
	if (errors < 0)
		return 1;
	if (pipe(fd)) {
		close(errors);
		return 1;
	}
	fflush(stdout);
	pid_t pid = fork();
	if (!pid) {
		close(fd[0]);
		become_engine(scratch, sql, fd[1], errors, try_python);
	}
	close(fd[1]);
	int r = pid < 0 ? ERR_IO : read_all(fd[0], out);
	close(fd[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	buf_clear(said);
	lseek(errors, 0, SEEK_SET);
	read_all(errors, said);
	close(errors);
	return r || !WIFEXITED(status) ? 1 : WEXITSTATUS(status);
}

/* Print what DuckDB said: it quotes the tables, which a stranger may have written. */
static void put_said(const char *text)
{
	struct buf b = {0};
	for (size_t n; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		escape_visible(&b, text, n);
		buf_char(&b, '\n');
	}
	fputs(buf_cstr(&b), stderr);
	buf_release(&b);
}

/* Why DuckDB failed, in a line where that is known. */
static void say_why(const char *dir, struct buf *said)
{
	struct buf line = {0};
	const char *text = buf_cstr(said), *column = strstr(text, "Binder Error"),
		   *file = strstr(text, "No files found");
	const char *first = column ? column : file;
	if (first)
		escape_visible(&line, first, strcspn(first, "\n"));
	if (column)
		say("%s: tables of an older version lack a column that this question needs: "
		    "export those recordings again (%s)",
		    dir, buf_cstr(&line));
	else if (file)
		say("%s: a table that this question needs is missing (%s)", dir,
		    buf_cstr(&line));
	else {
		put_said(text);
		say("%s: duckdb could not answer", dir);
	}
	buf_release(&line);
}

static void put_quoted(struct buf *sql, const char *text)
{
	for (; *text; text++)
		buf_fmt(sql, *text == '\'' ? "''" : "%c", *text);
}

/* DuckDB spills into the current folder, and leaves that there when it is killed; so that is a
 * folder of ours, in which the link "tables" leads to those of this machine. */
static int prepare_folder(const char *dir, struct buf *sql, const char **scratch)
{
	char real[PATH_MAX], link[PATH_MAX];
	struct err e = {0};
	int rc = scratch_dir(scratch, &e);
	if (!rc && !is_remote(dir) &&
	    (!realpath(dir, real) ||
	     snprintf(link, sizeof(link), "%s/tables", *scratch) >= (int)sizeof(link) ||
	     symlink(real, link)))
		rc = err_sys(&e, "%s", dir);
	if (rc) {
		say("%s", e.msg);
		return 1;
	}
	buf_str(sql, "SET temp_directory = '");
	put_quoted(sql, *scratch);
	buf_str(sql, "';\nSET VARIABLE tables = '");
	put_quoted(sql, is_remote(dir) ? dir : "tables");
	buf_str(sql, "/';\n");
	return 0;
}

static int ask_any(const char *dir, const char *scratch, const char *sql, struct buf *out)
{
	int rc = NOT_FOUND;
	struct buf said = {.max = ANSWER_MAX};
	for (int try_python = 0; try_python < 2 && rc == NOT_FOUND; try_python++)
		rc = ask(scratch, sql, try_python, out, &said);
	if (rc == NOT_FOUND || rc == NOT_HERE) {
		say("duckdb is not installed; install it with `pip install duckdb` or from "
		    "duckdb.org; --sql prints the query for other engines");
		rc = 3;
	} else if (rc) {
		if (buf_failed(out) == ERR_LIMIT)
			say("%s: the answer is larger than %d MB", dir, ANSWER_MAX >> 20);
		else if (buf_failed(out))
			say("out of memory");
		else
			say_why(dir, &said);
		rc = 1;
	} else
		put_said(buf_cstr(&said));
	buf_release(&said);
	return rc;
}

/* --- its answer ------------------------------------------------------------------------- */

struct answer {
	struct buf text; /* all cells, each ended by a NUL */
	VEC(size_t) cells;
	size_t columns;
};

static const char *cell(const struct answer *a, size_t row, size_t column)
{
	return a->text.v + a->cells.v[row * a->columns + column];
}

/* Parse one CSV cell at p; returns what follows it. */
static const char *parse_cell(struct answer *a, const char *p, const char *end)
{
	int quoted = p < end && *p == '"';
	for (p += quoted; p < end; p++) {
		if (quoted && *p == '"' && (p + 1 == end || p[1] != '"')) {
			p++;
			break;
		}
		if (!quoted && (*p == ',' || *p == '\n' || *p == '\r'))
			break;
		p += quoted && *p == '"';
		buf_char(&a->text, *p);
	}
	buf_char(&a->text, '\0');
	return p + (p < end && *p == '\r');
}

static int parse(struct answer *a, const struct buf *csv)
{
	const char *p = csv->v, *end = p + csv->n;
	while (p < end) {
		if (vec_push(&a->cells, a->text.n))
			return ERR_NOMEM;
		p = parse_cell(a, p, end);
		if (!a->columns && (p >= end || *p == '\n'))
			a->columns = a->cells.n;
		p += p < end;
	}
	buf_cstr(&a->text);
	if (!a->columns || a->cells.n % a->columns || a->columns > TABLE_COLUMNS)
		return ERR_FORMAT;
	return buf_failed(&a->text);
}

static int is_duration(const char *head)
{
	size_t n = strlen(head);
	return n > 3 && !strcmp(head + n - 3, "_ns");
}

static int is_number(const char *s)
{
	char *end;
	strtod(s, &end);
	return *s && !*end;
}

static int all_numbers(const struct answer *a, size_t column)
{
	size_t some = 0;
	for (size_t r = 1; r < a->cells.n / a->columns; r++) {
		const char *s = cell(a, r, column);
		if (*s && !is_number(s))
			return 0;
		some += *s != '\0';
	}
	return some > 0;
}

static void add_cell(struct table *t, const char *text, int duration)
{
	int plain = *text != '\0';
	for (const char *p = text; *p; p++)
		plain = plain && isdigit((unsigned char)*p);
	if (duration && plain)
		table_duration(t, strtoull(text, NULL, 10));
	else
		table_text(t, *text ? text : "-");
}

/* Make all texts visible: they are of tables that a stranger may have written. */
static int escape_cells(struct answer *a)
{
	struct buf was = a->text;
	a->text = (struct buf){0};
	for (size_t i = 0; i < a->cells.n; i++) {
		const char *s = was.v + a->cells.v[i];
		a->cells.v[i] = a->text.n;
		escape_visible(&a->text, s, strlen(s));
		buf_char(&a->text, '\0');
	}
	buf_release(&was);
	return buf_failed(&a->text);
}

/* Print a column "waited_ns" as durations with units, "waited". */
static void print_table(struct answer *a, struct buf *out)
{
	struct table_column columns[TABLE_COLUMNS];
	int durations[TABLE_COLUMNS];
	for (size_t i = 0; i < a->columns; i++) {
		char *head = a->text.v + a->cells.v[i];
		durations[i] = is_duration(head);
		columns[i] = (struct table_column){.head = head, .right = all_numbers(a, i)};
		columns[i].cut = columns[i].right ? TABLE_WHOLE : TABLE_CUT;
		if (durations[i])
			head[strlen(head) - 3] = '\0';
		for (; *head; head++)
			*head = *head == '_' ? ' ' : *head;
	}
	struct table t = {.columns = columns, .ncolumns = a->columns};
	for (size_t r = 1; r < a->cells.n / a->columns; r++)
		for (size_t i = 0; i < a->columns; i++)
			add_cell(&t, cell(a, r, i), durations[i]);
	table_write(out, &t, output_width());
	table_release(&t);
}

/* Print "stack weight" lines, as svg and collapse read them. */
static void print_folded(const struct answer *a, struct buf *out)
{
	for (size_t r = 1; r < a->cells.n / a->columns; r++) {
		escape_controls(out, cell(a, r, 0), strlen(cell(a, r, 0)));
		buf_fmt(out, " %s\n", cell(a, r, 1));
	}
}

/* Print CSV without what controls a terminal; a cell's line ends stay. */
static int print_csv(const struct buf *csv)
{
	struct buf out = {0};
	for (size_t at = 0, n; at < csv->n; at += n + 1) {
		const char *p = csv->v + at, *nl = memchr(p, '\n', csv->n - at);
		n = nl ? (size_t)(nl - p) : csv->n - at;
		escape_controls(&out, p, n);
		if (nl)
			buf_char(&out, '\n');
	}
	int failed = buf_failed(&out);
	if (failed)
		say("out of memory");
	else
		fwrite(out.v, 1, out.n, stdout);
	buf_release(&out);
	return failed ? 1 : 0;
}

static int print_answer(const struct buf *csv)
{
	struct answer a = {.columns = 0};
	struct buf out = {0};
	int r = parse(&a, csv);
	if (!r && !strcmp(cell(&a, 0, 0), "folded"))
		print_folded(&a, &out);
	else if (!r && !(r = escape_cells(&a)))
		print_table(&a, &out);
	if (r == ERR_FORMAT)
		say("duckdb printed no table");
	else if (r || buf_failed(&out))
		say("out of memory");
	else
		fwrite(out.v, 1, out.n, stdout);
	r = r || buf_failed(&out) ? 1 : 0;
	buf_release(&out);
	buf_release(&a.text);
	vec_release(&a.cells);
	return r;
}

/* --- the question ----------------------------------------------------------------------- */

static const struct fleet_text *find_query(const char *name)
{
	const struct fleet_text *q = fleet_named(fleet_queries, name);
	struct buf b = {0};
	if (q)
		return q;
	buf_fmt(&b, "there is no question %s", name);
	opt_suggest(&b, verb_fleet.words, name);
	usage(buf_cstr(&b));
	buf_release(&b);
	return NULL;
}

static int is_date(const char *s)
{
	static const char like[] = "0000-00-00";
	size_t i = 0;
	while (like[i] && (like[i] == '-' ? s[i] == '-' : isdigit((unsigned char)s[i])))
		i++;
	return !like[i] && !s[i];
}

static int check_folder(const char *dir)
{
	struct buf b = {0};
	struct stat st;
	if (is_remote(dir))
		return 0;
	buf_fmt(&b, "%s/recordings", dir);
	int failed = buf_failed(&b), is = !stat(buf_cstr(&b), &st) && S_ISDIR(st.st_mode);
	buf_release(&b);
	if (failed)
		say("out of memory");
	else if (!is)
		say("%s: holds no tables; perfkit export --to parquet -o DIR FILE... makes "
		    "them",
		    dir);
	return is ? 0 : 1;
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	const struct fleet_opts *o = opts;
	const struct fleet_text *q = nfiles ? find_query(files[0]) : NULL;
	const char *scratch = NULL;
	struct buf sql = {0}, csv = {.max = ANSWER_MAX};
	int rc = !nfiles                          ? usage("name a question")
		 : !q                             ? 2
		 : o->since && !is_date(o->since) ? usage("--since takes a day: 2026-08-03")
		 : o->sql                         ? 0
		 : nfiles < 2                     ? usage("name the folder of the tables")
						  : check_folder(files[1]);
	if (rc)
		return rc;
	if (!o->sql && prepare_folder(files[1], &sql, &scratch))
		return 1;
	if (o->sql && nfiles > 1 && is_remote(files[1])) {
		buf_str(&sql, "SET VARIABLE tables = '");
		put_quoted(&sql, files[1]);
		buf_str(&sql, "/';\n");
	}
	buf_str(&sql, fleet_named(fleet_preludes, o->sql ? o->sql : "duckdb")->sql);
	if (o->since) /* digits */
		buf_fmt(&sql, "SET VARIABLE since = DATE '%s';\n", o->since);
	buf_str(&sql, q->sql);
	if (buf_failed(&sql)) {
		say("out of memory");
		rc = 1;
	} else if (o->sql)
		fputs(buf_cstr(&sql), stdout);
	else
		rc = ask_any(files[1], scratch, buf_cstr(&sql), &csv);
	if (!rc && !o->sql && o->csv)
		rc = print_csv(&csv);
	else if (!rc && !o->sql)
		rc = print_answer(&csv);
	buf_release(&sql);
	buf_release(&csv);
	return rc;
}

const struct verb verb_fleet = {
	.name = "fleet",
	.runs_programs = 1,
	.brief = "ask the tables of many recordings, with DuckDB",
	.usage = "[options] QUESTION DIR",
	.text = "DIR is what perfkit export --to parquet wrote, or where it was copied:\n"
		"s3://bucket/tables. The questions:\n"
		"\n"
		"  hosts    which hosts wait most in the middle of work, and why\n"
		"  roots    what caused the worst waits, and on how many hosts\n"
		"  spans    percentiles of spans by name, host, version and hour\n"
		"  new      programs, wait sites, roots and functions that are new on the\n"
		"           last day, or take more than twice as much time as before\n"
		"  worst    the worst 20 episodes anywhere, and the recording to open\n"
		"  flame    the fleet's waiting as folded stacks, for perfkit svg\n"
		"  cpu      its CPU time as folded stacks\n"
		"  losses   what each host's recordings lack\n"
		"  clocks   which hosts' times can be compared, and how exactly\n"
		"\n"
		"docs/fleet.md says how to get tables from a fleet, and what they cost.",
	.examples =
		"  perfkit export --to parquet -o tables web-*.data\n"
		"  perfkit fleet roots tables\n"
		"  perfkit fleet flame --since 2026-08-03 tables | perfkit svg - -o fleet.svg\n"
		"  perfkit fleet hosts --sql clickhouse",
	.exits = "3  there is no duckdb here",
	.words = "hosts roots spans new worst flame cpu losses clocks",
	.tables = {rows},
	.options_size = sizeof(struct fleet_opts),
	.max_files = 2,
	.run = run,
};
