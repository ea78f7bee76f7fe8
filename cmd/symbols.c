/*
 * symbols.c - `perfkit symbols`: a table of the names in programs and libraries, for frames
 * that export --no-names left as offsets.
 */
#include "base/count.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "cmd/cli/say.h"
#include "cmd/input/sandbox.h"
#include "cmd/verbs.h"
#include "render/parquet/names_parquet.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

struct symbols_opts {
	const char *to, *output, *symfs, *buildid_dir;
	int no_inline, no_demangle, constructors, no_local, force, quiet, no_sandbox;
};

#define AT(field) offsetof(struct symbols_opts, field)
static const struct opt rows[] = {
	OPT_HEADING("Output"),
	{"to", 0, OPT_STRING, AT(to), "parquet", "the format"},
	{"output", 'o', OPT_OUTPUT, AT(output), "DIR",
	 "the folder of tables to add to\n(DIR/symbols/BUILD-ID.parquet)"},
	{"force", 'f', OPT_FLAG, AT(force), NULL, "replace a table of other content"},
	OPT_HEADING("Symbols"),
	{"no-inline", 0, OPT_FLAG, AT(no_inline), NULL, "leave out inlined functions"},
	{"no-demangle", 0, OPT_FLAG, AT(no_demangle), NULL, "keep C++ and Rust names mangled"},
	{"constructors", 0, OPT_FLAG, AT(constructors), NULL,
	 "tell C++ copy and move constructors apart"},
	{"symfs", 0, OPT_STRING, AT(symfs), "DIR", "look for debug files below DIR, too"},
	{"buildid-dir", 0, OPT_STRING, AT(buildid_dir), "DIR",
	 "build-id cache (default: ~/.debug)"},
	{"no-local", 0, OPT_FLAG, AT(no_local), NULL,
	 "look in --symfs and --buildid-dir alone"},
	OPT_HEADING("General"),
	{"quiet", 'q', OPT_FLAG, AT(quiet), NULL, "do not report each file"},
	SANDBOX_OPTION(AT(no_sandbox)),
	OPT_END,
};

/* The files given with one build-id. */
struct given {
	struct build_id id;
	const char *runtime, *debug;
};

static int usage(const char *what)
{
	say_line("perfkit symbols: %s (see: perfkit help symbols)", what);
	return 2;
}

static int fail(const struct err *e)
{
	say("%s", e->msg);
	return 1;
}

static int is_id(const struct build_id *a, const struct build_id *b)
{
	return a->len == b->len && !memcmp(a->v, b->v, a->len);
}

/* Add a file to those of its build-id. */
static int note(struct given *v, size_t *n, const char *path, struct err *e)
{
	struct named_file look;
	size_t i = 0;
	int r = named_file_look(path, &look, e);
	if (r)
		return r;
	while (i < *n && !is_id(&v[i].id, &look.id))
		i++;
	if (i == *n)
		v[(*n)++] = (struct given){.id = look.id};
	*(look.is_debug ? &v[i].debug : &v[i].runtime) = path;
	return 0;
}

static int make_folder(const char *path, struct err *e)
{
	return mkdir(path, 0777) && errno != EEXIST
		       ? err_sys(e, "%s: cannot make the folder", path)
		       : 0;
}

static int write_table(const struct symbols_opts *o, const struct given *g,
		       struct file_names *names, size_t *n, struct err *e)
{
	char path[PATH_MAX], hex[2 * BUILD_ID_MAX + 1];
	const char *dir = o->output;
	struct outfile out;
	int folder = snprintf(path, sizeof(path), "%s/symbols", dir);
	if (folder + 2 * BUILD_ID_MAX + 16 >= PATH_MAX)
		return err_set(e, ERR_IO, "%s: the folder's name is too long", dir);
	int r = make_folder(dir, e);
	r = r ? r : make_folder(path, e);
	if (r)
		return r;
	snprintf(path + folder, sizeof(path) - (size_t)folder, "/%s.parquet",
		 build_id_hex(&g->id, hex));
	r = outfile_open_derived(&out, path, 0666, e);
	if (r)
		return r;
	r = names_parquet_write(names, hex, out.f, n, e);
	if (!r && !o->force && !fflush(out.f))
		r = outfile_keep_other(&out, e);
	return outfile_end(&out, r, e);
}

static int export_one(const struct symbols_opts *o, const struct given *g)
{
	struct modules_options opt = {.find = {.symfs = o->symfs,
					       .buildid_dir = o->buildid_dir ? o->buildid_dir
							      : o->no_local  ? ""
									     : NULL,
					       .no_local = o->no_local,
					       .debuginfod = !o->no_local},
				      .no_demangle = o->no_demangle,
				      .constructors = o->constructors,
				      .inlines = !o->no_inline};
	struct file_names *names = NULL;
	struct err e = {0};
	size_t n = 0;
	char hex[2 * BUILD_ID_MAX + 1];
	int r = file_names_open(&names, g->runtime, g->debug, &opt, &e);
	r = r ? r : write_table(o, g, names, &n, &e);
	file_names_close(names);
	if (r)
		return fail(&e);
	if (!o->quiet)
		say("%s: %s, build-id %s", g->runtime ? g->runtime : g->debug,
		    COUNT(n, "range"), build_id_hex(&g->id, hex));
	return 0;
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	const struct symbols_opts *o = opts;
	struct err e = {0};
	size_t n = 0;
	int rc = 0;
	if (!o->to || strcmp(o->to, "parquet") != 0)
		return usage("name the format: --to parquet");
	if (!o->output)
		return usage("name the folder of tables with -o DIR");
	if (!nfiles)
		return usage("name programs, libraries or their debug files");
	struct given *v = mem_alloc(nfiles * sizeof(*v));
	rc = v ? 0 : fail((err_nomem(&e), &e));
	for (size_t i = 0; !rc && i < nfiles; i++)
		rc = note(v, &n, files[i], &e) ? fail(&e) : 0;
	for (size_t i = 0; !rc && i < n; i++)
		rc = export_one(o, &v[i]);
	mem_free(v);
	return rc;
}

const struct verb verb_symbols = {
	.name = "symbols",
	.brief = "write a binary's names as a table, for export --no-names",
	.usage = "--to parquet -o DIR FILE...",
	.text = "FILE is a program, a library, or its separate debug file, which perfkit "
		"otherwise\n"
		"looks for itself. Each build-id becomes one table of address ranges and "
		"their\n"
		"names, innermost function first, made once for the whole fleet. The names of "
		"a\n"
		"frame exported with --no-names are those of the last range of its build-id "
		"that\n"
		"starts at or below its offset: docs/fleet.md has the query.",
	.examples = "  perfkit symbols --to parquet -o tables /usr/bin/app /usr/lib/libapp.so\n"
		    "  perfkit symbols --to parquet -o tables app app.debug",
	.tables = {rows},
	.options_size = sizeof(struct symbols_opts),
	.max_files = 256,
	.run = run,
};
