#include "base/child.h"
#include "cmd/record/record_run.h"
#include "libtime/record/perf_package.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- processes ------------------------------------------------------------------------ */

static volatile sig_atomic_t interrupted;
static volatile pid_t child, reader;

static void pass_on(int sig)
{
	interrupted = sig;
	if (child > 0)
		kill(child, SIGINT);
}

static void pass_to_reader(int sig)
{
	if (reader > 0)
		kill(reader, sig);
}

int run_interrupted(void)
{
	return interrupted != 0;
}

static void catch_signals(void)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction now = {.sa_handler = pass_on, .sa_flags = SA_RESTART}, old;
	sigemptyset(&now.sa_mask);
	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		if (!sigaction(ending[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(ending[i], &now, NULL);
}

/* What a child inherits in place of this process's files; -1: nothing. */
struct ends {
	int in, out, err;
	int control; /* perf's --control: it opens this process's pipe, as what it inherited
		      * would also be inherited by the command that it records */
};
static const struct ends inherited = {-1, -1, -1, -1};

/* Why a program could not be started, and what installs perf. */
static void say_not_started(const char *program, int error)
{
	char text[4096] = "";
	struct utsname kernel;
	struct buf b = {0};
	FILE *f = strcmp(program, "perf") || error != ENOENT ? NULL
							     : fopen("/etc/os-release", "re");
	if (f) {
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		fclose(f);
	}
	if (error == ENOENT && !strcmp(program, "perf") && !uname(&kernel)) {
		buf_str(&b, "; it is not installed: ");
		perf_package(&b, text, kernel.release);
	}
	fprintf(stderr, "perfkit record: %s: %s%s\n", program, strerror(error), buf_cstr(&b));
	buf_release(&b);
}

static void start_child(const struct words *w, const struct ends *x)
{
	enum { BEHIND_RECORD = 2 };
	struct words copy = {0};
	char fifo[64];
	int failed = 0;
	snprintf(fifo, sizeof(fifo), "--control=fifo:/proc/%ld/fd/%d", (long)getppid(),
		 x->control);
	for (size_t i = 0; i < w->v.n; i++) {
		if (i == BEHIND_RECORD && x->control >= 0)
			failed |= vec_push(&copy.v, fifo);
		failed |= vec_push(&copy.v, w->v.v[i]);
	}
	if (failed || vec_push(&copy.v, NULL))
		_exit(127);
	const int ends[] = {x->in, x->out, x->err};
	for (int i = 0; i < 3; i++)
		if (ends[i] >= 0)
			dup2(ends[i], i);
	child_become((const char *const *)copy.v.v, NULL, CHILD_CALLERS);
	say_not_started(copy.v.v[0], errno);
	_exit(127);
}

int run_finish(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 127;
	child = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static pid_t spawn(const struct words *w, struct ends x)
{
	catch_signals();
	fflush(stdout);
	fflush(stderr);
	/* a signal between fork and `child = pid` waits until there is someone to tell */
	sigset_t all, before;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid_t pid = fork();
	if (!pid) {
		struct sigaction dfl = {.sa_handler = SIG_DFL};
		sigaction(SIGINT, &dfl, NULL);
		sigaction(SIGTERM, &dfl, NULL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		start_child(w, &x);
	}
	child = pid;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

pid_t run_start(const struct words *w)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t pid = spawn(w, (struct ends){-1, null, null, -1});
	if (null >= 0)
		close(null);
	return pid;
}

int run_words(const struct words *w, int quiet)
{
	pid_t pid = quiet ? run_start(w) : spawn(w, inherited);
	return pid < 0 ? 127 : run_finish(pid);
}

/* Has the command that perf records ended? 0 if this kernel does not list children. */
static int is_over(pid_t perf)
{
	char path[64], text[512];
	long of;
	int over = 0;
	snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", (long)perf, (long)perf);
	FILE *f = fopen(path, "re");
	if (f && fscanf(f, "%ld", &of) == 1) {
		snprintf(path, sizeof(path), "/proc/%ld/stat", of);
		fclose(f);
		f = fopen(path, "re");
		if (f && fgets(text, sizeof(text), f) && strrchr(text, ')'))
			over = !strncmp(strrchr(text, ')'), ") Z", 3);
	}
	if (f)
		fclose(f);
	return over;
}

/* CPU time of a process, in steps of 10 ms; -1: not known. */
static int64_t cpu_of(pid_t pid)
{
	char path[64], text[512], *p = NULL;
	long long user, system;
	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	FILE *f = fopen(path, "re");
	if (f && fgets(text, sizeof(text), f))
		p = strrchr(text, ')');
	if (f)
		fclose(f);
	if (!p || sscanf(p, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld", &user,
			 &system) != 2)
		return -1;
	return (user + system) * (1000000000 / sysconf(_SC_CLK_TCK));
}

/* Has it written more than it may in so many seconds, and more than a burst and what perf writes
 * at its beginning? */
static int writes_too_much(const struct recording_run *run, double seconds)
{
	enum { BURST_SECONDS = 2, BEGINNING = 4 << 20 };
	struct stat st;
	/* until perf begins, an older recording is there */
	const double more = run->kernel ? (double)bpf_recorder_bytes(run->kernel) : 0;
	return run->rate > 0 && record_is_written(run->output, run->before) &&
	       !stat(run->output, &st) &&
	       more + (double)st.st_size > run->rate * (seconds + BURST_SECONDS) + BEGINNING;
}

static double seconds_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* When to look again, `s` seconds after its start: rarely, for looking takes CPU time, too. */
static struct timespec next_look(const struct recording_run *run, double s)
{
	enum { MOMENT_NS = 100000000, LONG = 3600 };
	if (run->seconds && s > run->seconds)
		return (struct timespec){.tv_nsec = MOMENT_NS};
	double left = run->seconds ? run->seconds - s : LONG;
	return (struct timespec){.tv_sec = run->rate > 0 && left > 1 ? 1 : (time_t)left + 1};
}

/* What perf writes, and what it does after its seconds. */
static void watch_recording(pid_t pid, struct recording_run *run)
{
	enum { MOMENTS = 5 };
	const double began = seconds_now();
	int over = 0;
	sigset_t set;
	siginfo_t ended = {0};
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	while (pid > 0 && !waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) &&
	       !ended.si_pid) {
		double s = seconds_now() - began;
		if (!run->stopped && writes_too_much(run, s)) {
			fprintf(stderr,
				"perfkit record: stopped after %.1f s: the load has grown, and "
				"more was written than --max-rate allows\n",
				s);
			run->stopped = 1;
			kill(pid, SIGINT);
		}
		const struct timespec t = next_look(run, s);
		if (sigtimedwait(&set, NULL, &t) >= 0 || errno != EAGAIN)
			continue;
		if (run->seconds && s > run->seconds && is_over(pid) && ++over == MOMENTS)
			fprintf(stderr,
				"perfkit record: the %d s are over; perf still writes what it "
				"has, build-ids, and copies of binaries into ~/.debug\n",
				run->seconds);
	}
}

int run_recording(const struct words *w, struct recording_run *run)
{
	sigset_t set, before;
	pid_t pid = spawn(w, inherited);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &before);
	run->stopped = 0;
	watch_recording(pid, run);
	run->cpu_ns = pid > 0 ? cpu_of(pid) : -1;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid < 0 ? 127 : run_finish(pid);
}

/* --- streams -------------------------------------------------------------------------- */

/* Wait for perf. Left alone, it hands records over when half a ring buffer is full, which may
 * take minutes; it also does so whenever it reads a command. */
static int finish_asking(pid_t pid, int control)
{
	static const struct timespec moment = {.tv_nsec = 100000000};
	siginfo_t ended = {0};
	while (!waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) &&
	       !ended.si_pid) {
		if (write(control, "ping\n", 5) < 0 && errno != EAGAIN)
			break;
		nanosleep(&moment, NULL);
	}
	return run_finish(pid);
}

/* Start the reader of a stream; its input is *out. */
static int start_reader(const struct words *w, int *out)
{
	struct sigaction sa = {.sa_handler = pass_to_reader, .sa_flags = SA_RESTART};
	int fd[2];
	if (pipe2(fd, O_CLOEXEC))
		return 127;
	reader = spawn(w, (struct ends){fd[0], -1, -1, -1});
	sigaction(SIGUSR2, &sa, NULL);
	close(fd[0]);
	*out = fd[1];
	return reader < 0 ? 127 : 0;
}

int run_stream(const struct words *w, const struct words *to, int *reader_status)
{
	enum { WATCH_NICE = -10 };
	struct ends x = inherited;
	int control[2] = {-1, -1}, status = 127;
	pid_t pid = -1;
	/* where CPUs are short, a monitor must not wait for those it reports on */
	if (to && !getpriority(PRIO_PROCESS, 0))
		setpriority(PRIO_PROCESS, 0, WATCH_NICE);
	*reader_status = to ? start_reader(to, &x.out) : 0;
	if (!*reader_status && !pipe2(control, O_CLOEXEC | O_NONBLOCK)) {
		x.control = control[0];
		pid = spawn(w, x);
	}
	if (pid < 0)
		fprintf(stderr, "perfkit record: cannot start: %s\n", strerror(errno));
	if (x.out >= 0) /* only perf writes to the reader, which ends with it */
		close(x.out);
	if (pid >= 0)
		status = finish_asking(pid, control[1]);
	for (int i = 0; i < 2; i++)
		if (control[i] >= 0)
			close(control[i]);
	if (reader > 0)
		*reader_status = run_finish(reader);
	return status;
}

int run_outlived(int status, int duration, const char *pid, const char *tid)
{
	return status == 128 + SIGTERM && duration && (pid || tid) && !interrupted;
}

int run_words_read(const struct words *w, struct buf *out)
{
	enum { OUTPUT_MAX = 1 << 20 };
	int fd[2];
	char piece[4096];
	if (pipe2(fd, O_CLOEXEC))
		return 127;
	pid_t pid = spawn(w, (struct ends){-1, fd[1], fd[1], -1});
	close(fd[1]);
	for (;;) {
		ssize_t n = read(fd[0], piece, sizeof(piece));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (out->n < OUTPUT_MAX)
			buf_add(out, piece, (size_t)n);
	}
	close(fd[0]);
	return pid < 0 ? 127 : run_finish(pid);
}

int perf_version(const char *perf)
{
	struct words w = {0};
	struct buf out = {0};
	int major, minor, version = 0;
	words_pair(&w, perf, "--version");
	if (!w.failed && !run_words_read(&w, &out) &&
	    sscanf(buf_cstr(&out), "perf version %d.%d", &major, &minor) == 2 && major > 0 &&
	    minor >= 0 && minor < PERF_MINORS)
		version = major * PERF_MINORS + minor;
	buf_release(&out);
	words_release(&w);
	return version;
}

/* --- files ---------------------------------------------------------------------------- */

/* `path` as process `pid` sees it: here too, or through its root. */
static char *as_seen_here(const char *pid, const char *path)
{
	char proc[PATH_MAX + 64];
	struct stat there, here;
	snprintf(proc, sizeof(proc), "/proc/%s/root%s", pid, path);
	if (!stat(path, &here) && (stat(proc, &there) || (here.st_ino == there.st_ino &&
							  here.st_dev == there.st_dev)))
		return mem_strdup(path);
	return stat(proc, &there) ? NULL : mem_strdup(proc);
}

static char *mapped_library(const char *pid, const char *library)
{
	char path[64], line[PATH_MAX + 128];
	char *found = NULL;
	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	FILE *f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		char *name = strchr(line, '/'), *base = name ? strrchr(name, '/') + 1 : NULL;
		line[strcspn(line, "\n")] = '\0';
		if (base && !strncmp(base, library, strlen(library)))
			found = as_seen_here(pid, name);
	}
	if (f)
		fclose(f);
	return found;
}

char *file_of_process(const char *pid, const char *library)
{
	char path[64], exe[PATH_MAX], first[24];
	/* the first of a list */
	snprintf(first, sizeof(first), "%.*s", (int)strcspn(pid, ","), pid);
	if (library)
		return mapped_library(first, library);
	snprintf(path, sizeof(path), "/proc/%s/exe", first);
	ssize_t n = readlink(path, exe, sizeof(exe) - 1);
	if (n <= 0)
		return NULL;
	exe[n] = '\0';
	return as_seen_here(first, exe);
}

const char *missing_task(const char *list)
{
	char path[64];
	for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',') {
		int n = (int)strcspn(p, ",");
		snprintf(path, sizeof(path), "/proc/%.*s", n, p);
		if (strspn(p, "0123456789") != (size_t)n || access(path, F_OK))
			return p;
	}
	return NULL;
}

size_t threads_of(const char *list)
{
	enum { NO_FOLDER_INSIDE = 2 };
	char path[64];
	struct stat st;
	size_t n = 0;
	for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',') {
		snprintf(path, sizeof(path), "/proc/%.*s/task", (int)strcspn(p, ","), p);
		if (!stat(path, &st) && st.st_nlink > NO_FOLDER_INSIDE)
			n += st.st_nlink - NO_FOLDER_INSIDE;
	}
	return n;
}

int record_is_written(const char *output, const struct stat *before)
{
	struct stat now;
	return !stat(output, &now) &&
	       (now.st_ino != before->st_ino || now.st_size != before->st_size ||
		now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
		now.st_mtim.tv_nsec != before->st_mtim.tv_nsec);
}

char *file_of_command(const char *word)
{
	const char *path = getenv("PATH");
	struct buf b = {0};
	if (strchr(word, '/'))
		return access(word, X_OK) ? NULL : mem_strdup(word);
	while (path && *path) {
		size_t n = strcspn(path, ":");
		buf_clear(&b);
		buf_fmt(&b, "%.*s/%s", (int)n, path, word);
		if (!buf_failed(&b) && !access(buf_cstr(&b), X_OK))
			return b.v;
		path += n + (path[n] == ':');
	}
	buf_release(&b);
	return NULL;
}
