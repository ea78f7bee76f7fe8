#include "cmd/tlinput.h"
#include "cmd/say.h"
#include "libstore/build.h"
#include "libstore/store.h"
#include "libstore/storeread.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define AT(field) offsetof(struct tlinput_opts, field)

const struct opt tlinput_rows[] = {
	{"causes", 0, OPT_STRING, AT(causes), "FILE",
	 "more rules for causes, before the built-in"},
	{"idle-frame", 0, OPT_LIST, AT(idle_frames), "RE",
	 "a wait below a function matching RE is idle"},
	{"work-frame", 0, OPT_LIST, AT(work_frames), "RE",
	 "a wait below a function matching RE is never idle"},
	{"span", 0, OPT_LIST, AT(spans), "NAME=BEGIN..END[,key=FIELD]",
	 "work between two events; or syscalls, irq, softirq, block, contention"},
	OPT_END,
};

static int fail(const struct err *e)
{
	return input_fail(NULL, e);
}

/* Only a regular file is looked into; everything else is for libparse to judge. */
int tlinput_is_store(const char *path)
{
	char head[16];
	if (!strcmp(path, "-"))
		return 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);
	if (fd >= 0)
		close(fd);
	return n > 0 && store_is_sqlite(head, (unsigned long)n);
}

static int make_causes(struct tlinput *ti)
{
	const struct tlinput_opts *o = ti->opt;
	struct err e = {0};
	int r = causes_new(&ti->causes, &e);
	if (!r && o->causes)
		r = causes_load(ti->causes, o->causes, &e);
	for (size_t i = 0; !r && i < o->idle_frames.n; i++)
		r = causes_idle_frame(ti->causes, o->idle_frames.v[i], &e);
	for (size_t i = 0; !r && i < o->work_frames.n; i++)
		r = causes_work_frame(ti->causes, o->work_frames.v[i], &e);
	return r ? fail(&e) : 0;
}

static int needs_binaries(const struct tlinput *ti, const char *verb)
{
	const struct input_opts *o = &ti->opt->in;
	if (ti->opt->spans.n) {
		say_line("perfkit %s: %s is a store: its spans are fixed; give --span to "
			 "import",
			 verb, ti->path);
		return 2;
	}
	if (!o->symfs && !o->kallsyms && !o->vmlinux && !o->buildid_dir && !o->max_stack &&
	    !o->no_inline && !o->no_demangle)
		return 0;
	say_line("perfkit %s: %s is a store: its names are fixed; options about binaries "
		 "and frames are for recordings",
		 verb, ti->path);
	return 2;
}

static int load(struct tlinput *ti, const char *verb)
{
	struct err e = {0};
	struct store *s;
	int rc = needs_binaries(ti, verb);
	if (!rc)
		rc = input_open_filters(&ti->in, verb, &ti->opt->in, ti->path);
	if (rc)
		return rc;
	ti->names = &ti->stacks;
	int r = store_open(&s, ti->path, &e);
	if (!r)
		r = store_load(s, 0, &ti->tl, &ti->stacks, &e);
	store_close(s);
	if (!r && (ti->opt->causes || ti->opt->idle_frames.n || ti->opt->work_frames.n))
		r = causes_apply(ti->causes, &ti->tl, &e);
	return r ? fail(&e) : 0;
}

/* What the answer is about; see tlinput_open. */
static unsigned topics_of(int need_time)
{
	if (need_time < 0)
		return ABOUT_CPU | ABOUT_OFFCPU | ABOUT_TAIL | ABOUT_NAMES;
	return ABOUT_NAMES | (need_time ? ABOUT_TAIL : ABOUT_OFFCPU);
}

static int build(struct tlinput *ti, const char *verb, int need_time)
{
	struct err e = {0};
	struct input_progress p;
	struct survey survey = {0};
	struct build_options bo = {.watch = survey_watch, .watch_ctx = &survey};
	int rc = input_open(&ti->in, verb, &ti->opt->in, &ti->path, 1);
	if (rc)
		return rc;
	ti->names = &ti->in.profile->stacks;
	bo.spans = ti->opt->spans.v;
	bo.nspans = ti->opt->spans.n;
	input_progress_start(&p);
	if (input_shows_progress(&ti->opt->in)) {
		bo.progress = input_progress_show;
		bo.progress_ctx = &p;
	}
	int r = timeline_build(ti->in.profile, &bo, &ti->tl, &e);
	input_progress_end(&p);
	if (!r)
		r = causes_apply(ti->causes, &ti->tl, &e);
	if (!r && survey.failed)
		r = err_nomem(&e);
	rc = r ? fail(&e)
	       : input_warn_findings(&ti->in, &ti->tl, &survey, topics_of(need_time));
	survey_release(&survey);
	return rc;
}

int tlinput_open(struct tlinput *ti, const char *verb, const struct tlinput_opts *opt,
		 const char *path, int need_time)
{
	struct err e = {0};
	*ti = (struct tlinput){.opt = opt, .path = path, .in.opt = &opt->in};
	int rc = make_causes(ti);
	if (!rc)
		rc = tlinput_is_store(path) ? load(ti, verb) : build(ti, verb, need_time);
	if (!rc && need_time >= 0 && timeline_answerable(&ti->tl, need_time, &e)) {
		if (opt->in.force)
			input_warn(&ti->in, "%s: %s", path, e.msg);
		else
			rc = fail(&e);
	}
	if (rc)
		tlinput_close(ti);
	return rc;
}

void tlinput_close(struct tlinput *ti)
{
	timeline_release(&ti->tl);
	causes_free(ti->causes);
	input_close(&ti->in);
	stacks_release(&ti->stacks);
	ti->causes = NULL;
}
