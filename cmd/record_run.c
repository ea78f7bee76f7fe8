#include "cmd/record_run.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int has_hardware_cycles(void)
{
	struct perf_event_attr a = {.type = PERF_TYPE_HARDWARE,
				    .size = sizeof(a),
				    .config = PERF_COUNT_HW_CPU_CYCLES,
				    .exclude_kernel = 1,
				    .disabled = 1};
	long fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
	if (fd < 0)
		return 0;
	close((int)fd);
	return 1;
}

/* --- processes -----------------------------------------------------------------------------
 */

static volatile sig_atomic_t interrupted;
static volatile pid_t child;

static void pass_on(int sig)
{
	interrupted = sig;
	if (child > 0)
		kill(child, SIGINT);
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

static void start_child(const struct words *w, int out)
{
	struct words copy = {0};
	for (size_t i = 0; i < w->v.n; i++)
		if (vec_push(&copy.v, w->v.v[i]))
			_exit(127);
	if (vec_push(&copy.v, NULL))
		_exit(127);
	if (out >= 0) {
		dup2(out, 1);
		dup2(out, 2);
	}
	execvp(copy.v.v[0], copy.v.v);
	fprintf(stderr, "perfkit record: %s: %s\n", copy.v.v[0], strerror(errno));
	_exit(127);
}

static int finish(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 127;
	child = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static pid_t spawn(const struct words *w, int out)
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
		start_child(w, out);
	}
	child = pid;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

int run_words(const struct words *w, int quiet)
{
	int null = quiet ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
	pid_t pid = spawn(w, null);
	if (null >= 0)
		close(null);
	return pid < 0 ? 127 : finish(pid);
}

int run_words_read(const struct words *w, struct buf *out)
{
	enum { OUTPUT_MAX = 1 << 20 };
	int fd[2];
	char piece[4096];
	if (pipe2(fd, O_CLOEXEC))
		return 127;
	pid_t pid = spawn(w, fd[1]);
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
	return pid < 0 ? 127 : finish(pid);
}

/* --- files ---------------------------------------------------------------------------------
 */

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

/* --- rates ---------------------------------------------------------------------------------
 */

/* Bytes of a record, as measured with perf 6.1 on x86-64: the fixed part with raw tracepoint
 * fields, a callchain of kernel and user frames, registers; a dump comes on top. */
enum { PLAIN_BYTES = 112, CHAIN_BYTES = 150, REGS_BYTES = 160, PERF_STAT_FIELDS = 3 };

struct rate {
	char name[128];
	double per_second;
	int dump;    /* bytes; 0: frame pointers, -1: no stack */
	int sampled; /* by frequency */
};

struct rates {
	VEC(struct rate) v;
};

/* "sched:sched_switch/call-graph=dwarf,stack-size=4096/" taken apart. */
static struct rate rate_of_event(const char *event)
{
	struct rate r = {.dump = -1};
	const char *dump = strstr(event, "stack-size="), *freq = strstr(event, "freq=");
	snprintf(r.name, sizeof(r.name), "%.*s", (int)strcspn(event, "/"), event);
	if (dump)
		r.dump = atoi(dump + strlen("stack-size="));
	else if (strstr(event, "call-graph=fp"))
		r.dump = 0;
	if (freq) {
		r.sampled = 1;
		r.per_second =
			atof(freq + strlen("freq=")) * (double)sysconf(_SC_NPROCESSORS_ONLN);
	}
	return r;
}

static int events_of_plan(struct rates *rates, const struct record_plan *p)
{
	for (size_t i = 0; i + 1 < p->record.v.n; i++) {
		if (!strcmp(p->record.v.v[i], "--"))
			break;
		if (strcmp(p->record.v.v[i], "-e") != 0)
			continue;
		struct rate r = rate_of_event(p->record.v.v[i + 1]);
		if (vec_push(&rates->v, r))
			return ERR_NOMEM;
	}
	return 0;
}

/* Fill in what `perf stat -x,` counted: "1234,,sched:sched_switch,..." */
static int take_counts(struct rates *rates, char *text)
{
	int taken = 0;
	char *save = NULL;
	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *field[PERF_STAT_FIELDS] = {line};
		for (int i = 1; i < PERF_STAT_FIELDS && field[i - 1]; i++) {
			field[i] = strchr(field[i - 1], ',');
			if (field[i])
				*field[i]++ = '\0';
		}
		if (!field[2])
			continue;
		field[2][strcspn(field[2], ",")] = '\0';
		for (size_t i = 0; i < rates->v.n; i++) {
			struct rate *r = &rates->v.v[i];
			if (strcmp(r->name, field[2]) || *line < '0' || *line > '9')
				continue;
			r->per_second = atof(line);
			taken++;
		}
	}
	return taken;
}

static int count_events(struct rates *rates, const char *perf)
{
	struct words w = {0};
	struct buf out = {0};
	int rc = words_add(&w, "%s", perf) || words_add(&w, "stat") || words_add(&w, "-a") ||
		 words_add(&w, "-x,");
	int any = 0;
	for (size_t i = 0; !rc && i < rates->v.n; i++) {
		const struct rate *r = &rates->v.v[i];
		if (r->sampled || !strncmp(r->name, "perfkit:", 8)) /* not there yet */
			continue;
		any = 1;
		rc = words_add(&w, "-e") || words_add(&w, "%s", r->name);
	}
	if (!rc)
		rc = words_add(&w, "--") || words_add(&w, "sleep") || words_add(&w, "1");
	int measured = !rc && any && !run_words_read(&w, &out) && !buf_failed(&out) && out.n &&
		       buf_cstr(&out)[0] && take_counts(rates, out.v) > 0;
	buf_release(&out);
	words_release(&w);
	return measured || !any;
}

static void sum_up(const struct rates *rates, int no_dump, double *events, double *bytes)
{
	*events = *bytes = 0;
	for (size_t i = 0; i < rates->v.n; i++) {
		const struct rate *r = &rates->v.v[i];
		int size = PLAIN_BYTES;
		if (r->dump >= 0)
			size += CHAIN_BYTES;
		if (r->dump > 0 && !no_dump)
			size += REGS_BYTES + r->dump;
		*events += r->per_second;
		*bytes += r->per_second * size;
	}
}

/* The cpu mode names its stack kind for the whole recording. */
static void cpu_rate(struct rates *rates, const struct record_wish *w, const struct words *line)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (w->mode != RECORD_CPU || !rates->v.n)
		return;
	struct rate *r = &rates->v.v[0];
	r->sampled = 1;
	r->per_second = w->frequency * (double)(cpus > 0 ? cpus : 1);
	for (size_t i = 0; i + 1 < line->v.n; i++) {
		const char *graph = line->v.v[i + 1];
		if (!strcmp(line->v.v[i], "--call-graph"))
			r->dump = strncmp(graph, "dwarf,", 6) ? 0 : atoi(graph + 6);
	}
}

static void print_rates(const struct rates *rates)
{
	int column = 0;
	for (size_t i = 0; i < rates->v.n; i++) {
		const struct rate *r = &rates->v.v[i];
		char item[192];
		if (!strncmp(r->name, "perfkit:", 8))
			continue;
		int n = snprintf(item, sizeof(item), "%s %s%.0f/s", r->name,
				 r->sampled ? "at most " : "", r->per_second);
		if (column && column + n > 76) {
			fputc('\n', stderr);
			column = 0;
		}
		fprintf(stderr, "%s%s", column ? ", " : "# ", item);
		column += n + 2;
	}
	fputc('\n', stderr);
}

void print_estimate(const struct record_plan *p, const struct record_wish *w)
{
	enum { MUCH = 20000000 }; /* bytes a second: a disk's worth, and perf busy writing */
	struct rates rates = {0};
	double events, bytes, few_events, few_bytes;
	if (!events_of_plan(&rates, p)) {
		cpu_rate(&rates, w, &p->record);
		if (!count_events(&rates, w->perf)) {
			fprintf(stderr,
				"# rate not measured: perf may not count these events "
				"here (be root, or lower kernel.perf_event_paranoid)\n");
		} else {
			print_rates(&rates);
			sum_up(&rates, 0, &events, &bytes);
			sum_up(&rates, 1, &few_events, &few_bytes);
			fprintf(stderr, "# estimate: %.0f events/s, %.1f MB/s%s\n", events,
				bytes / 1e6,
				w->mode == RECORD_REQUESTS ? ", and 72 bytes a probe hit" : "");
			if (bytes > MUCH && few_bytes * 2 < bytes)
				fprintf(stderr,
					"# cheaper: --call-graph fp, %.1f MB/s (stacks of code "
					"without frame pointers end early)\n",
					few_bytes / 1e6);
		}
	}
	vec_release(&rates.v);
}
