#include "cmd/record/record_chosen.h"
#include "base/vec.h"
#include "cmd/cli/say.h"
#include "cmd/record/record_run.h"

#include <ctype.h>
#include <dirent.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

enum {
	PROC_PATH = 320,
	DEPTH = 16,           /* of cgroups in each other */
	TLS_SEARCHED = 32768, /* from the end of a thread's stack */
	TLS_WORDS = 512,
	TLS_ROOM = 64, /* words of zero */
};

struct search {
	VEC(struct chosen_thread) threads;
	int failed;
};

/* --- threads -------------------------------------------------------------------------- */

static int read_word_file(const char *path, char *out, size_t size)
{
	FILE *f = fopen(path, "re");
	if (!f)
		return 0;
	size_t n = fread(out, 1, size - 1, f);
	fclose(f);
	out[n] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return n > 0;
}

static int fits(const char *globs, const char *comm)
{
	char glob[64];
	for (const char *p = globs; *p; p += strcspn(p, ","), p += *p == ',') {
		snprintf(glob, sizeof(glob), "%.*s", (int)strcspn(p, ","), p);
		if (!fnmatch(glob, comm, 0))
			return 1;
	}
	return 0;
}

static void add_thread(struct search *s, long pid, long tid, const char *globs)
{
	char path[PROC_PATH];
	struct chosen_thread t = {.pid = pid, .tid = tid};
	snprintf(path, sizeof(path), "/proc/%ld/task/%ld/comm", pid, tid);
	if (!read_word_file(path, t.comm, sizeof(t.comm)) || (globs && !fits(globs, t.comm)))
		return;
	if (vec_push(&s->threads, t))
		s->failed = ERR_NOMEM;
}

/* The threads of a process; with `globs` those whose names fit. */
static void add_process(struct search *s, long pid, const char *globs)
{
	char path[PROC_PATH];
	snprintf(path, sizeof(path), "/proc/%ld/task", pid);
	DIR *d = opendir(path);
	for (const struct dirent *x; d && (x = readdir(d));)
		if (isdigit((unsigned char)*x->d_name))
			add_thread(s, pid, atol(x->d_name), globs);
	if (d)
		closedir(d);
}

static void add_named(struct search *s, const char *globs)
{
	DIR *d = opendir("/proc");
	for (const struct dirent *x; d && (x = readdir(d));)
		if (isdigit((unsigned char)*x->d_name))
			add_process(s, atol(x->d_name), globs);
	if (d)
		closedir(d);
}

static void add_listed(struct search *s, const char *list, int is_tid)
{
	char path[PROC_PATH], group[32];
	for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',') {
		long id = atol(p);
		if (!is_tid) {
			add_process(s, id, NULL);
			continue;
		}
		/* /proc/TID is there though no listing shows it */
		snprintf(path, sizeof(path), "/proc/%ld/comm", id);
		if (read_word_file(path, group, sizeof(group)))
			add_thread(s, id, id, NULL);
	}
}

/* --- cgroups -------------------------------------------------------------------------- */

/* The processes of a cgroup and of those below it. */
static void add_cgroup(struct search *s, const char *folder, int depth)
{
	char path[PROC_PATH];
	long pid;
	snprintf(path, sizeof(path), "%.250s/cgroup.procs", folder);
	FILE *f = fopen(path, "re");
	while (f && fscanf(f, "%ld", &pid) == 1)
		add_process(s, pid, NULL);
	if (f)
		fclose(f);
	DIR *d = depth < DEPTH ? opendir(folder) : NULL;
	for (const struct dirent *x; d && (x = readdir(d));) {
		if (x->d_type != DT_DIR || *x->d_name == '.' ||
		    strlen(folder) + strlen(x->d_name) > 248)
			continue;
		snprintf(path, sizeof(path), "%.200s/%.100s", folder, x->d_name);
		add_cgroup(s, path, depth + 1);
	}
	if (d)
		closedir(d);
}

/* A cgroup is looked for in the one hierarchy of version 2, and in those of version 1. */
static void add_cgroup_named(struct search *s, const char *name)
{
	static const char top[] = "/sys/fs/cgroup";
	char path[PROC_PATH];
	if (!strncmp(name, "/sys/", 5)) {
		add_cgroup(s, name, 0);
		return;
	}
	name += *name == '/';
	snprintf(path, sizeof(path), "%s/%.200s", top, name);
	add_cgroup(s, path, 0);
	DIR *d = s->threads.n ? NULL : opendir(top);
	for (const struct dirent *x; d && (x = readdir(d)) && !s->threads.n;) {
		if (*x->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%.64s/%.200s", top, x->d_name, name);
		add_cgroup(s, path, 0);
	}
	if (d)
		closedir(d);
}

/* --- stacks in use -------------------------------------------------------------------- */

/* Below a control block at words[i] is the static TLS, and below that, room for more of it
 * (1,664 bytes in glibc 2.36) that is zero as long as nothing was put there. The first word of
 * the frames' side; `i` where there is no such room. */
static ssize_t below_tls(const uint64_t *words, ssize_t i)
{
	ssize_t zero = 0, at = i;
	while (at > 0 && i - at < TLS_WORDS && zero < TLS_ROOM)
		zero = words[--at] ? 0 : zero + 1;
	if (zero < TLS_ROOM)
		return i;
	while (at > 0 && i - at < TLS_WORDS && !words[at - 1])
		at--;
	return at;
}

/*
 * Where a thread's stack begins, from the mapping [*, end) that holds `sp`: glibc puts the
 * thread's control block, which holds its own address twice, and its TLS at the mapping's end
 * (x86-64's tcbhead_t). Elsewhere, and for the main thread, the end itself.
 */
static uint64_t stack_begin(long pid, uint64_t sp, uint64_t end)
{
	static uint64_t words[TLS_SEARCHED / 8];
	uint64_t from = end - sp > TLS_SEARCHED ? end - TLS_SEARCHED : (sp + 7) & ~7ull;
	struct iovec here = {words, end - from};
	struct iovec there = {(void *)(uintptr_t)from, end - from};
	ssize_t got = process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0);
	for (ssize_t i = got / 8 - 3; i >= 0; i--) {
		uint64_t at = from + (uint64_t)i * 8;
		if (words[i] == at && words[i + 2] == at)
			return from + (uint64_t)below_tls(words, i) * 8;
	}
	return end;
}

/* The end of the mapping that holds `sp`; for the main thread where its frames begin, below
 * arguments and environment. 0 where there is none. */
static uint64_t stack_end(const struct chosen_thread *t, uint64_t sp)
{
	char path[PROC_PATH], line[512];
	uint64_t from, to, end = 0;
	int is_main = 0;
	snprintf(path, sizeof(path), "/proc/%ld/maps", t->pid);
	FILE *f = fopen(path, "re");
	while (f && !end && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2 && from <= sp &&
		    sp < to) {
			end = to;
			is_main = strstr(line, "[stack]") != NULL;
		}
	if (f)
		fclose(f);
	if (!is_main)
		return end ? stack_begin(t->pid, sp, end) : 0;
	snprintf(path, sizeof(path), "/proc/%ld/stat", t->pid);
	if (!read_word_file(path, line, sizeof(line)) || !strrchr(line, ')'))
		return end;
	char *word = strrchr(line, ')') + 1;
	for (int column = 3; word && column < 28; column++) /* startstack, see proc(5) */
		word = strchr(word + 1, ' ');
	uint64_t start = word ? strtoull(word, NULL, 10) : 0;
	return start > sp && start < end ? start : end;
}

/* Bytes of stack that a thread has in use; 0 while it runs, or where nobody may look. */
static uint64_t stack_used(const struct chosen_thread *t)
{
	char path[PROC_PATH], line[256];
	snprintf(path, sizeof(path), "/proc/%ld/task/%ld/syscall", t->pid, t->tid);
	if (!read_word_file(path, line, sizeof(line)) || !strchr(line, ' '))
		return 0;
	char *pc = strrchr(line, ' ');
	*pc = '\0';
	char *sp = strrchr(line, ' ');
	uint64_t at = sp ? strtoull(sp + 1, NULL, 16) : 0, end = at ? stack_end(t, at) : 0;
	return end > at ? end - at : 0;
}

static uint64_t most_used(const struct search *s)
{
	uint64_t most = 0;
	for (size_t i = 0; i < s->threads.n && i < 1000; i++) {
		uint64_t used = stack_used(&s->threads.v[i]);
		most = used > most ? used : most;
	}
	return most;
}

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The same in half a second: a thread that is in its loop now may be deep in a request soon. At
 * most a tenth of that time goes into looking. */
static uint64_t most_used_in_trial(const struct search *s)
{
	enum { TRIAL = 500000000, PAUSE = 10000000 };
	uint64_t begun = now_ns(), most = most_used(s);
	for (uint64_t look = now_ns() - begun; s->threads.n && now_ns() - begun < TRIAL;) {
		uint64_t pause = look * 9 < PAUSE ? PAUSE : look * 9 < TRIAL ? look * 9 : TRIAL;
		nanosleep(&(struct timespec){.tv_nsec = (long)pause}, NULL);
		uint64_t from = now_ns(), used = most_used(s);
		look = now_ns() - from;
		most = used > most ? used : most;
	}
	return most;
}

/* --- all together ---------------------------------------------------------------------- */

static int find_threads(struct search *s, const struct chosen_wish *w, struct err *e)
{
	if (w->pid)
		add_listed(s, w->pid, 0);
	else if (w->tid)
		add_listed(s, w->tid, 1);
	else if (w->cgroup)
		add_cgroup_named(s, w->cgroup);
	else if (w->comm)
		add_named(s, w->comm);
	const char *by = w->pid ? "process" : w->tid ? "thread" : "process in cgroup";
	const char *value = w->pid ? w->pid : w->tid ? w->tid : w->cgroup;
	if (s->failed)
		return err_nomem(e);
	if (!s->threads.n && w->comm)
		say("no thread is called '%s' now; only later ones will have stacks", w->comm);
	/* a name may appear later */
	if (!s->threads.n && value)
		return err_set(e, ERR_USAGE, "there is no %s %s", by, value);
	return 0;
}

int chosen_find(struct chosen *out, const struct chosen_wish *w, const struct record_wish *x,
		struct err *e)
{
	struct search s = {0};
	struct trial_run t;
	*out = (struct chosen){0};
	int rc = chosen_check(w, e);
	rc = rc ? rc : find_threads(&s, w, e);
	rc = rc ? rc : chosen_filters(out, w, s.threads.v, s.threads.n, e);
	if (!rc && x)
		record_trial_begin(&t, out, x);
	if (!rc)
		out->copy = w->copies ? chosen_copy(most_used_in_trial(&s)) : 0;
	if (!rc && x)
		record_trial_end(&t, out);
	vec_release(&s.threads);
	return rc;
}
