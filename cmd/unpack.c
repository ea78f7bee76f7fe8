/* unpack.c - `perfkit unpack`: a bundle's files into a folder. */
#include "base/text/buf.h"
#include "base/mem.h"
#include "base/text/path.h"
#include "cmd/verbs.h"
#include "cmd/cli/say.h"
#include "cmd/input/sandbox.h"
#include "libparse/archive/bundle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct unpack_opts {
	const char *directory;
	int force, quiet, no_sandbox;
};

#define AT(field) offsetof(struct unpack_opts, field)
static const struct opt rows[] = {
	{"directory", 'C', OPT_OUTPUT, AT(directory), "DIR",
	 "unpack into DIR, made if needed\n(default: the bundle's name without .tar.zst, plus "
	 ".unpacked where a file has that name)"},
	{"force", 'f', OPT_FLAG, AT(force), NULL, "replace existing files"},
	{"quiet", 'q', OPT_FLAG, AT(quiet), NULL, "do not list what was unpacked"},
	SANDBOX_OPTION(AT(no_sandbox)),
	OPT_END,
};

/* "x/run.tar.zst" → "run", in the current directory, or "run.unpacked" next to a file "run",
 * such as the recording that was packed; heap. */
static char *default_dir(const char *bundle)
{
	const char *base = path_base(bundle);
	const char *dot = strstr(base, ".tar");
	struct buf b = {0};
	struct stat st;
	size_t n = dot ? (size_t)(dot - base) : 0;
	if (n)
		buf_add(&b, base, n);
	else
		buf_str(&b, strcmp(base, "-") ? base : "bundle");
	if (!n || (!stat(buf_cstr(&b), &st) && !S_ISDIR(st.st_mode)))
		buf_str(&b, ".unpacked");
	buf_cstr(&b); /* ends in a NUL */
	if (!b.failed)
		return b.v;
	buf_release(&b);
	return NULL;
}

static int fail(const struct err *e)
{
	say_line("perfkit unpack: %s", e->msg);
	return e->code == ERR_REFUSED ? 3 : 1;
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	const struct unpack_opts *o = opts;
	struct source src;
	struct bundle_counts counts;
	struct err e = {0};
	if (!nfiles) {
		say_line("perfkit unpack: no bundle named (see: perfkit help unpack)");
		return 2;
	}
	char *dir = o->directory ? mem_strdup(o->directory) : default_dir(files[0]);
	int rc = dir ? source_open(&src, files[0], &e) : err_nomem(&e);
	if (!rc) {
		rc = bundle_unpack(&src, dir,
				   (o->force ? BUNDLE_OVERWRITE : 0) |
					   (o->directory ? 0 : BUNDLE_DERIVED),
				   &counts, &e);
		source_close(&src);
	}
	if (!rc && !o->quiet)
		printf("%s: %" PRIu64 " files, %.1f MB\n", dir, counts.files,
		       (double)counts.bytes / 1e6);
	mem_free(dir);
	return rc ? fail(&e) : 0;
}

const struct verb verb_unpack = {
	.name = "unpack",
	.brief = "unpack a bundle made by pack",
	.usage = "[-C DIR] BUNDLE",
	.text = "Commands read bundles directly, and unpacked ones by the name of their "
		"folder.\n"
		"Unpack one to look into it, to use it with other tools, or to add a missing "
		"file.\n"
		"Links, devices and names that lead out of DIR are refused.",
	.examples = "  perfkit unpack run.tar.zst\n"
		    "  perfkit unpack run.tar.zst -C /tmp/run && perfkit report /tmp/run",
	.tables = {rows},
	.options_size = sizeof(struct unpack_opts),
	.max_files = 1,
	.run = run,
};
