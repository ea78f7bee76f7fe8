/* run_verb.c - a command line: options, sandbox, answer, exit status. */
#include "base/mem.h"
#include "base/os/os.h"
#include "base/shortage.h"
#include "cmd/cli/say.h"
#include "cmd/input/budget.h"
#include "cmd/input/form.h"
#include "cmd/input/sandbox.h"
#include "cmd/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MAX_FILES = 256 };

/* In the sandbox: 0, or the exit status. */
static int confined(const struct verb *v, const void *opts, const char *const *files,
		    size_t nfiles)
{
	struct err e = {0};
	if (!sandbox_enter(v, opts, files, nfiles, &e))
		return 0;
	say("%s", e.msg);
	return 1;
}

/* What records or runs programs needs a system that has them. */
static int is_refused(const struct verb *v)
{
	const char *here = v->runs_programs ? os_without_processes() : NULL;
	if (here)
		say("%s needs Linux, and this is %s; recordings from there can be read "
		    "here",
		    v->name, here);
	return here != NULL;
}

static int run(const struct verb *v, int argc, char **argv)
{
	const char *files[MAX_FILES];
	size_t nfiles;
	void *opts = mem_zalloc(1, v->options_size);
	if (!opts) {
		fprintf(stderr, "perfkit: out of memory\n");
		return 1;
	}
	if (v->defaults)
		v->defaults(opts);
	int rc = opt_parse(v, argc, argv, opts, files, &nfiles);
	if (rc == 1 || rc == 3) {
		opt_help(v, rc == 3);
		rc = 0;
	} else if (!rc) {
		rc = is_refused(v) ? 1 : opt_check_modes(v, opts);
		rc = rc || !v->begin ? rc : v->begin(opts);
		rc = rc ? rc : budget_begin(v, opts);
		rc = rc ? rc : form_begin(v, opts, argc, argv);
		rc = rc ? rc : confined(v, opts, files, nfiles);
		rc = form_end(rc ? rc : v->run(opts, files, nfiles));
		if (v->end)
			v->end(opts);
	}
	opt_release(v, opts);
	mem_free(opts);
	return rc;
}

int verb_finish(int rc)
{
	struct err e = {0};
	if ((!rc || (rc == 3 && !shortage_is_limit())) && shortage(&e)) {
		say("%s", e.msg);
		rc = budget_status();
	}
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return rc;
	if (rc != 1) /* else the writer has printed it */
		fprintf(stderr, "perfkit: stdout: cannot write%s%s\n", errno ? ": " : "",
			errno ? strerror(errno) : "");
	return 1;
}

int verb_main(const struct verb *v, int argc, char **argv)
{
	return verb_finish(run(v, argc, argv));
}
