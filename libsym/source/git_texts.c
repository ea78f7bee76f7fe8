#include "libsym/source/git_texts.h"
#include "base/child.h"
#include "base/mem.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_FOUND = 127 };

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
		become_git(dir, in, out);
	close(in[0]);
	close(out[1]);
	/* what is run later must not keep it alive */
	fcntl(in[1], F_SETFD, FD_CLOEXEC);
	fcntl(out[0], F_SETFD, FD_CLOEXEC);
	g->to = fdopen(in[1], "w");
	g->from = fdopen(out[0], "r");
	return g->pid > 0 && g->to && g->from ? 0 : err_sys(e, "git");
}

/* A name as a line; git may have ended. */
static int send_name(const struct git_texts *g, const char *name)
{
	void (*was)(int) = signal(SIGPIPE, SIG_IGN);
	fprintf(g->to, "%s\n", name);
	int failed = fflush(g->to);
	signal(SIGPIPE, was);
	return failed;
}

/* Read n bytes of an answer and the newline behind them into *out (NULL: away). */
static int receive(const struct git_texts *g, size_t n, struct buf *out)
{
	char piece[1 << 14];
	for (n++; n;) {
		size_t m = fread(piece, 1, n < sizeof(piece) ? n : sizeof(piece), g->from);
		if (!m)
			return ERR_IO;
		n -= m;
		if (out)
			buf_add(out, piece, m - !n);
	}
	return out ? buf_failed(out) : 0;
}

/*
 * Ask for an object. The answer is a line, and if that ends in a number as many bytes:
 *
 *	OID TYPE SIZE | NAME missing | dangling SIZE, symlink SIZE (a link out of the commit)
 *
 * 1 if it is of this type and at most `max` long, with its id in *oid and its bytes in *out
 * (NULL: not wanted); 0; ERR_NOMEM.
 */
static int ask(const struct git_texts *g, const char *name, const char *type, size_t max,
	       char oid[GIT_OID], struct buf *out)
{
	char line[PATH_MAX + 256], is[16];
	size_t size = 0;
	if (send_name(g, name) || !fgets(line, sizeof(line), g->from))
		return 0;
	const char *last = strrchr(line, ' ');
	if (!last || sscanf(last, " %zu", &size) != 1)
		return 0;
	int wanted = sscanf(line, "%64[0-9a-f] %15s", oid, is) == 2 && !strcmp(is, type) &&
		     size <= max;
	int rc = receive(g, size, wanted ? out : NULL);
	return rc == ERR_NOMEM ? rc : !rc && wanted;
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
	if (g->to)
		fclose(g->to);
	if (g->from)
		fclose(g->from);
	if (g->pid > 0)
		waitpid(g->pid, &status, 0);
	*g = (struct git_texts){0};
	return status;
}

int git_texts_open(struct git_texts *g, const char *spec, struct err *e)
{
	size_t n = folder_length(spec);
	*g = (struct git_texts){.spec = spec};
	for (const char *p = spec; *p; p++)
		n = (unsigned char)*p < ' ' ? 0 : n;
	if (!n)
		return err_set(e, ERR_USAGE, "--git %s: DIR@REV is expected, with a folder DIR",
			       spec);
	char *dir = mem_strndup(spec, n);
	int rc = dir ? begin(g, dir, e) : err_nomem(e);
	mem_free(dir);
	if (!rc)
		rc = find_commit(g, spec + n + 1);
	if (rc == 1)
		return 0;
	int status = end(g);
	if (rc)
		return rc == ERR_NOMEM ? err_nomem(e) : rc;
	return err_set(e, ERR_NOTFOUND, "--git %s: %s", spec,
		       WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND
			       ? "git is not installed"
			       : "git has no such commit");
}

int git_texts_read(const struct git_texts *g, const char *path, size_t max, struct buf *out)
{
	struct buf name = {0};
	char oid[GIT_OID];
	if (strchr(path, '\n'))
		return 0;
	buf_fmt(&name, "%s:%s", g->commit, path);
	int rc = buf_failed(&name) ? ERR_NOMEM : ask(g, buf_cstr(&name), "blob", max, oid, out);
	buf_release(&name);
	return rc;
}

void git_texts_close(struct git_texts *g)
{
	end(g);
}
