/* watch_answer.c - the children of `perfkit watch`, which answer and save. */
#include "base/mem.h"
#include "base/outfile.h"
#include "cmd/cli/say.h"
#include "cmd/answer/watch_run.h"
#include "libtime/sched/timeline_answers.h"
#include "libtime/sched/timeline_parts.h"
#include "render/tail/spike_text.h"
#include "render/text/units.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- answering ------------------------------------------------------------------------ */

struct feeder {
	struct history *h;
	int fd;
};

static void *feed(void *arg)
{
	struct feeder *x = arg;
	FILE *f = fdopen(x->fd, "w");
	if (f)
		history_write_away(x->h, f);
	if (f)
		fclose(f);
	else
		close(x->fd);
	return NULL;
}

static void print_spikes(struct spikes *s, const struct spike_query *q, uint64_t *first,
			 uint64_t *last)
{
	struct buf b = {0};
	for (size_t i = 0; i < s->rows.n; i++) {
		const struct episode *ep =
			&s->tail.episodes.v.v[s->tail.rows.v[s->rows.v[i]].episode];
		spike_line(&b, s, q, i);
		*first = !*first || ep->start_ns < *first ? ep->start_ns : *first;
		*last = ep->end_ns;
	}
	if (s->more || s->more_suspect) {
		buf_str(&b, "... and ");
		if (s->more)
			units_plural(&b, s->more, "shorter spike", "shorter spikes");
		if (s->more && s->more_suspect)
			buf_str(&b, ", ");
		if (s->more_suspect)
			units_plural(&b, s->more_suspect, "suspect wait", "suspect waits");
		buf_char(&b, '\n');
	}
	if (b.n && !buf_failed(&b))
		fwrite(b.v, 1, b.n, stdout);
	fflush(stdout);
	buf_release(&b);
}

static int find(struct tlinput *ti, const struct watch_plan *plan, struct spike_query *q,
		struct watch_counts *counts, uint64_t *first, uint64_t *last)
{
	struct err e = {0};
	struct spikes s;
	q->of = waits_population(ti, &plan->opt->wait);
	q->of.ranked = !plan->opt->unclear;
	if (spikes_find(&s, &ti->tl, q, &e))
		return input_fail(&ti->in, &e);
	print_spikes(&s, q, first, last);
	*counts = s.counts;
	spikes_release(&s);
	return 0;
}

/* A stream that has no waits, or only parts of them: an error. --off-cpu may still send some. */
static int check_stream(struct tlinput *ti, int ended)
{
	struct err e = {0};
	if (!ended && timeline_has_event(&ti->tl, "offcpu-time"))
		return 0;
	return timeline_answerable(&ti->tl, 1, &e) ? input_fail(&ti->in, &e) : 0;
}

int watch_answer(const struct watch_plan *plan, struct history *h, struct spike_query q,
		 int checked, struct watch_counts *counts, uint64_t *first_ns,
		 uint64_t *last_ns)
{
	struct tlinput ti;
	char path[32];
	int fd[2];
	pthread_t thread;
	struct err e = {0};
	*first_ns = *last_ns = 0;
	if (pipe(fd))
		return input_fail(NULL, (err_sys(&e, "pipe"), &e));
	struct feeder x = {h, fd[1]};
	if (pthread_create(&thread, NULL, feed, &x))
		return input_fail(NULL, (err_nomem(&e), &e));
	snprintf(path, sizeof(path), "/dev/fd/%d", fd[0]);
	int rc = tlinput_open(&ti, "watch", &plan->opt->wait.tl, path, &tlinput_times);
	if (rc)
		return rc;
	rc = checked ? check_stream(&ti, q.safe_ns == UINT64_MAX) : 0;
	rc = rc ? rc : find(&ti, plan, &q, counts, first_ns, last_ns);
	pthread_join(thread, NULL);
	return rc;
}

/* --- saving --------------------------------------------------------------------------- */

struct saved {
	char name[64];
	int64_t written_ns;
};

static int oldest_first(const void *a, const void *b)
{
	const struct saved *x = a, *y = b;
	return x->written_ns < y->written_ns ? -1 : x->written_ns > y->written_ns;
}

/* Remove the oldest files beyond --keep. */
static void prune(const char *folder, int keep)
{
	VEC(struct saved) v = {0};
	DIR *d = opendir(folder);
	char path[4096];
	struct stat st;
	for (const struct dirent *x; d && (x = readdir(d));) {
		struct saved s = {0};
		size_t n = strlen(x->d_name);
		if (strncmp(x->d_name, "spike-", 6) || n < 12 || n >= sizeof(s.name) ||
		    strcmp(x->d_name + n - 5, ".data"))
			continue;
		memcpy(s.name, x->d_name, n);
		snprintf(path, sizeof(path), "%.4000s/%s", folder, s.name);
		if (stat(path, &st) || !S_ISREG(st.st_mode))
			continue;
		s.written_ns = source_mtime_ns(&st);
		if (vec_push(&v, s))
			break;
	}
	if (d)
		closedir(d);
	if (v.n)
		qsort(v.v, v.n, sizeof(*v.v), oldest_first);
	for (size_t i = 0; i + (size_t)keep < v.n; i++) {
		snprintf(path, sizeof(path), "%.4000s/%s", folder, v.v[i].name);
		unlink(path);
	}
	vec_release(&v);
}

int watch_save(const struct watch_plan *plan, struct history *h, uint64_t from_ns,
	       uint64_t at_ns, struct err *e)
{
	char path[4096];
	struct outfile o;
	uint64_t ms = at_ns / 1000000;
	snprintf(path, sizeof(path), "%.4000s/spike-%llu.%03llu.data", plan->opt->save,
		 (unsigned long long)(ms / 1000), (unsigned long long)(ms % 1000));
	int rc = history_forget(h, from_ns, e);
	rc = rc ? rc : outfile_open_derived(&o, path, 0600, e);
	if (rc)
		return rc;
	history_write(h, o.f);
	rc = outfile_end(&o, 0, e);
	if (!rc)
		say("saved %s", path);
	if (!rc)
		prune(plan->opt->save, plan->opt->keep);
	return rc;
}
