#include "libsym/elf/dso_find.h"

#include "base/check.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/regular.h"
#include "base/text/path.h"
#include "libparse/source.h"
#include "libsym/elf/claimed_file.h"
#include "libsym/elf/dso_find_internal.h"
#include "libsym/elf/file_at.h"
#include "libsym/elf/read_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* --- one candidate ---------------------------------------------------------------------- */

const char *dso_reason_text(enum dso_reason reason)
{
	static const char *const text[] = {
		[DSO_FOUND] = "found",
		[DSO_NOT_A_FILE] = "not a file",
		[DSO_SPECIAL_FILE] = "special file",
		[DSO_NOT_FOUND] = "not found",
		[DSO_MISMATCH] = "build-id mismatch",
		[DSO_UNTRUSTED] = "no build-id recorded",
		[DSO_SHARED_PATH] = "several files had this path",
		[DSO_UNREADABLE] = "unreadable",
		[DSO_ZERO_KALLSYMS] = "zero addresses",
		[DSO_CYCLES] = "its jitdump has times in cycles",
	};
	ENTRIES(text, DSO_CYCLES + 1);
	return reason < sizeof(text) / sizeof(text[0]) ? text[reason] : "unknown";
}

void dso_note(struct dso_search *s, enum dso_reason reason, const char *detail)
{
	/* How much a reason explains: a wrong file more than none, a mismatch more than a
	 * damaged file. */
	static const int weight[DSO_CYCLES + 1] = {
		[DSO_NOT_FOUND] = 1, [DSO_SPECIAL_FILE] = 2, [DSO_UNREADABLE] = 3,
		[DSO_UNTRUSTED] = 4, [DSO_SHARED_PATH] = 4,  [DSO_ZERO_KALLSYMS] = 4,
		[DSO_MISMATCH] = 5};
	if (weight[reason] <= weight[s->reason])
		return;
	s->reason = reason;
	snprintf(s->detail, DSO_DETAIL_MAX, "%s", detail);
}

void dso_path(struct dso_search *s, const char *fmt, ...)
{
	char text[4096];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buf_clear(&s->path);
	s->by_caller = 0;
	/* A path longer than PATH_MAX cannot be opened anyway. */
	if (n > 0 && (size_t)n < sizeof(text))
		buf_add(&s->path, text, (size_t)n);
	s->nomem |= buf_failed(&s->path) != 0;
}

static void note_mismatch(struct dso_search *s, const char *path, const struct build_id *have)
{
	char a[2 * BUILD_ID_MAX + 1], b[2 * BUILD_ID_MAX + 1], text[DSO_DETAIL_MAX];
	snprintf(text, sizeof(text), "%s has build-id %s, recorded %s", path,
		 have->len ? build_id_hex(have, a) : "(none)", build_id_hex(&s->want, b));
	dso_note(s, DSO_MISMATCH, text);
}

/* The folder that the caller gave, as --symfs, --buildid-dir or a bundle, and the part below it;
 * NULL: in none of them. */
static const char *given_folder(const struct dso_options *opt, const char *path,
				const char **below)
{
	const char *dir = opt->symfs;
	*below = path_below(path, dir);
	if (!*below) {
		dir = opt->buildid_dir;
		*below = path_below(path, dir);
	}
	return *below ? dir : NULL;
}

int dso_open(const struct dso_options *opt, const char *path, const struct claim *k,
	     struct claimed *c, struct err *e)
{
	const char *below, *dir = given_folder(opt, path, &below);
	if (dir)
		return claimed_open(dir, CLAIMED_INSIDE, below, c, e);
	unsigned flags = opt->handed_on ? 0 : CLAIMED_FOR_SELF;
	int rc = claimed_open(*path == '/' ? "" : ".", flags, path, c, e);
	rc = rc ? rc : claimed_check(c, k, path, e);
	if (rc && c->fd >= 0) {
		close(c->fd);
		c->fd = -1;
	}
	return rc;
}

static const char which_not_recorded[] = "which of them this was is not recorded";

/* What speaks for the candidate, whose id is checked later. */
static struct claim claim_of(const struct dso_search *s)
{
	return (struct claim){.trusted = s->trusted || !s->opt->handed_on,
			      .id_read = s->id_read,
			      .mapped = &s->mapped,
			      .written_ns = s->opt->host_is_ours ? s->opt->written_ns : 0,
			      .has_owner = s->beside && s->beside->has_owner,
			      .owner = s->beside ? s->beside->owner : 0};
}

/* 1 for a file written after it was mapped, or after the recording: when a linker replaces a
 * file, the new one may get the old inode number. */
static int is_newer(const struct dso_options *opt, const struct file_id *mapped,
		    const struct stat *st)
{
	int64_t at = mapped->mapped_ns ? mapped->mapped_ns : opt->written_ns;
	return opt->host_is_ours && at && source_mtime_ns(st) > at;
}

/* 1 unless the file, as it was opened, is shown to be another one than the mapped; notes why. */
static int is_mapped_one(struct dso_search *s, const struct claimed *c)
{
	struct file_id here;
	char text[DSO_DETAIL_MAX];
	if (s->is_it == BY_ID)
		return 1;
	enum file_match is = is_newer(s->opt, &s->mapped, &c->st) ? FILE_OTHER
			     : !s->mapped.ino                     ? FILE_UNSURE
			     : !file_at_fd(c->fd, &here, NULL)
				     ? FILE_UNSURE
				     : file_compare(&s->mapped, &here);
	if (s->is_it == BY_INODE && is != FILE_SAME) {
		dso_note(s, DSO_SHARED_PATH, which_not_recorded);
		return 0;
	}
	if (is != FILE_OTHER)
		return 1;
	snprintf(text, sizeof(text),
		 "%s: a different file is there now, and no build-id was recorded",
		 buf_cstr(&s->path));
	dso_note(s, DSO_UNTRUSTED, text);
	return 0;
}

/* Open the candidate, whatever it is. */
static int open_candidate(struct dso_search *s, struct elf_file **out, struct err *e)
{
	const char *path = buf_cstr(&s->path), *below;
	struct claim k = claim_of(s);
	struct claimed c;
	int rc;
	*out = NULL;
	if (s->by_caller)
		return elf_file_open(path, out, e);
	rc = dso_open(s->opt, path, &k, &c, e);
	if (rc)
		return rc;
	rc = is_mapped_one(s, &c) ? elf_file_open_fd(c.fd, path, out, e) : ERR_NOTFOUND;
	if (!rc && !given_folder(s->opt, path, &below)) {
		(*out)->has_owner = 1;
		(*out)->owner = c.st.st_uid;
	}
	close(c.fd);
	return rc;
}

struct elf_file *dso_try(struct dso_search *s, int trusted)
{
	struct elf_file *f = NULL;
	struct err e = {0};
	const char *path = buf_cstr(&s->path);
	if (!*path || s->nomem)
		return NULL;
	int rc = open_candidate(s, &f, &e);
	if (!rc && !s->want.len && trusted)
		return f;
	if (!rc && s->want.len && build_id_equal(&f->id, &s->want))
		return f;
	if (!rc && s->want.len) {
		note_mismatch(s, path, &f->id);
	} else if (!rc) {
		char text[DSO_DETAIL_MAX];
		snprintf(text, sizeof(text), "%s: no build-id was recorded to check it by",
			 path);
		dso_note(s, DSO_UNTRUSTED, text);
	} else if (rc == ERR_NOMEM) {
		s->nomem = 1;
	} else if (rc == ERR_UNSUPPORTED) {
		dso_note(s, DSO_SPECIAL_FILE, e.msg);
	} else if (rc != ERR_NOTFOUND) {
		dso_note(s, DSO_UNREADABLE, e.msg);
	}
	elf_file_close(f);
	return NULL;
}

static int buildid_dir(const struct dso_options *opt, char *out, size_t size)
{
	const char *dir = opt->buildid_dir, *home;
	if (dir)
		return *dir && snprintf(out, size, "%s", dir) < (int)size;
	dir = getenv("PERF_BUILDID_DIR");
	if (dir && *dir)
		return snprintf(out, size, "%s", dir) < (int)size;
	home = getenv("HOME");
	return home && *home && snprintf(out, size, "%s/.debug", home) < (int)size;
}

int dso_cache_path(struct dso_search *s, const char *name)
{
	char dir[2048], hex[2 * BUILD_ID_MAX + 1];
	if (!s->want.len || !buildid_dir(s->opt, dir, sizeof(dir)))
		return 0;
	build_id_hex(&s->want, hex);
	dso_path(s, "%s/.build-id/%.2s/%s%s%s", dir, hex, hex + 2, name ? "/" : "",
		 name ? name : "");
	s->by_caller = !s->opt->buildid_dir;
	return 1;
}

int dso_cache_has(const struct dso_options *opt, const struct build_id *id)
{
	struct dso_search s = {.opt = opt, .want = *id};
	int has = dso_cache_path(&s, NULL) && !s.nomem && !access(buf_cstr(&s.path), F_OK);
	buf_release(&s.path);
	return has;
}

/* --- names of mappings ------------------------------------------------------------------ */

static int starts_with(const char *s, const char *head)
{
	return !strncmp(s, head, strlen(head));
}

int dso_is_anonymous(const char *path)
{
	static const char *const heads[] = {
		"//",          "[heap",     "[stack",         "[anon",     "[vsyscall]",
		"/SYSV",       "/dev/zero", "/memfd:",        "[uprobes]", "inode:",
		"anon_inode:", "/[aio]",    "/anon_hugepage", "/i915",     "/drm mm object"};
	if (!*path)
		return 1;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (starts_with(path, heads[i]))
			return 1;
	return 0;
}

/* 1 for paths that must not even be examined. */
static int is_special(const char *path)
{
	if (path_has_parent(path)) /* no mapping has such a name */
		return 1;
	if (starts_with(path, "/dev/shm/")) /* ordinary files in memory */
		return 0;
	return starts_with(path, "/dev/") || starts_with(path, "/proc/") ||
	       starts_with(path, "/sys/");
}

int dso_is_trusted_path(const struct dso_options *opt, const char *path)
{
	for (size_t i = 0; i < opt->ntrust_paths; i++)
		if (path_below(path, opt->trust_paths[i]) && !path_has_parent(path))
			return 1;
	return 0;
}

static int have_symfs(const struct dso_options *opt)
{
	return opt->symfs && *opt->symfs;
}

/* --- the runtime file ------------------------------------------------------------------- */

/* perf fills its own cache as root, with what lies at the recorded paths as it ends, and makes
 * the copies readable for all: a copy does not tell who may have it. Nor does its id, which any
 * program may bear. So root hands on the file at the path, or nothing. */
static int is_withheld(const struct dso_search *s)
{
	return s->opt->handed_on && !s->opt->buildid_dir && !s->trusted && !geteuid();
}

static struct elf_file *from_cache(struct dso_search *s, const char *const *names, size_t n)
{
	struct elf_file *f = NULL;
	for (size_t i = 0; !f && i < n; i++) {
		if (!dso_cache_path(s, names[i]))
			continue;
		if (!is_withheld(s))
			f = dso_try(s, 0);
		else
			s->withheld |= !access(buf_cstr(&s->path), F_OK);
	}
	return f;
}

/* Say that the cache would have had the program, which is not at its path. */
static void note_withheld(struct dso_search *s, const char *path)
{
	char text[DSO_DETAIL_MAX];
	if (!s->withheld || (s->reason != DSO_NOT_FOUND && s->reason != DSO_MISMATCH))
		return;
	snprintf(text, sizeof(text),
		 "%s: %s, and perf's cached copy does not tell who may read it (--trust-paths)",
		 path, s->reason == DSO_MISMATCH ? "another file is there now" : "is gone");
	s->reason = DSO_FOUND;
	dso_note(s, DSO_UNREADABLE, text);
}

/* Try a file that no build-id tells from others. */
static struct elf_file *try_as(struct dso_search *s, enum identity is_it, int trusted)
{
	s->is_it = is_it;
	struct elf_file *f = dso_try(s, trusted);
	s->is_it = BY_ID;
	return f;
}

/* Find one of several files that were mapped by one path (of a host and of its containers),
 * identified only by device and inode. */
static void find_by_inode(struct dso_search *s, const char *path, struct dso_files *out)
{
	const struct file_id *m = &s->mapped;
	if (have_symfs(s->opt) && path[0] == '/' && !path_has_parent(path)) {
		dso_path(s, "%s" DSO_BY_INODE, s->opt->symfs, DSO_INODE_ARGS(m), path);
		out->runtime_from = DSO_FROM_SYMFS;
		out->runtime = dso_try(s, 1);
	}
	if (out->runtime)
		return;
	dso_path(s, "%s", path);
	out->runtime_from = DSO_FROM_LOCAL;
	if (path[0] == '/' && !s->opt->no_local && s->opt->host_is_ours && m->ino)
		out->runtime = try_as(s, BY_INODE, 1);
	if (!out->runtime)
		dso_note(s, DSO_SHARED_PATH, which_not_recorded);
}

int dso_id_is_others(const struct dso_options *opt, const char *path, const struct build_id *id,
		     const struct file_id *mapped, struct file_id *here)
{
	struct elf_file *f = NULL;
	struct stat st;
	int64_t born;
	int fd;
	if (!mapped->id_of_path || !mapped->ino || !id->len || opt->no_local ||
	    !opt->host_is_ours || path[0] != '/' || is_special(path) ||
	    file_open(path, REGULAR_NO_PSEUDO, &fd, NULL))
		return 0;
	int is = file_at_fd(fd, here, &born) && !elf_file_open_fd(fd, path, &f, NULL) &&
		 build_id_equal(&f->id, id),
	    other = file_compare(mapped, here) == FILE_OTHER;
	is = is &&
	     (other ? born <= opt->written_ns : !fstat(fd, &st) && is_newer(opt, mapped, &st));
	if (!other) /* what it was then has left no trace */
		*here = (struct file_id){0};
	elf_file_close(f);
	close(fd);
	return is;
}

static void find_runtime(struct dso_search *s, const char *path, struct dso_files *out)
{
	static const char *const cached[] = {"elf", NULL};
	const struct dso_options *opt = s->opt;
	out->runtime_from = DSO_FROM_BUILDID_DIR;
	out->runtime = from_cache(s, cached, 2);
	if (!out->runtime && have_symfs(opt) && path[0] == '/' && !path_has_parent(path)) {
		out->runtime_from = DSO_FROM_SYMFS;
		dso_path(s, "%s%s", opt->symfs, path);
		out->runtime = dso_try(s, 1);
		/* A flat folder of copied files is enough if the id matches. */
		if (!out->runtime && s->want.len) {
			dso_path(s, "%s/%s", opt->symfs, strrchr(path, '/') + 1);
			out->runtime = dso_try(s, 0);
		}
	}
	int trusted = dso_is_trusted_path(opt, path);
	if (!out->runtime && path[0] == '/' && (trusted || !opt->no_local)) {
		out->runtime_from = trusted ? DSO_FROM_TRUSTED_PATH : DSO_FROM_LOCAL;
		dso_path(s, "%s", path);
		out->runtime = try_as(s, trusted || s->want.len ? BY_ID : BY_FACTS,
				      trusted || opt->host_is_ours);
	}
	if (!out->runtime && opt->debuginfod) {
		out->runtime_from = DSO_FROM_DEBUGINFOD;
		out->runtime = dso_try_debuginfod(s, "executable");
	}
	if (!out->runtime)
		note_withheld(s, path);
}

/* This process's own vdso, as an ELF file. */
static struct elf_file *own_vdso(const struct build_id *want)
{
	unsigned long base = os_vdso(), lo, hi;
	char line[512];
	struct elf_file *f = NULL;
	FILE *maps = base ? fopen("/proc/self/maps", "re") : NULL;
	while (maps && !f && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx", &lo, &hi) != 2 || lo != base || hi <= lo)
			continue;
		/* NOLINTNEXTLINE: the address of the vdso, from the kernel */
		elf_file_open_mem((const void *)lo, hi - lo, "[vdso]", &f, NULL);
		break;
	}
	if (maps)
		fclose(maps);
	if (f && !build_id_equal(&f->id, want)) {
		elf_file_close(f);
		f = NULL;
	}
	return f;
}

static void find_vdso(struct dso_search *s, struct dso_files *out)
{
	static const char *const cached[] = {"vdso", "elf", NULL};
	out->runtime_from = DSO_FROM_BUILDID_DIR;
	/* its own name in the cache is the kernel's, which everybody may read */
	for (size_t i = 0; !out->runtime && i < (is_withheld(s) ? 1 : 3); i++)
		if (dso_cache_path(s, cached[i]))
			out->runtime = dso_try(s, 0);
	if (!out->runtime && !s->opt->no_local && s->want.len) {
		out->runtime_from = DSO_FROM_VDSO;
		out->runtime = own_vdso(&s->want);
	}
	if (!out->runtime && s->opt->debuginfod) {
		out->runtime_from = DSO_FROM_DEBUGINFOD;
		out->runtime = dso_try_debuginfod(s, "debuginfo");
	}
	if (!out->runtime && !s->want.len)
		dso_note(s, DSO_UNTRUSTED, "[vdso]: no build-id was recorded to find it by");
}

/* --- the debug file --------------------------------------------------------------------- */

unsigned dso_names_in(const struct elf_file *f)
{
	unsigned has = 0;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(f->elf, scn));) {
		GElf_Shdr s;
		if (!gelf_getshdr(scn, &s) || s.sh_type == SHT_NOBITS)
			continue;
		const char *name = elf_file_section_name(f, &s);
		if (!strcmp(name, ".symtab"))
			has |= DSO_HAS_SYMTAB;
		if (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info"))
			has |= DSO_HAS_INFO;
	}
	return has;
}

/* Without a build-id, a debuglink's file is identified by the CRC of the whole file. */
static struct elf_file *try_debuglink(struct dso_search *s, uint32_t crc)
{
	struct elf_file *f = NULL;
	if (s->want.len)
		return dso_try(s, 0);
	int rc = open_candidate(s, &f, NULL);
	s->nomem |= rc == ERR_NOMEM;
	if (rc)
		return NULL;
	if (f->size > UINT32_MAX || crc32(0, f->data, (uInt)f->size) != crc) {
		char text[DSO_DETAIL_MAX];
		snprintf(text, sizeof(text), "%s: CRC differs from that in .gnu_debuglink",
			 f->path);
		dso_note(s, DSO_MISMATCH, text);
		elf_file_close(f);
		return NULL;
	}
	return f;
}

/* The debuglink's file in `dir` (n bytes) or its .debug; `base` is the file it belongs to. */
static struct elf_file *debuglink_in(struct dso_search *s, const char *root, const char *dir,
				     size_t n, const char *base, const char *link, uint32_t crc)
{
	dso_path(s, "%s%.*s/.debug/%s", root, (int)n, dir, link);
	struct elf_file *f = try_debuglink(s, crc);
	if (!f && strcmp(base, link) != 0) {
		dso_path(s, "%s%.*s/%s", root, (int)n, dir, link);
		f = try_debuglink(s, crc);
	}
	return f;
}

/*
 * .gnu_debuglink: file name, NUL, padding to 4, CRC32 in the file's byte order. It is searched
 * next to the file that was found and, since that may be a copy in a cache, next to the
 * recorded path.
 */
static struct elf_file *follow_debuglink(struct dso_search *s, struct elf_file *runtime,
					 const char *path)
{
	GElf_Shdr shdr;
	const uint8_t *data;
	size_t n;
	if (elf_file_section(runtime, ".gnu_debuglink", &shdr, &data, &n, NULL) != 1)
		return NULL;
	size_t len = strnlen((const char *)data, n), crc_at = (len + 4) & ~(size_t)3;
	if (!len || crc_at > n || n - crc_at < 4 || memchr(data, '/', len))
		return NULL;
	uint32_t crc = load_u32(data + crc_at, runtime->swap);
	const char *link = (const char *)data, *slash = strrchr(runtime->path, '/');
	if (!slash)
		return NULL;
	size_t dir = (size_t)(slash - runtime->path);
	struct elf_file *f = debuglink_in(s, "", runtime->path, dir, slash + 1, link, crc);
	if (!f && !s->opt->no_local) {
		dso_path(s, "/usr/lib/debug%.*s/%s", (int)dir, runtime->path, link);
		f = try_debuglink(s, crc);
	}
	const char *recorded =
		path[0] == '/' && !path_has_parent(path) ? strrchr(path, '/') : NULL;
	if (!recorded || !strcmp(path, runtime->path))
		return f;
	dir = (size_t)(recorded - path);
	if (!f && have_symfs(s->opt))
		f = debuglink_in(s, s->opt->symfs, path, dir, recorded + 1, link, crc);
	if (!f && !s->opt->no_local)
		f = debuglink_in(s, "", path, dir, recorded + 1, link, crc);
	return f;
}

/* <root>/usr/lib/debug by id, then by path. */
static struct elf_file *from_debug_dir(struct dso_search *s, const char *root, const char *path)
{
	char hex[2 * BUILD_ID_MAX + 1];
	if (!s->want.len)
		return NULL;
	build_id_hex(&s->want, hex);
	dso_path(s, "%s/usr/lib/debug/.build-id/%.2s/%s.debug", root, hex, hex + 2);
	struct elf_file *f = dso_try(s, 0);
	if (!f && path[0] == '/' && !path_has_parent(path)) {
		dso_path(s, "%s/usr/lib/debug%s.debug", root, path);
		f = dso_try(s, 0);
	}
	if (!f && path[0] == '/' && !path_has_parent(path)) {
		dso_path(s, "%s/usr/lib/debug%s", root, path);
		f = dso_try(s, 0);
	}
	return f;
}

/* How many kinds of names a file has. */
static int richness(const struct elf_file *f)
{
	return f ? __builtin_popcount(dso_names_in(f)) : -1;
}

/* Keep `f` as the debug file if it has more names than the one found before. 1 when no other
 * could have more. */
static int keep_richer(struct dso_files *out, struct elf_file *f, enum dso_source from)
{
	if (f && richness(f) > richness(out->debug)) {
		elf_file_close(out->debug);
		out->debug = f;
		out->debug_from = from;
	} else
		elf_file_close(f);
	return out->debug && dso_names_in(out->debug) == DSO_HAS_ALL;
}

/* Another copy of the program, below `root`, if that has names that the one found lacks. */
static struct elf_file *richer_copy(struct dso_search *s, const char *root, const char *path,
				    const struct elf_file *runtime)
{
	if (!runtime || !s->want.len || !path || path[0] != '/' || path_has_parent(path))
		return NULL;
	dso_path(s, "%s%s", root, path);
	if (!strcmp(buf_cstr(&s->path), runtime->path))
		return NULL;
	struct elf_file *f = dso_try(s, 0);
	if (f && !(dso_names_in(f) & ~dso_names_in(runtime))) {
		elf_file_close(f);
		f = NULL;
	}
	return f;
}

static int find_debug_here(struct dso_search *s, const char *path, struct dso_files *out)
{
	const char *symfs = s->opt->symfs;
	int trusted = dso_is_trusted_path(s->opt, path), local = !s->opt->no_local;
	static const char *const cached[] = {"debug"};
	return keep_richer(out, from_cache(s, cached, 1), DSO_FROM_BUILDID_DIR) ||
	       (have_symfs(s->opt) &&
		(keep_richer(out, from_debug_dir(s, symfs, path), DSO_FROM_SYMFS) ||
		 keep_richer(out, richer_copy(s, symfs, path, out->runtime), DSO_FROM_SYMFS) ||
		 keep_richer(out, richer_copy(s, symfs, strrchr(path, '/'), out->runtime),
			     DSO_FROM_SYMFS))) ||
	       (local && keep_richer(out, from_debug_dir(s, "", path), DSO_FROM_DEBUG_DIR)) ||
	       (out->runtime && keep_richer(out, follow_debuglink(s, out->runtime, path),
					    DSO_FROM_DEBUGLINK)) ||
	       ((local || trusted) &&
		keep_richer(out, richer_copy(s, "", path, out->runtime),
			    trusted ? DSO_FROM_TRUSTED_PATH : DSO_FROM_LOCAL));
}

/* The debug file with most names: one of a cache may be poorer than what lies beside it. */
static void find_debug(struct dso_search *s, const char *path, struct dso_files *out)
{
	out->debug_from = DSO_FROM_NOWHERE;
	s->beside = out->runtime;
	if (find_debug_here(s, path, out) || out->debug || !s->opt->debuginfod)
		return;
	out->debug = dso_try_debuginfod(s, "debuginfo");
	if (out->debug)
		out->debug_from = DSO_FROM_DEBUGINFOD;
}

/* ---------------------------------------------------------------------------------------- */

static void find_files(struct dso_search *s, const char *path, struct dso_files *out)
{
	int vdso = !strcmp(path, "[vdso]") || !strcmp(path, "[vdso32]");
	if (dso_is_anonymous(path) && !(s->want.len && starts_with(path, "/memfd:"))) {
		out->reason = DSO_NOT_A_FILE;
		return;
	}
	if (is_special(path)) {
		out->reason = DSO_SPECIAL_FILE;
		return;
	}
	struct file_id here;
	if (!vdso && dso_id_is_others(s->opt, path, &s->want, &s->mapped, &here)) {
		s->want.len = out->id.len = 0;
		s->mapped.shared_path = 1;
	}
	if (vdso)
		find_vdso(s, out);
	else if (s->mapped.shared_path && !s->want.len)
		find_by_inode(s, path, out);
	else
		find_runtime(s, path, out);
	out->reason = out->runtime ? DSO_FOUND : s->reason;
	if (!out->runtime)
		out->runtime_from = DSO_FROM_NOWHERE;
	if (out->runtime && !s->want.len)
		s->want = out->id = out->runtime->id;
	if (vdso || (out->runtime && dso_names_in(out->runtime) == DSO_HAS_ALL))
		return;
	/* The reason stays that of the runtime file; only the detail may change. */
	find_debug(s, path, out);
}

int dso_find(const struct dso_options *opt, const char *path, const struct build_id *id,
	     const struct file_id *mapped, struct dso_files *out, struct err *e)
{
	static const char deleted[] = " (deleted)";
	*out = (struct dso_files){0};
	struct dso_search s = {
		.opt = opt, .name = path, .reason = DSO_NOT_FOUND, .detail = out->detail};
	if (id)
		s.want = out->id = *id;
	if (mapped)
		s.mapped = *mapped;
	s.id_read = s.mapped.id_read;
	size_t n = strlen(path), k = sizeof(deleted) - 1;
	if (n > k && !strcmp(path + n - k, deleted))
		n -= k;
	char *plain = mem_strndup(path, n);
	if (!plain)
		return err_nomem(e);
	s.trusted = dso_is_trusted_path(opt, plain);
	find_files(&s, plain, out);
	mem_free(plain);
	buf_release(&s.path);
	if (s.nomem) {
		dso_files_release(out);
		return err_nomem(e);
	}
	return 0;
}

void dso_files_release(struct dso_files *f)
{
	elf_file_close(f->runtime);
	elf_file_close(f->debug);
	*f = (struct dso_files){0};
}
