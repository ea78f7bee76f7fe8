#include "libsym/source/git_texts.h"
#include "base/child.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	NOT_FOUND = 127,
	PATIENCE_MS = 30000, /* for an answer: a repository may hold a pipe instead of a file */
};

/* Links are followed within the commit. The repository may be a stranger's, and its config names
 * programs: for what is read from the index, and what fetches objects that a partial clone lacks;
 * with its own protocol.NAME.allow it would allow the latter whatever -c says. */
static void become_git(const char *dir, const int in[2], const int out[2])
{
	static const char *const argv[] = {
		"git",      "-c",      "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
		"cat-file", "--batch", "--follow-symlinks",    NULL};
	setenv("GIT_ALLOW_PROTOCOL", "", 1);
	setenv("GIT_NO_LAZY_FETCH", "1", 1); /* since 2.44 */
	if (dup2(in[0], STDIN_FILENO) < 0 || dup2(out[1], STDOUT_FILENO) < 0)
		_exit(1);
	for (int i = 0; i < 2; i++) {
		close(in[i]);
		close(out[i]);
	}
	child_become(argv, dir, CHILD_READER);
	_exit(NOT_FOUND);
}

/* End git when perfkit closes its end of the pipe or ends: from its sandbox it cannot. */
__attribute__((noreturn)) static void watch_git(const char *dir, const int in[2],
						const int out[2])
{
	enum { INHERITED = 256 }; /* no more than a few are open so early */
	int status = -1;
	pid_t git = fork();
	if (!git)
		become_git(dir, in, out);
	struct pollfd p = {.fd = dup2(in[0], STDIN_FILENO)};
	for (int fd = STDIN_FILENO + 1; fd < INHERITED; fd++)
		close(fd);
	while (git > 0 && poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	if (git > 0 && !kill(git, SIGKILL))
		waitpid(git, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static int64_t now_ms(void)
{
	struct timespec t = {0};
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

static int begin(struct git_texts *g, const char *dir, struct err *e)
{
	int in[2], out[2];
	if (pipe(in))
		return err_sys(e, "git");
	if (pipe(out)) {
		close(in[0]);
		close(in[1]);
		return err_sys(e, "git");
	}
	fflush(NULL);
	g->pid = fork();
	if (!g->pid)
		watch_git(dir, in, out);
	close(in[0]);
	close(out[1]);
	/* what is run later must not keep it alive */
	fcntl(in[1], F_SETFD, FD_CLOEXEC);
	fcntl(out[0], F_SETFD, FD_CLOEXEC);
	g->to = in[1];
	g->from = out[0];
	if (g->pid > 0)
		return 0;
	close(g->to);
	close(g->from);
	return err_sys(e, "git");
}

/* A name as a line; git may have ended. */
static int send_name(struct git_texts *g, const char *name)
{
	size_t n = strlen(name);
	char *line = mem_alloc(n + 1);
	if (!line)
		return ERR_NOMEM;
	memcpy(line, name, n);
	line[n] = '\n';
	void (*was)(int) = signal(SIGPIPE, SIG_IGN);
	g->failed |= write(g->to, line, n + 1) != (ssize_t)n + 1;
	signal(SIGPIPE, was);
	mem_free(line);
	g->until = now_ms() + PATIENCE_MS;
	return g->failed ? ERR_IO : 0;
}

/* Have something unread of the answer. ERR_IO: git has ended, or said nothing for too long. */
static int fill(struct git_texts *g)
{
	while (g->at == g->n && !g->failed) {
		struct pollfd p = {.fd = g->from, .events = POLLIN};
		int64_t left = g->until - now_ms();
		int ready = left > 0 ? poll(&p, 1, (int)left) : 0;
		ssize_t n = ready > 0 ? read(g->from, g->piece, sizeof(g->piece)) : ready;
		if (n < 0 && errno == EINTR)
			continue;
		g->at = 0;
		g->n = n > 0 ? (size_t)n : 0;
		g->silent |= !ready;
		g->failed |= n <= 0;
	}
	return g->failed ? ERR_IO : 0;
}

/* The next line, without its end; what is too long is cut. */
static int receive_line(struct git_texts *g, char *line, size_t size)
{
	size_t n = 0;
	for (char c = 0; c != '\n';) {
		if (fill(g))
			return ERR_IO;
		c = g->piece[g->at++];
		if (c != '\n' && n + 1 < size)
			line[n++] = c;
	}
	line[n] = '\0';
	return 0;
}

/* Read n bytes of an answer and the newline behind them into *out (NULL: away). */
static int receive(struct git_texts *g, size_t n, struct buf *out)
{
	for (n++; n;) {
		if (fill(g))
			return ERR_IO;
		size_t m = g->n - g->at < n ? g->n - g->at : n;
		n -= m;
		if (out)
			buf_add(out, g->piece + g->at, m - !n);
		g->at += m;
	}
	return out ? buf_failed(out) : 0;
}

/*
 * Ask for an object. The answer is a line, and if that ends in a number as many bytes:
 *
 *	OID TYPE SIZE | NAME missing | dangling SIZE, symlink SIZE (a link out of the commit)
 *
 * 1 if it is of this type and at most `max` long, with its id in *oid and its bytes in *out
 * (NULL: not wanted); 0; ERR_NOMEM; ERR_IO, then and from then on, if git gives no answer.
 */
static int ask(struct git_texts *g, const char *name, const char *type, size_t max,
	       char oid[GIT_OID], struct buf *out)
{
	char line[PATH_MAX + 256], is[16];
	size_t size = 0;
	int rc = send_name(g, name);
	rc = rc ? rc : receive_line(g, line, sizeof(line));
	if (rc)
		return rc;
	const char *last = strrchr(line, ' ');
	if (!last || sscanf(last, " %zu", &size) != 1)
		return 0;
	int wanted = sscanf(line, "%64[0-9a-f] %15s", oid, is) == 2 && !strcmp(is, type) &&
		     size <= max;
	rc = receive(g, size, wanted ? out : NULL);
	return rc ? rc : wanted;
}

/* The length of DIR in DIR@REV: both may have more of these; 0: it is no such thing. */
static size_t folder_length(const char *spec)
{
	char dir[PATH_MAX];
	struct stat st;
	for (const char *at = strchr(spec, '@'); at; at = strchr(at + 1, '@')) {
		size_t n = (size_t)(at - spec);
		if (!n || n >= sizeof(dir) || !at[1])
			continue;
		memcpy(dir, spec, n);
		dir[n] = '\0';
		if (!stat(dir, &st) && S_ISDIR(st.st_mode))
			return n;
	}
	return 0;
}

static int find_commit(struct git_texts *g, const char *rev)
{
	struct buf name = {0};
	buf_fmt(&name, "%s^{commit}", rev);
	int rc = buf_failed(&name)
			 ? ERR_NOMEM
			 : ask(g, buf_cstr(&name), "commit", SIZE_MAX - 1, g->commit, NULL);
	buf_release(&name);
	return rc ? rc : ask(g, rev, "tree", SIZE_MAX - 1, g->commit, NULL);
}

/* Close it; the status that git ended with. */
static int end(struct git_texts *g)
{
	int status = 0;
	close(g->to);
	close(g->from);
	waitpid(g->pid, &status, 0);
	mem_free(g);
	return status;
}

static int no_answer(const struct git_texts *g, struct err *e)
{
	return g->silent ? err_set(e, ERR_IO, "--git %s: no answer from git within %d seconds",
				   g->spec, PATIENCE_MS / 1000)
			 : err_set(e, ERR_IO, "--git %s: git ended without an answer", g->spec);
}

int git_texts_open(struct git_texts **out, const char *spec, struct err *e)
{
	size_t n = folder_length(spec);
	for (const char *p = spec; *p; p++)
		n = (unsigned char)*p < ' ' ? 0 : n;
	if (!n)
		return err_set(e, ERR_USAGE, "--git %s: DIR@REV is expected, with a folder DIR",
			       spec);
	char *dir = mem_strndup(spec, n);
	struct git_texts *g = mem_zalloc(1, sizeof(*g));
	int rc = dir && g ? begin(g, dir, e) : err_nomem(e);
	mem_free(dir);
	if (rc) {
		mem_free(g);
		return rc;
	}
	g->spec = spec;
	rc = find_commit(g, spec + n + 1);
	if (rc == 1) {
		*out = g;
		return 0;
	}
	int silent = g->silent && no_answer(g, e), status = end(g);
	if (silent)
		return ERR_IO;
	if (rc == ERR_NOMEM)
		return err_nomem(e);
	return err_set(e, ERR_NOTFOUND, "--git %s: %s", spec,
		       WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND
			       ? "git is not installed"
			       : "git has no such commit");
}

int git_texts_read(struct git_texts *g, const char *path, size_t max, struct buf *out,
		   struct err *e)
{
	struct buf name = {0};
	char oid[GIT_OID];
	if (strchr(path, '\n'))
		return 0;
	buf_fmt(&name, "%s:%s", g->commit, path);
	int rc = buf_failed(&name) ? ERR_NOMEM : ask(g, buf_cstr(&name), "blob", max, oid, out);
	buf_release(&name);
	return rc == ERR_IO ? no_answer(g, e) : rc == ERR_NOMEM ? err_nomem(e) : rc;
}

void git_texts_close(struct git_texts *g)
{
	if (g)
		end(g);
}
