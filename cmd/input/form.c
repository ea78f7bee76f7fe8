#include "cmd/input/form.h"
#include "base/os/os.h"
#include "base/text/shellword.h"
#include "cmd/cli/say.h"
#include "cmd/input/output.h"
#include "render/text/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEAST = 256, TOKEN = 3, COMMENT = 60000 };

/* What is done at the end. */
static struct {
	int kept, real; /* descriptors: what the verb prints, and stdout */
	int own_json;
	enum parts_form form;
	uint64_t most;
	struct buf command;
} form = {.kept = -1};

/* --- options ---------------------------------------------------------------------------- */

static const struct opt *option_of(const struct verb *v, const char *name)
{
	for (size_t t = 0; t < OPT_TABLES && v->tables[t]; t++)
		for (const struct opt *o = v->tables[t]; o->name; o++)
			if (!strcmp(o->name, name))
				return o;
	return NULL;
}

uint64_t form_budget(const char *s)
{
	static const struct {
		const char *unit;
		unsigned bytes;
	} units[] = {{"", 1},          {"B", 1},         {"k", 1000},     {"kB", 1000},
		     {"K", 1000},      {"M", 1000000},   {"MB", 1000000}, {"t", TOKEN},
		     {"token", TOKEN}, {"tokens", TOKEN}};
	char *end;
	errno = 0;
	uint64_t n = strtoull(s, &end, 10);
	if (end == s || *s == '-' || errno || n > UINT64_MAX / 1000000)
		return 0;
	end += strspn(end, " ");
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(end, units[i].unit))
			return n * units[i].bytes;
	return 0;
}

static int usage(const struct verb *v, const char *what)
{
	say_line("perfkit %s: %s (see: perfkit help %s)", v->name, what, v->name);
	return 2;
}

/* The command line without --budget and its argument; `bounded`: there is a bound without. */
static void put_command(struct buf *b, int argc, char **argv, int bounded)
{
	buf_fmt(b, "perfkit %s%s", argv[0], bounded ? " --budget 100M" : "");
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--budget")) {
			i++;
			continue;
		}
		if (!strncmp(argv[i], "--budget=", 9))
			continue;
		buf_char(b, ' ');
		shell_word(b, argv[i]);
	}
}

/* 1 if the option, a flag, is given. */
static int is_set(const struct verb *v, const void *opts, const char *name)
{
	const struct opt *o = option_of(v, name);
	return o && o->kind == OPT_FLAG && *(const int *)((const char *)opts + o->at);
}

/* Ask the verb for its own JSON, if it has any for what is asked. */
static int take_own_json(const struct verb *v, void *opts)
{
	const struct opt *o = option_of(v, "json");
	if (!o || !opt_goes(v, opts, "json"))
		return 0;
	*(int *)((char *)opts + o->at) = 1;
	return 1;
}

/* --- keeping ---------------------------------------------------------------------------- */

static int keep(void)
{
	fflush(stdout);
	form.kept = memfd_create("answer", MFD_CLOEXEC);
	form.real = form.kept < 0 ? -1 : dup(STDOUT_FILENO);
	if (form.real < 0 || dup2(form.kept, STDOUT_FILENO) < 0) {
		say("cannot keep the answer: %s", strerror(errno));
		return 1;
	}
	return 0;
}

int form_begin(const struct verb *v, void *opts, int argc, char **argv)
{
	const struct form_opts *o = opts;
	const struct opt *format = option_of(v, "format");
	if (!format || !option_of(v, "budget"))
		return 0;
	const char *as = o->format ? o->format : is_set(v, opts, "json") ? "json" : "text";
	int to_json = !strcmp(as, "json"), markdown = !strcmp(as, "markdown");
	int own_words = strcmp(format->arg, "text|markdown|json") != 0;
	form.most = o->budget ? form_budget(o->budget) : 0;
	if (o->budget && form.most < LEAST)
		return usage(v, "--budget is a size such as 4000, 8k or '2000 tokens', 256 "
				"bytes at least");
	if ((o->budget || o->format) && is_set(v, opts, "csv"))
		return usage(v, "--csv has no other --format and no --budget");
	if (o->budget && !to_json && !markdown && strcmp(as, "text") != 0)
		return usage(v, "--budget is for text, markdown and json");
	form.own_json = to_json && (own_words || take_own_json(v, opts));
	form.form = to_json ? PARTS_JSON : markdown ? PARTS_MARKDOWN : PARTS_TEXT;
	int comment = markdown && own_words && !form.most;
	form.most = comment ? COMMENT : form.most;
	if (!form.most && (form.own_json || form.form == PARTS_TEXT))
		return 0;
	put_command(&form.command, argc, argv, comment);
	return keep();
}

int form_is_data(void)
{
	return form.kept >= 0 && !form.own_json;
}

/* --- the end ---------------------------------------------------------------------------- */

static int put_bytes(const char *s, size_t n)
{
	struct parts_style style = {form.form, 0, form.most, buf_cstr(&form.command)};
	struct buf b = {0};
	style.width = output_width();
	int rc = form.own_json ? parts_json(&b, s, n, form.most, style.command)
			       : parts_write(&b, s, n, &style);
	if (rc)
		say(rc == ERR_FORMAT ? "the answer is not JSON" : "out of memory");
	else
		fwrite(b.v, 1, b.n, stdout);
	buf_release(&b);
	return rc;
}

int form_end(int rc)
{
	struct stat st;
	int kept = form.kept;
	if (kept < 0)
		return rc;
	int failed = fflush(stdout) || dup2(form.real, STDOUT_FILENO) < 0 || fstat(kept, &st);
	close(form.real);
	form.kept = -1;
	if (!failed && st.st_size) {
		void *v = os_map(kept, (uint64_t)st.st_size);
		failed = !v || put_bytes(v, (size_t)st.st_size);
	}
	close(kept);
	buf_release(&form.command);
	return failed && !rc ? 1 : rc;
}
