#include "libsym/source/source_text.h"
#include "base/check.h"
#include "base/md5.h"
#include "base/mem.h"
#include "base/text/buf.h"
#include "base/text/path.h"
#include "libsym/elf/claimed_file.h"
#include "libsym/elf/read_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longer files are not source texts. */
enum { TEXT_MAX = 16 << 20 };

const char *source_verdict_word(unsigned int verdict)
{
	static const char *const words[] = {"absent", "same", "unchecked", "newer", "other"};
	ENTRIES(words, SOURCE_VERDICTS);
	return verdict < SOURCE_VERDICTS ? words[verdict] : "";
}

/* --- paths ------------------------------------------------------------------------------ */

/* Append `path` without "." and "..", as it is written: links are followed when it is opened. */
static void normalize(struct buf *b, const char *path)
{
	size_t root = b->n;
	while (*path) {
		size_t n = strcspn(path, "/");
		if (n == 2 && !strncmp(path, "..", 2)) {
			while (b->n > root && b->v[b->n - 1] != '/')
				b->n--;
			b->n -= b->n > root;
		} else if (n && !(n == 1 && *path == '.')) {
			buf_char(b, '/');
			buf_add(b, path, n);
		}
		path += n + (path[n] == '/');
	}
}

static int has_hidden(const char *relative)
{
	return *relative == '.' || strstr(relative, "/.") != NULL;
}

/*
 * Without the line table's MD5 a name is all that speaks for a file below a folder that was
 * given: "--source-dir ~" must not show ~/.ssh/id_rsa or ~/passwords.txt to whoever wrote the
 * name. So nothing of its path below the folder is hidden, and it ends as sources of compiled
 * languages do; a header of C++ has no ending. `path` is the file's, without links; `below`
 * its end.
 */
static int looks_like_source(const char *path, const char *below)
{
	static const char endings[] =
		" c h cc cp cpp cxx c++ C H hh hp hpp hxx h++ tcc tpp txx inl ipp ixx inc def "
		"gen"
		" cppm ii i m mm M s S asm sx cu cuh cl hip ispc metal rs go zig d di nim cr "
		"odin"
		" v vala swift ml mli mll mly hs hsc lhs adb ads ada f for ftn fpp f77 f90 f95 "
		"f03"
		" f08 F FOR F90 F95 F03 F08 pas pp p dpr lpr jl java kt kts scala groovy clj "
		"cs fs"
		" vb py pyx pxd pxi js mjs cjs jsx ts mts cts tsx lua rb php erl hrl ex exs "
		"dart r"
		" R l ll lex y yy ypp re rl peg lisp cl el scm rkt cbl cob vhd sv proto ";
	const char *leaf = path_base(path), *dot = strrchr(leaf, '.');
	char ending[8];
	if (has_hidden(below))
		return 0;
	if (!dot)
		return strstr(path, "/c++/") != NULL;
	int n = snprintf(ending, sizeof(ending), " %s ", dot + 1);
	return n > 2 && n < (int)sizeof(ending) && !strchr(dot + 1, ' ') &&
	       strstr(endings, ending) != NULL;
}

/* A folder that is a root without being named: it is deep enough to be somebody's project. */
static int may_be_root(const char *dir)
{
	const char *home = getenv("HOME");
	size_t slashes = 0;
	for (const char *p = dir; *p; p++)
		slashes += *p == '/' && p[1];
	return *dir == '/' && slashes >= 2 && !(home && !strcmp(dir, home));
}

/* --- one candidate ---------------------------------------------------------------------- */

struct search {
	const struct source_options *o;
	const struct source_name *name;
	struct buf path;            /* normalized */
	enum source_verdict packed; /* of a bundle's or server's text without an MD5 */
	struct source_text *out;
	struct err *e;
};

static enum source_verdict verdict_of(const struct search *s, const char *text, size_t n,
				      const struct stat *st)
{
	uint8_t sum[MD5_BYTES];
	if (!s->name->md5 && s->packed != SOURCE_ABSENT)
		return s->packed;
	if (!s->name->md5)
		return st && s->o->written_ns &&
				       st->st_mtim.tv_sec > s->o->written_ns / 1000000000
			       ? SOURCE_NEWER
			       : SOURCE_UNCHECKED;
	md5_of(text, n, sum);
	return memcmp(sum, s->name->md5, MD5_BYTES) ? SOURCE_OTHER : SOURCE_SAME;
}

/* Open the regular file at DIR/REST, links followed, if it is below DIR: 1 and its `path`. */
static int open_below(const char *dir, const char *rest, char path[PATH_MAX], struct claimed *c)
{
	char root[PATH_MAX], joined[PATH_MAX];
	int n = snprintf(joined, sizeof(joined), "%s/%s", dir, rest);
	if (n < 0 || n >= PATH_MAX || !realpath(dir, root) || !realpath(joined, path))
		return 0;
	const char *below = path_below(path, root);
	return below && !claimed_open(root, CLAIMED_INSIDE, below, c, NULL);
}

/* Take a text (heap, owned; without `st` a commit's) unless a better one was found; `below` is
 * the end of `path` below the root. 1: the search is over; ERR_NOMEM. */
static int take(struct search *s, const char *path, const char *below, char *text, size_t n,
		const struct stat *st)
{
	enum source_verdict v = SOURCE_ABSENT;
	if (!memchr(text, 0, n))
		v = verdict_of(s, text, n, st);
	if (v != SOURCE_SAME && s->packed == SOURCE_ABSENT && !looks_like_source(path, below))
		v = SOURCE_ABSENT;
	if (v == SOURCE_ABSENT || (s->out->verdict != SOURCE_ABSENT && v != SOURCE_SAME)) {
		mem_free(text);
		return 0;
	}
	source_text_release(s->out);
	if (s->packed != SOURCE_ABSENT && !s->o->kept)
		path = s->name->path; /* where the bundle was unpacked says nothing */
	*s->out = (struct source_text){
		.verdict = v, .path = mem_strdup(path), .text = text, .n = n};
	return s->out->path ? v != SOURCE_OTHER : ERR_NOMEM;
}

/* Take the file at DIR/REST, a root that the user named. Returns as take. */
static int try_file(struct search *s, const char *dir, const char *rest)
{
	char path[PATH_MAX];
	struct claimed c;
	char *text = NULL;
	size_t n = 0;
	if (!open_below(dir, rest, path, &c))
		return 0;
	int rc = read_fd(c.fd, path, TEXT_MAX, &text, &n, NULL);
	close(c.fd);
	return !rc ? take(s, path, c.path + 1, text, n, &c.st) : rc == ERR_NOMEM ? rc : 0;
}

/* The same of a root that nobody named: of what not everybody may read, root shows only what the
 * owner of the program owns, too; if the program is not here, its own files of mode 644. */
static int try_claimed(struct search *s, const char *dir, const char *rest)
{
	char path[2 * PATH_MAX];
	struct claimed c;
	struct stat prog;
	char *text = NULL;
	size_t n = 0;
	if (claimed_open(dir, CLAIMED_INSIDE, rest, &c, NULL))
		return 0;
	int here = s->name->program && !stat(s->name->program, &prog);
	struct claim k = {.has_owner = here || c.st.st_mode & S_IROTH,
			  .owner = here ? prog.st_uid : geteuid()};
	snprintf(path, sizeof(path), "%s%s", dir, c.path);
	int rc = has_hidden(c.path + 1) ? ERR_REFUSED : claimed_check(&c, &k, path, NULL);
	rc = rc ? rc : read_fd(c.fd, path, TEXT_MAX, &text, &n, NULL);
	close(c.fd);
	return !rc ? take(s, path, c.path + 1, text, n, &c.st) : rc == ERR_NOMEM ? rc : 0;
}

/* --- roots ------------------------------------------------------------------------------ */

static int try_maps(struct search *s)
{
	const char *path = buf_cstr(&s->path);
	int rc = 0;
	for (size_t i = 0; i < s->o->nmaps && !rc; i++) {
		const char *map = s->o->maps[i], *to = strrchr(map, '=');
		char *from = to ? mem_strndup(map, (size_t)(to - map)) : NULL;
		if (to && !from)
			return ERR_NOMEM;
		const char *rest = !from ? NULL : *from ? path_below(path, from) : path;
		rc = rest ? try_file(s, to + 1, rest + 1) : 0;
		mem_free(from);
	}
	return rc;
}

/* The longest end of the name first, also below. */
static int try_git(struct search *s)
{
	struct buf shown = {0};
	int rc = 0;
	for (const char *at = buf_cstr(&s->path); s->o->git && at && !rc;
	     at = strchr(at + 1, '/')) {
		struct buf text = {0};
		rc = git_texts_read(s->o->git, at + 1, TEXT_MAX, &text, s->e);
		if (rc == 1) {
			buf_char(&text, '\0');
			buf_clear(&shown);
			buf_fmt(&shown, "%s:%s", s->o->git->spec, at + 1);
			rc = buf_failed(&shown) || buf_failed(&text) ? ERR_NOMEM : 0;
		}
		if (text.n && !rc) {
			rc = take(s, buf_cstr(&shown), at + 1, text.v, text.n - 1, NULL);
			text = (struct buf){0};
		}
		buf_release(&text);
	}
	buf_release(&shown);
	return rc;
}

static int try_dirs(struct search *s)
{
	int rc = 0;
	for (size_t i = 0; i < s->o->ndirs && !rc; i++)
		for (const char *at = buf_cstr(&s->path); at && !rc; at = strchr(at + 1, '/'))
			rc = try_file(s, s->o->dirs[i], at + 1);
	return rc;
}

static const char *packed_folder(enum source_verdict v)
{
	return v == SOURCE_NEWER ? "source-changed" : "source";
}

void source_text_packed(struct buf *b, const char *path, enum source_verdict verdict)
{
	buf_str(b, packed_folder(verdict));
	normalize(b, path);
}

static int try_bundle(struct search *s)
{
	static const enum source_verdict kept[] = {SOURCE_UNCHECKED, SOURCE_NEWER};
	char dir[PATH_MAX];
	int rc = 0;
	for (size_t i = 0; s->o->bundle && i < 2 && !rc; i++) {
		int n = snprintf(dir, sizeof(dir), "%s/%s", s->o->bundle,
				 packed_folder(kept[i]));
		s->packed = kept[i];
		if (n > 0 && n < PATH_MAX)
			rc = try_file(s, dir, buf_cstr(&s->path) + 1);
	}
	s->packed = SOURCE_ABSENT;
	return rc;
}

static int try_kept(struct search *s)
{
	const struct source_text *t = s->o->kept;
	char *text = t ? mem_alloc(t->n + 1) : NULL;
	if (!t)
		return 0;
	if (!text)
		return ERR_NOMEM;
	memcpy(text, t->text, t->n);
	s->packed = t->verdict;
	int rc = take(s, t->path, t->path, text, t->n, NULL);
	s->packed = SOURCE_ABSENT;
	return rc;
}

static int try_root(struct search *s, const char *dir)
{
	char root[PATH_MAX];
	if (!realpath(dir, root) || !may_be_root(root))
		return 0;
	const char *rest = path_below(buf_cstr(&s->path), root);
	return rest && !has_hidden(rest + 1) ? try_claimed(s, root, rest) : 0;
}

static int try_here(struct search *s)
{
	char dir[PATH_MAX];
	int rc = try_root(s, ".");
	if (rc || !s->name->program || !realpath(s->name->program, dir))
		return rc;
	*strrchr(dir, '/') = 0;
	return *dir ? try_root(s, dir) : 0;
}

/* Take what a server has of this program: the name is its own, so any is a source's. */
static int try_server(struct search *s)
{
	const struct source_name *name = s->name;
	const char *path = buf_cstr(&s->path);
	char *text;
	size_t n;
	if (!s->o->fetch || !name->find || !name->id || s->out->verdict != SOURCE_ABSENT)
		return 0;
	int fd = debuginfod_source(name->find, name->id, path);
	if (fd < 0)
		return 0;
	int rc = read_fd(fd, path, TEXT_MAX, &text, &n, NULL);
	close(fd);
	s->packed = SOURCE_UNCHECKED;
	rc = !rc ? take(s, path, path + 1, text, n, NULL) : rc == ERR_NOMEM ? rc : 0;
	s->packed = SOURCE_ABSENT;
	return rc;
}

static int embedded(struct search *s)
{
	size_t n = strnlen(s->name->text, TEXT_MAX);
	s->out->text = mem_strndup(s->name->text, n);
	s->out->n = n;
	s->out->verdict = SOURCE_SAME;
	return s->out->text ? 0 : ERR_NOMEM;
}

static int find(struct search *s)
{
	if (s->name->text && *s->name->text)
		return embedded(s);
	normalize(&s->path, s->name->path);
	const char *path = buf_cstr(&s->path);
	if (buf_failed(&s->path) || !*path)
		return buf_failed(&s->path) == ERR_NOMEM ? ERR_NOMEM : 0;
	int rc = try_maps(s);
	rc = rc ? rc : try_git(s);
	rc = rc ? rc : try_dirs(s);
	if (!rc && s->o->symfs && *s->o->symfs)
		rc = try_file(s, s->o->symfs, path + 1);
	rc = rc ? rc : try_bundle(s);
	rc = rc ? rc : try_kept(s);
	if (!rc && s->o->here)
		rc = try_here(s);
	rc = rc ? rc : try_server(s);
	return rc < 0 ? rc : 0;
}

static int index_lines(struct source_text *t)
{
	for (size_t at = 0; at < t->n;) {
		const char *end = memchr(t->text + at, '\n', t->n - at);
		if (vec_push(&t->lines, at))
			return ERR_NOMEM;
		at = end ? (size_t)(end - t->text) + 1 : t->n;
	}
	return 0;
}

int source_text_load(struct source_text *out, const struct source_options *o,
		     const struct source_name *name, struct err *e)
{
	struct search s = {
		.o = o, .name = name, .path = {.max = PATH_MAX - 1}, .out = out, .e = e};
	*out = (struct source_text){0};
	int rc = find(&s);
	rc = rc ? rc : index_lines(out);
	buf_release(&s.path);
	return rc == ERR_NOMEM ? err_nomem(e) : rc;
}

int source_text_line(const struct source_text *t, uint32_t line, const char **text, size_t *n)
{
	if (!line || line > t->lines.n)
		return 0;
	size_t from = t->lines.v[line - 1];
	size_t to = line < t->lines.n ? t->lines.v[line] : t->n;
	while (to > from && (t->text[to - 1] == '\n' || t->text[to - 1] == '\r'))
		to--;
	*text = t->text + from;
	*n = to - from;
	return 1;
}

void source_text_release(struct source_text *t)
{
	mem_free(t->path);
	mem_free(t->text);
	vec_release(&t->lines);
	*t = (struct source_text){0};
}
