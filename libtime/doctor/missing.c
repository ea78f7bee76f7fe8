#include "libtime/doctor/missing.h"
#include "base/text/buf.h"
#include "base/text/shellword.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- which ---------------------------------------------------------------------------- */

/* Fill in a DSO without names, or addresses in none (NO_ID). */
static int look_up(struct unnamed_file *f, struct profile *p, uint32_t name, uint32_t file)
{
	struct strtab *s = &p->stacks.strings;
	char hex[2 * BUILD_ID_MAX + 1] = "";
	const char *detail = "";
	*f = (struct unnamed_file){.name = name, .pid = -1, .reason = DSO_NOT_A_FILE};
	if (file == NO_ID)
		return 0;
	const struct dso *d = &p->machine.dsos.v[file];
	f->reason = (uint8_t)modules_reason(p->modules, file, &detail);
	f->kind = (uint8_t)(d->kind + 1);
	f->path = d->path;
	f->pid = d->pid;
	if (d->id.len)
		build_id_hex(&d->id, hex);
	return strtab_intern(s, hex, &f->build_id) || strtab_intern(s, detail, &f->detail);
}

static int row_of(struct unnamed_files *m, struct profile *p, struct u64map *index,
		  uint32_t name, uint32_t *row)
{
	struct unnamed_file f;
	if (u64map_get(index, name, row))
		return 0;
	*row = (uint32_t)m->v.n;
	return look_up(&f, p, name, modules_dso_named(p->modules, name)) ||
			       vec_push(&m->v, f) || u64map_put(index, name, *row)
		       ? ERR_NOMEM
		       : 0;
}

/* The row of a file by the name that its frames have, or NULL. */
typedef struct unnamed_file *row_by_name(void *ctx, uint32_t dso);

/* Count a stack of so many samples once for every DSO of which it has unnamed frames. */
static int count_stack(struct unnamed_files *m, const struct stacks *s, uint32_t leaf,
		       uint64_t samples, size_t nth, row_by_name *row, void *ctx)
{
	int leaf_named = 1;
	for (uint32_t path = leaf; path; path = s->paths.v[path].parent) {
		const struct frame *fr = &s->frames.v[s->paths.v[path].frame];
		if (frame_is_named(fr))
			continue;
		leaf_named &= path != leaf;
		struct unnamed_file *d = row(ctx, fr->dso);
		if (!d)
			return ERR_NOMEM;
		if (d->last_counted != nth)
			d->samples += samples;
		d->last_counted = nth;
	}
	m->samples += samples;
	m->named_leaf += leaf_named ? samples : 0;
	return 0;
}

static int by_samples(const void *a, const void *b, void *strings)
{
	const struct unnamed_file *x = a, *y = b;
	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return strcmp(strtab_get(strings, x->name), strtab_get(strings, y->name));
}

static void sort_rows(struct unnamed_files *m, const struct strtab *strings)
{
	if (m->v.n)
		qsort_r(m->v.v, m->v.n, sizeof(*m->v.v), by_samples, (void *)strings);
}

struct finder {
	struct unnamed_files *m;
	struct profile *p;
	struct u64map index;
};

static struct unnamed_file *find_or_add(void *ctx, uint32_t dso)
{
	struct finder *x = ctx;
	uint32_t row;
	return row_of(x->m, x->p, &x->index, dso, &row) ? NULL : &x->m->v.v[row];
}

int missing_find(struct unnamed_files *m, struct profile *p, const struct folded *v, size_t n,
		 struct err *e)
{
	struct finder x = {.m = m, .p = p};
	int rc = 0;
	*m = (struct unnamed_files){.samples = 0};
	for (size_t i = 0; !rc && i < n; i++)
		rc = count_stack(m, &p->stacks, v[i].path, v[i].samples, i + 1, find_or_add,
				 &x);
	u64map_release(&x.index);
	sort_rows(m, &p->stacks.strings);
	return rc ? err_nomem(e) : 0;
}

struct known {
	struct unnamed_files *m;
	const struct strtab *own, *others;
	struct unnamed_file other; /* frames that are in no row */
};

static struct unnamed_file *find_known(void *ctx, uint32_t dso)
{
	struct known *x = ctx;
	for (size_t i = 0; i < x->m->v.n; i++)
		if (!strcmp(strtab_get(x->own, x->m->v.v[i].name), strtab_get(x->others, dso)))
			return &x->m->v.v[i];
	return &x->other;
}

int missing_recount(struct unnamed_files *m, const struct strtab *own,
		    const struct stacks *stacks, const uint64_t *count)
{
	struct known x = {.m = m, .own = own, .others = &stacks->strings};
	size_t n = 0;
	int rc = 0;
	m->samples = m->named_leaf = 0;
	for (size_t i = 0; i < m->v.n; i++) {
		m->v.v[i].samples = 0;
		m->v.v[i].last_counted = 0;
	}
	for (uint32_t i = 0; i < stacks->paths.n && !rc; i++)
		if (count[i])
			rc = count_stack(m, stacks, i, count[i], i + 1, find_known, &x);
	for (size_t i = 0; i < m->v.n; i++)
		if (m->v.v[i].samples)
			m->v.v[n++] = m->v.v[i];
	m->v.n = n;
	sort_rows(m, own);
	return rc;
}

const char *missing_reason(const struct unnamed_file *f)
{
	if (!f->name)
		return "no mapping holds the address";
	if (f->kind == DSO_ANON + 1 && f->reason == DSO_NOT_A_FILE)
		return "anonymous memory (JIT code?), no perf map or jitdump found";
	return f->reason == DSO_FOUND ? "no symbol covers the address"
				      : dso_reason_text(f->reason);
}

/* --- what would help ------------------------------------------------------------------ */

/* Is it a path of the distribution, whose debuginfod has the file? */
static int is_packaged(const char *path)
{
	static const char *const dirs[] = {"/usr/bin/", "/usr/sbin/", "/usr/lib",     "/bin/",
					   "/sbin/",    "/lib",       "/usr/libexec/"};
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		if (!strncmp(path, dirs[i], strlen(dirs[i])))
			return 1;
	return 0;
}

/* What the recording names goes into commands to paste. */

/* 1 for a path that, below symfs, stays there. */
static int stays_below(const char *path, size_t n)
{
	for (size_t i = 0; i + 3 <= n; i++)
		if (!memcmp(path + i, "/..", 3) && (i + 3 == n || path[i + 3] == '/'))
			return 0;
	return n && *path == '/';
}

/* The recorded host if it is a host's name; ssh would interpret anything else. */
static const char *host_of(const char *host)
{
	enum { MOST = 253 }; /* RFC 1123 */
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";
	size_t n = strspn(host, allowed);
	return n && n <= MOST && !host[n] && *host != '-' && *host != '.' && !strstr(host, "..")
		       ? host
		       : "HOST";
}

/* 1 for a path that means itself to the other machine's shell, too: older scp asks that. */
static int is_plain(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+./,@%=:";
	return !path[strspn(path, plain)];
}

static void copy_line(struct buf *out, const char *host, const char *path)
{
	struct buf to = {0}, from = {0};
	buf_fmt(&to, "symfs%.*s", (int)(strrchr(path, '/') - path), path);
	buf_fmt(&from, "%s:%s", host_of(host), path);
	if (!is_plain(path)) {
		buf_str(out, "# copy it into ");
		shell_word(out, buf_cstr(&to));
		buf_str(out, ", then --symfs symfs; a shell there would interpret its name");
	} else {
		buf_str(out, "mkdir -p ");
		shell_word(out, buf_cstr(&to));
		buf_str(out, " && scp -- ");
		shell_word(out, buf_cstr(&from));
		buf_char(out, ' ');
		buf_char(&to, '/');
		shell_word(out, buf_cstr(&to));
		buf_str(out, "  # then --symfs symfs");
	}
	buf_release(&to);
	buf_release(&from);
}

static const char deleted[] = " (deleted)";

/* The length of a path without the kernel's mark " (deleted)" at its end, or 0. */
static size_t deleted_path(const char *path)
{
	size_t n = strlen(path), k = sizeof(deleted) - 1;
	return n > k && !strcmp(path + n - k, deleted) ? n - k : 0;
}

/* The path has no file any more, but /proc has it while a process that maps it runs. */
static void deleted_line(struct buf *out, const char *path)
{
	struct buf to = {0};
	buf_fmt(&to, "symfs%.*s", (int)deleted_path(path), path);
	buf_str(out, "# deleted there; while a process still uses it, copy /proc/PID/exe (of a "
		     "library, /proc/PID/map_files/…) to ");
	shell_word(out, buf_cstr(&to));
	buf_str(out, ", then --symfs symfs");
	buf_release(&to);
}

/* A file to fetch; texts: "" if not known. */
struct wanted {
	const char *path, *build_id, *detail;
	int32_t pid;
	unsigned kind; /* enum dso_kind + 1; 0: none */
	enum dso_reason reason;
};

static int file_remedy(const char *host, const struct wanted *d, struct buf *out)
{
	const char *path = d->path, *id = d->build_id;
	if (d->reason == DSO_SHARED_PATH) {
		buf_str(out, "# next time record with --buildid-mmap");
	} else if (d->reason == DSO_UNTRUSTED) {
		buf_str(out, "# add --trust-paths if the file here is still the one that ran; "
			     "next time record with --buildid-all");
	} else if (d->reason == DSO_FOUND && *id) {
		buf_fmt(out, "debuginfod-find debuginfo %s", id);
	} else if (d->reason == DSO_FOUND || path[0] != '/' || dso_is_anonymous(path)) {
		return 0;
	} else if (*id && is_packaged(path)) {
		buf_fmt(out, "debuginfod-find executable %s", id);
	} else if (deleted_path(path)) {
		deleted_line(out, path);
	} else {
		copy_line(out, host, path);
	}
	return 1;
}

/* The file in which a runtime names the code that it generated. */
static int jit_remedy(const char *host, const struct wanted *d, struct buf *out)
{
	char path[64];
	if (d->reason == DSO_UNREADABLE && strstr(d->detail, MODULES_REUSED)) {
		buf_str(out,
			"# next time let it write a jitdump, which has times, and record with "
			"-k mono");
		return 1;
	}
	if (d->reason == DSO_UNREADABLE && !strncmp(d->detail, "/proc/", 6)) {
		if (!strstr(d->detail, strerror(EACCES))) /* the sandbox's answer */
			return 0;
		buf_str(out, "# add --no-sandbox: a sandboxed program may not look into a "
			     "container");
		return 1;
	}
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", d->pid);
	copy_line(out, host, path);
	return 1;
}

static int kernel_remedy(const char *host, const struct wanted *d, struct buf *out)
{
	if (d->reason == DSO_FOUND)
		return 0;
	buf_str(out, "ssh -- ");
	struct buf who = {0};
	buf_fmt(&who, "root@%s", host_of(host));
	shell_word(out, buf_cstr(&who));
	buf_release(&who);
	buf_str(out, " cat /proc/kallsyms >kallsyms  # before the next boot; then --kallsyms "
		     "kallsyms");
	return 1;
}

static int fetch(const struct wanted *f, const char *host, struct buf *out)
{
	const char *id = f->build_id, *path = f->path;
	size_t n = deleted_path(path) ? deleted_path(path) : strlen(path);
	if (!f->kind || id[strspn(id, "0123456789abcdef")] || !shell_is_printable(path) ||
	    (*path == '/' && !stays_below(path, n)))
		return 0;
	switch (f->kind - 1) {
	case DSO_FILE:
		return file_remedy(host, f, out);
	case DSO_KERNEL:
	case DSO_MODULE:
		return kernel_remedy(host, f, out);
	case DSO_VDSO:
		buf_str(out, "perfkit pack  # on the recorded machine, before the next boot");
		return 1;
	case DSO_ANON:
		return jit_remedy(host, f, out);
	default:
		return 0;
	}
}

int missing_remedy(const struct strtab *s, const char *host, const struct unnamed_file *f,
		   struct buf *out)
{
	const struct wanted w = {.path = strtab_get(s, f->path),
				 .build_id = strtab_get(s, f->build_id),
				 .detail = strtab_get(s, f->detail),
				 .pid = f->pid,
				 .kind = f->kind,
				 .reason = (enum dso_reason)f->reason};
	return fetch(&w, host, out);
}

static const char *text_of(const struct statement *s, const char *name)
{
	const struct fact *f = statement_fact(s, name, strlen(name));
	return f ? f->text : "";
}

int missing_get(const struct statement *line, const char *host, struct buf *out)
{
	const char *kind = text_of(line, "kind"), *reason = text_of(line, "reason");
	const struct fact *pid = statement_fact(line, "pid", 3);
	struct wanted w = {.path = text_of(line, "path"),
			   .build_id = text_of(line, "build_id"),
			   .detail = text_of(line, "detail"),
			   .pid = pid && pid->number <= INT32_MAX ? (int32_t)pid->number : -1};
	if (line->form != FORM_FILE)
		return 0;
	for (unsigned k = 1; k <= DSO_SPECIAL + 1; k++)
		if (!strcmp(store_kind_word(k), kind))
			w.kind = k;
	while (w.reason < DSO_CYCLES && strcmp(store_reason_word(w.reason), reason) != 0)
		w.reason++;
	return fetch(&w, host, out);
}

int missing_by_debuginfod(const struct strtab *s, const struct unnamed_files *files)
{
	int found = 0;
	for (size_t i = 0; i < files->v.n; i++) {
		struct buf remedy = {0};
		if (missing_remedy(s, "", &files->v.v[i], &remedy))
			found += !strncmp(buf_cstr(&remedy), "debuginfod-find ", 16);
		buf_release(&remedy);
	}
	return found > 1;
}
