#include "cmd/answer/watch_run.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "cmd/cli/say.h"
#include "cmd/input/input.h"
#include "render/export/prometheus.h"
#include "render/text/units.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SECOND_NS = 1000000000, STEP_NS = SECOND_NS / 4, READ_SIZE = 256 << 10, IDLE_MS = 200 };

/* How many answers in a row may end by a signal, for example when memory is short. */
enum { FAILED_MAX = 3 };

/* Answers take at most half of a CPU, unless that makes them rarer than one a second. */
static const double STEP_MAX_S = 1, QUIET_S = 0.5;

/* A child's report about its answer. */
struct reply {
	struct watch_counts counts;
	uint64_t first_ns, last_ns; /* of its spikes; 0: none */
};

struct watcher {
	const struct watch_plan *plan;
	struct history *h;
	struct history_status now;
	struct watch_counts total;
	uint8_t bytes[READ_SIZE];
	size_t nbytes, at; /* read; of these, consumed */
	int fd, ended, full;
	pid_t child, saver; /* 0: none */
	int reply_fd;
	struct reply reply;
	struct history_loss loss; /* in the records of the answer */
	size_t replied;           /* bytes of `reply` that came */
	uint64_t asked_ns;        /* newest record when the last answer began */
	double asked_s, took_s;   /* when it began; CPU time of the one before */
	uint64_t second_ns, left; /* when --most began to count; spikes it leaves to print */
	uint64_t done_ns,
		to_ns; /* waits that ended up to here are answered; will be by the child */
	uint64_t save_from, save_at, save_until; /* save_until 0: nothing to save */
	double wanted_s, read_s;                 /* when it was wanted; when bytes came last */
	int early;                               /* it is saved, but may lack its end */
	double lag_s, said_s;
	uint64_t unanswered_ns;
	int failed;  /* answers in a row */
	int damaged; /* the exit status when what came before the damage is answered; 0: none */
	int status;
};

static volatile sig_atomic_t stopped, asked_to_save;

static void on_signal(int sig)
{
	if (sig == SIGUSR2)
		asked_to_save = 1;
	else
		stopped = 1;
}

/* Ctrl-C also reaches perf, which then ends the stream; its last bytes are still read. */
static void catch_signals(void)
{
	struct sigaction sa = {.sa_handler = on_signal};
	sigaction(SIGUSR2, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- what is said --------------------------------------------------------------------- */

static uint64_t own_memory(void)
{
	unsigned long size, resident;
	FILE *f = fopen("/proc/self/statm", "re");
	int n = f ? fscanf(f, "%lu %lu", &size, &resident) : 0;
	if (f)
		fclose(f);
	return n == 2 ? (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* Peak memory of the children that have ended. */
static uint64_t answers_memory(void)
{
	struct rusage u = {0};
	getrusage(RUSAGE_CHILDREN, &u);
	return (uint64_t)u.ru_maxrss * 1024;
}

/* How far the answered records are behind their clock; -1: unknown. Other programs cannot read
 * perf's own clock. */
static double lag_of(const struct history_status *s)
{
	enum { YEAR_LIKE = 86400 }; /* more than a day: of another run, or another machine */
	struct timespec t;
	if (s->clockid < 0 || clock_gettime(s->clockid, &t))
		return -1;
	double lag = (double)t.tv_sec + (double)t.tv_nsec / 1e9 - (double)s->newest_ns / 1e9;
	return lag >= 0 && lag < YEAR_LIKE ? lag : -1;
}

static void write_prom(const struct watcher *w)
{
	struct prometheus_state s = {.counts = &w->total,
				     .records = w->now.records,
				     .lost = w->now.lost,
				     .unanswered_s = (double)w->unanswered_ns / 1e9,
				     .memory_bytes = own_memory(),
				     .lag_s = w->lag_s};
	struct outfile o;
	struct err e = {0};
	if (!w->plan->opt->prom)
		return;
	int rc = outfile_open(&o, w->plan->opt->prom, &e);
	if (!rc) {
		prometheus_write(o.f, &s);
		rc = outfile_end(&o, 0, &e);
	}
	if (rc)
		say("%s", e.msg);
}

static uint64_t spikes_of(const struct watch_counts *c)
{
	uint64_t n = 0;
	for (int i = 0; i < SEVERITIES; i++)
		n += c->spikes[i];
	return n;
}

static void say_status(struct watcher *w)
{
	const struct history_status *s = &w->now;
	struct buf b = {0};
	units_plural(&b, w->total.waits, "wait, ", "waits, ");
	units_plural(&b, spikes_of(&w->total), "spike", "spikes");
	if (w->total.longest_ns) {
		buf_str(&b, " (longest ");
		units_duration(&b, w->total.longest_ns);
		buf_char(&b, ')');
	}
	if (w->total.suspect) {
		buf_str(&b, ", ");
		units_count(&b, w->total.suspect);
		buf_str(&b, " suspect waits, ");
		units_count(&b, w->total.suspect_spikes);
		buf_str(&b, " as long");
	}
	if (w->total.unclear && !w->plan->opt->unclear) {
		buf_str(&b, ", ");
		units_count(&b, w->total.unclear);
		buf_str(&b, " ? not shown");
	}
	buf_str(&b, "; ");
	units_plural(&b, s->records, "record, ", "records, ");
	units_count(&b, s->lost);
	buf_str(&b, " lost; ");
	if (w->unanswered_ns) {
		units_duration(&b, w->unanswered_ns);
		buf_str(&b, " unanswered; ");
	}
	buf_str(&b, "history ");
	units_duration(&b, s->newest_ns - s->oldest_ns);
	buf_fmt(&b, " in %.1f MB; memory %.1f MB, answers %.1f MB", (double)s->bytes / 1e6,
		(double)own_memory() / 1e6, (double)answers_memory() / 1e6);
	if (w->lag_s >= 0)
		buf_fmt(&b, "; lag %.1f s", w->lag_s);
	say_line("# %s", buf_cstr(&b));
	buf_release(&b);
	w->said_s = seconds();
}

/* A line about a span in which spikes may be missing, or be suspect. */
static void print_lost_span(uint64_t from, uint64_t to, const char *what)
{
	struct buf b = {0};
	buf_fmt(&b, "%llu.%06llu lost     ", (unsigned long long)(from / SECOND_NS),
		(unsigned long long)(from % SECOND_NS / 1000));
	units_duration(&b, to - from);
	printf("%s %s: spikes may be missing\n", buf_cstr(&b), what);
	fflush(stdout);
	buf_release(&b);
}

static void print_unanswered(struct watcher *w, uint64_t from, uint64_t to, const char *what)
{
	if (to <= from)
		return;
	print_lost_span(from, to, what);
	w->unanswered_ns += to - from;
}

static void print_loss(struct watcher *w)
{
	const struct history_loss *x = &w->loss;
	struct buf b = {0};
	buf_str(&b, "in which perf lost ");
	units_plural(&b, x->records, "record", "records");
	if (x->cpus)
		buf_str(&b, " of ");
	if (x->cpus)
		units_plural(&b, x->cpus, "CPU", "CPUs");
	if (x->records)
		print_lost_span(x->from_ns, x->to_ns, buf_cstr(&b));
	print_unanswered(w, x->unseen_from_ns, x->unseen_to_ns,
			 "whose records exceeded --memory");
	buf_release(&b);
}

/* --- children ------------------------------------------------------------------------- */

static void write_reply(int fd, const struct reply *r)
{
	const char *p = (const char *)r;
	for (size_t at = 0; at < sizeof(*r);) {
		ssize_t n = write(fd, p + at, sizeof(*r) - at);
		if (n <= 0)
			return;
		at += (size_t)n;
	}
}

static void answer_in_child(const struct watcher *w, int fd)
{
	struct reply r = {0};
	struct spike_query q = w->plan->query;
	q.recorder = WATCH_COMM;
	q.most = w->left ? w->left : 1; /* the longest is always explained */
	q.done_ns = w->done_ns;
	q.safe_ns = w->to_ns;
	int none = !w->total.waits && !w->total.suspect && !w->total.unclear;
	int rc = watch_answer(w->plan, w->h, q, none && (!w->done_ns || w->ended), &r.counts,
			      &r.first_ns, &r.last_ns);
	if (!rc)
		write_reply(fd, &r);
	_exit(rc);
}

/* The last answer failed, so spikes of its time are not known. */
static void give_up_answer(struct watcher *w)
{
	uint64_t from = w->done_ns ? w->done_ns : w->now.oldest_ns;
	uint64_t to = w->to_ns < w->now.newest_ns ? w->to_ns : w->now.newest_ns;
	print_unanswered(w, from, to, "whose answer failed");
	w->done_ns = w->to_ns;
	write_prom(w);
}

static void cannot_answer(struct watcher *w)
{
	say("no answer could be started: %s", strerror(errno));
	print_loss(w);
	give_up_answer(w);
	w->status = 1;
}

/* Answer what is complete; at the end, everything. */
static void start_answer(struct watcher *w)
{
	int fd[2];
	w->to_ns = w->ended ? UINT64_MAX : w->now.safe_ns;
	w->asked_ns = w->now.newest_ns;
	w->asked_s = seconds();
	if (w->to_ns - w->second_ns >= SECOND_NS) {
		w->second_ns = w->to_ns;
		w->left = w->plan->query.most;
	}
	history_seen(w->h);
	w->loss = history_take_loss(w->h);
	w->full = 0;
	if (pipe2(fd, O_CLOEXEC)) {
		cannot_answer(w);
		return;
	}
	fflush(stdout);
	pid_t pid = fork();
	if (!pid) {
		close(fd[0]);
		answer_in_child(w, fd[1]);
	}
	if (pid < 0) {
		cannot_answer(w);
		close(fd[0]);
		close(fd[1]);
		return;
	}
	close(fd[1]);
	w->child = pid;
	w->reply_fd = fd[0];
	w->replied = 0;
}

/* Save from --before to --after the first spike; later spikes in that time are included. */
static void want_save(struct watcher *w, uint64_t from, uint64_t at)
{
	const struct watch_plan *p = w->plan;
	if (!p->opt->save || w->save_until)
		return;
	w->save_from = from > p->before_ns ? from - p->before_ns : 0;
	w->save_at = at;
	w->save_until = at + p->after_ns;
	w->wanted_s = seconds();
	w->early = 0;
}

static void finish_answer(struct watcher *w)
{
	enum { CANNOT = 3 }; /* the exit status of all verbs for input that has no answer */
	struct rusage used = {0};
	int status = 0;
	while (wait4(w->child, &status, 0, &used) < 0 && errno == EINTR)
		;
	close(w->reply_fd);
	w->child = 0;
	print_loss(w);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT) {
		w->status = CANNOT;
		return;
	}
	if (w->replied != sizeof(w->reply)) {
		if (WIFSIGNALED(status))
			say("an answer ended by signal %d", WTERMSIG(status));
		give_up_answer(w);
		/* after an error the next child would fail, too */
		w->status = WIFEXITED(status) && WEXITSTATUS(status)
				    ? WEXITSTATUS(status)
				    : w->ended || ++w->failed == FAILED_MAX;
		return;
	}
	w->failed = 0;
	watch_counts_add(&w->total, &w->reply.counts);
	uint64_t spikes = spikes_of(&w->reply.counts) + w->reply.counts.suspect_spikes;
	w->left -= spikes < w->left ? spikes : w->left;
	w->done_ns = w->to_ns;
	w->took_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		    (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	w->lag_s = lag_of(&w->now);
	if (w->reply.first_ns)
		want_save(w, w->reply.first_ns, w->reply.last_ns);
	write_prom(w);
}

static void read_reply(struct watcher *w)
{
	char *to = (char *)&w->reply;
	ssize_t n = read(w->reply_fd, to + w->replied, sizeof(w->reply) - w->replied);
	if (n < 0 && errno == EINTR)
		return;
	if (n > 0)
		w->replied += (size_t)n;
	if (n <= 0 || w->replied == sizeof(w->reply))
		finish_answer(w);
}

/* Save in a child, from the current memory, so that a slow disk does not delay reading. */
static void save(struct watcher *w)
{
	struct err e = {0};
	fflush(stdout);
	pid_t pid = fork();
	if (!pid) {
		int rc = watch_save(w->plan, w->h, w->save_from, w->save_at, &e);
		if (rc)
			say("%s", e.msg);
		_exit(rc != 0);
	}
	w->saver = pid > 0 ? pid : 0;
}

/* 1 while a file is being written. */
static int is_saving(struct watcher *w, int wait)
{
	pid_t got = 0;
	while (w->saver && (got = waitpid(w->saver, NULL, wait ? 0 : WNOHANG)) < 0 &&
	       errno == EINTR)
		;
	if (got)
		w->saver = 0;
	return w->saver != 0;
}

/* --- reading -------------------------------------------------------------------------- */

static int feed_history(struct watcher *w)
{
	struct err e = {0};
	size_t used;
	int rc = history_add(w->h, w->bytes + w->at, w->nbytes - w->at, &used, &e);
	w->at += used;
	w->full = rc > 0;
	history_status(w->h, &w->now);
	if (rc >= 0)
		return 0;
	rc = input_fail(NULL, &e);
	if (!w->now.records || e.code == ERR_NOMEM)
		return w->status = rc;
	w->damaged = rc;
	w->ended = 1;
	w->at = w->nbytes;
	return 0;
}

static void read_more(struct watcher *w)
{
	ssize_t n = read(w->fd, w->bytes, sizeof(w->bytes));
	int failed = n < 0 && errno != EINTR && errno != EAGAIN;
	if (failed)
		say("reading: %s", strerror(errno));
	w->damaged |= failed;
	w->ended |= failed || !n;
	w->nbytes = n > 0 ? (size_t)n : 0;
	w->at = 0;
	w->read_s = seconds();
}

/* Wait for bytes, for the child, or a moment. */
static void wait_for_more(struct watcher *w)
{
	int reads = !w->ended && !w->full && w->at == w->nbytes;
	if (!reads)
		w->read_s = seconds();
	struct pollfd p[2] = {{.fd = reads ? w->fd : -1, .events = POLLIN},
			      {.fd = w->child ? w->reply_fd : -1, .events = POLLIN}};
	if (poll(p, 2, w->at < w->nbytes && !w->full ? 0 : IDLE_MS) <= 0)
		return;
	if (p[1].revents)
		read_reply(w);
	if (p[0].revents)
		read_more(w);
}

static int answer_is_due(const struct watcher *w)
{
	double step = w->took_s * 2 < STEP_MAX_S ? w->took_s * 2 : STEP_MAX_S;
	if (w->child || !w->now.records)
		return 0;
	return w->full || w->ended ||
	       (w->now.newest_ns - w->asked_ns >= STEP_NS && w->now.safe_ns > w->done_ns &&
		seconds() - w->asked_s >= step);
}

/* Nothing comes that could show that --after is over. */
static int is_quiet(const struct watcher *w)
{
	double now = seconds();
	return now - w->read_s >= QUIET_S &&
	       now - w->wanted_s >= (double)w->plan->after_ns / 1e9;
}

static void save_if_due(struct watcher *w)
{
	if (asked_to_save) {
		asked_to_save = 0;
		want_save(w, w->now.newest_ns, w->now.newest_ns);
	}
	if (is_saving(w, 0) || !w->save_until)
		return;
	int whole = w->ended || w->now.newest_ns >= w->save_until;
	int early = !whole && !w->early && is_quiet(w);
	if (whole || early)
		save(w);
	w->early |= early;
	w->save_until = whole ? 0 : w->save_until;
}

static void go_on(struct watcher *w)
{
	int last = 0; /* the answer about the end has begun */
	while (!w->status) {
		wait_for_more(w);
		if (last && !w->child)
			break;
		if (stopped)
			w->ended = 1;
		if (w->at < w->nbytes && !(w->full && w->child) && feed_history(w))
			return;
		if (w->ended && w->at == w->nbytes && !w->child && !w->now.records)
			return;
		if (answer_is_due(w) && !(w->ended && w->at < w->nbytes && !w->full)) {
			last = w->ended && w->at == w->nbytes;
			start_answer(w);
		}
		save_if_due(w);
		if (w->plan->opt->status && seconds() - w->said_s >= w->plan->opt->status)
			say_status(w);
	}
	is_saving(w, 1);
	save_if_due(w);
	is_saving(w, 1);
}

/* Return pieces of the history to the system as soon as they are freed, and use no huge pages,
 * most of which would be empty. */
static void use_little_memory(void)
{
	enum { SMALLER_THAN_PIECES = 128 << 10 };
	mem_return_freed(SMALLER_THAN_PIECES);
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

/* perf ends its streams with a whole record; who stops watch need not. */
static void say_cut(struct watcher *w)
{
	if (stopped || w->damaged || !history_is_cut(w->h))
		return;
	say("the stream is cut off inside a record: spikes at its end may be missing");
	w->damaged = 1;
}

int watch_run(const struct watch_plan *plan, int fd)
{
	static struct watcher w;
	struct err e = {0};
	use_little_memory();
	w = (struct watcher){.plan = plan,
			     .fd = fd,
			     .left = plan->query.most,
			     .lag_s = -1,
			     .said_s = seconds()};
	prctl(PR_SET_NAME, WATCH_COMM);
	catch_signals();
	if (history_new(&w.h, plan->limits, &e))
		return input_fail(NULL, &e);
	go_on(&w);
	if (!w.status && !w.now.records) {
		say("the stream has no records");
		w.status = 3;
	}
	if (!w.status) {
		say_cut(&w);
		say_status(&w);
		write_prom(&w);
		w.status = w.damaged;
	}
	history_free(w.h);
	return w.status;
}
