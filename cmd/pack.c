/*
 * pack.c - `perfkit pack`: a recording and every file that names its frames, in one compressed
 * tar, to be read on any machine.
 *
 *	perf.data ──fold, unwind, name──► files in use ──► MANIFEST, perf.data, debug/, symfs/
 */
#include "base/count.h"
#include "base/mem.h"
#include "base/regular.h"
#include "cmd/input/input.h"
#include "cmd/input/input_kind.h"
#include "render/text/missing_text.h"
#include "cmd/input/output.h"
#include "cmd/input/plain_input.h"
#include "cmd/input/sandbox.h"
#include "cmd/input/scratch.h"
#include "cmd/verbs.h"
#include "cmd/cli/say.h"
#include "libparse/archive/bundle.h"
#include "libsym/elf/kallsyms.h"
#include "libsym/pack_source.h"
#include "libsym/elf/read_file.h"
#include "libtime/build/fd_context.h"
#include "render/text/escape.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct pack_opts {
	struct input_opts in;
	const char *output;
	double min_share; /* percent of the samples */
	struct opt_list sources;
	int top, list;
};

#define AT(field) offsetof(struct pack_opts, field)
static const struct opt rows[] = {
	{"output", 'o', OPT_STRING, AT(output), "FILE",
	 "the bundle (default: the recording's name + .tar.zst)"},
	{"input", 'i', OPT_STRING, AT(in.input), "FILE",
	 "recording to pack (default perf.data)"},
	{"comm", 0, OPT_LIST, AT(in.comms), "GLOB,...",
	 "only files of threads with these names;\nthe recording itself is always whole"},
	{"pid", 0, OPT_LIST, AT(in.pids), "PID,...", "only files of these processes"},
	{"list", 0, OPT_FLAG, AT(list), NULL, "write nothing; list all files that would go in"},
	{"min-share", 0, OPT_REAL, AT(min_share), "PCT",
	 "leave out files in fewer than PCT percent of the samples"},
	{"with-source", 0, OPT_EACH, AT(sources), "DIR",
	 "add the source files of sampled lines below DIR, found\n"
	 "by the end of their names; repeatable"},
	{"symfs", 0, OPT_STRING, AT(in.symfs), "DIR", "look for recorded paths below DIR"},
	{"kallsyms", 0, OPT_STRING, AT(in.kallsyms), "FILE", "kernel symbols"},
	{"vmlinux", 'k', OPT_STRING, AT(in.vmlinux), "FILE", "kernel image"},
	{"buildid-dir", 0, OPT_STRING, AT(in.buildid_dir), "DIR",
	 "build-id cache (default ~/.debug)\nor the tarball that perf archive made"},
	{"trust-paths", 0, OPT_FLAG, AT(in.trust_paths), NULL,
	 "use files at recorded paths even if no build-id was recorded"},
	{"no-local", 0, OPT_FLAG, AT(in.no_local), NULL, "use only the files named here"},
	{"no-cache", 0, OPT_FLAG, AT(in.no_cache), NULL,
	 "unpack a bundle again, and do not cache its files"},
	{"top", 'n', OPT_INT, AT(top), "N", "missing DSOs listed (default 3; 0 = all)"},
	{"strict", 0, OPT_FLAG, AT(in.strict), NULL, "exit 3 after any warning"},
	{"quiet", 'q', OPT_FLAG, AT(in.quiet), NULL, "no warnings, no progress, no summary"},
	SANDBOX_OPTION(AT(in.no_sandbox)),
	OPT_END,
};

struct packer {
	const struct pack_opts *opt;
	struct input in;
	const char *recording; /* file or folder */
	struct packlist list;
	packlist_dsos lost; /* mapped, without a frame in them, and not found */
	size_t left_out;    /* files below --min-share */
	uint64_t left_bytes;
	size_t no_text;       /* source files that are not below --with-source */
	VEC(char *) contents; /* of files that the profile does not have in memory */
	VEC(char *) parts;    /* files of a directory recording, sorted */
	struct unnamed_files missing;
	struct buf manifest;
	uint64_t bytes;
};

/* --- what goes in ---------------------------------------------------------------------- */

/* Copy an open source to the file `name`. */
static int copy_source(struct source *src, const char *name, struct err *e)
{
	char piece[65536];
	FILE *f = fopen(name, "we");
	int64_t got = f ? 1 : err_sys(e, "%s", name);
	if (f && source_is_mapped(src)) {
		if (fwrite(src->data, 1, src->size, f) != src->size)
			got = err_sys(e, "%s", name);
	} else {
		while (f && (got = source_read(src, piece, sizeof(piece), e)) > 0)
			if (fwrite(piece, 1, (size_t)got, f) != (size_t)got)
				got = err_sys(e, "%s", name);
	}
	if (f && fclose(f) && got >= 0)
		got = err_sys(e, "%s", name);
	return got < 0 ? (int)got : 0;
}

/* A pipe is stored in a file, since it is read twice; but only if it has a recording, since
 * another one might never end. */
static int spool(const char *path, const char **file, struct err *e)
{
	static char name[4200];
	const char *dir;
	struct source src;
	struct stat st;
	enum input_kind kind;
	*file = path;
	if (strcmp(path, "-") &&
	    (stat(path, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return 0;
	int rc = input_kind_open(path, &src, &kind, e);
	if (rc)
		return rc;
	if (kind != INPUT_PERF_DATA)
		rc = err_set(e, ERR_FORMAT, "%s: not a perf.data file", path);
	if (!rc)
		rc = scratch_dir(&dir, e);
	if (!rc) {
		snprintf(name, sizeof(name), "%s/perf.data", dir);
		*file = name;
		rc = copy_source(&src, name, e);
	}
	source_close(&src);
	return rc;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* 1 for the name of a file that perf makes in a `record --threads` folder. */
static int is_part(const char *name)
{
	const char *number = name + 5;
	return !strcmp(name, "data") ||
	       (!strncmp(name, "data.", 5) && *number && !number[strspn(number, "0123456789")]);
}

/* Open a file of the recording; `part` NULL: that is one file. A stranger's folder holds links to
 * what the caller may read, which a bundle may not hold; what he named himself may be a link. */
static int open_recording(const struct packer *k, const char *part, int *fd, struct err *e)
{
	struct buf path = {0};
	struct stat st;
	int strange = part || k->in.bundle.recording;
	buf_fmt(&path, part ? "%s/%s" : "%s", k->recording, part);
	const char *name = buf_cstr(&path);
	*fd = -1;
	int rc = buf_failed(&path) ? err_nomem(e) : 0;
	if (!rc)
		*fd = regular_open(AT_FDCWD, name, strange ? REGULAR_NO_LINK : 0, &st);
	if (!rc && *fd < 0)
		rc = errno == EINVAL || errno == ELOOP
			     ? err_set(e, ERR_UNSUPPORTED, "%s: not a regular file", name)
			     : err_sys(e, "%s: cannot read", name);
	buf_release(&path);
	return rc;
}

/* The files of a `record --threads` folder. What else lies there is left out. */
static int list_parts(struct packer *k, struct err *e)
{
	int fd = open(k->recording, O_RDONLY | O_DIRECTORY | O_CLOEXEC |
					    (k->in.bundle.recording ? O_NOFOLLOW : 0));
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int rc = d ? 0 : err_sys(e, "%s", k->recording);
	for (struct dirent *f; !rc && (f = readdir(d));) {
		if (!is_part(f->d_name)) {
			/* perf reads the kernel's symbols from kcore_dir; they are packed as such */
			if (*f->d_name != '.' && strncmp(f->d_name, "kcore_dir", 9) != 0)
				input_warn(&k->in, "left out: %s/%s: no part of a recording",
					   k->recording, f->d_name);
			continue;
		}
		char *name = mem_strdup(f->d_name);
		rc = !name || vec_push(&k->parts, name) ? err_nomem(e) : 0;
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	if (k->parts.n)
		qsort(k->parts.v, k->parts.n, sizeof(*k->parts.v), by_text);
	return rc;
}

/* --- beside the recording ---------------------------------------------------------------- */

/* A text that perfkit wrote beside the recording. Only lines of its format are packed. */
struct beside {
	const char *suffix, *name, *first;
	const char *lines[12]; /* how others begin */
};
static const struct beside context_file = {".context",
					   "perf.data.context",
					   "perfkit-context 1\n",
					   {"of ", "file ", "process ", "fd ", "tfd ", "net ",
					    "\t", "late ", "fact ", "order big\n",
					    "snapshot\n"}};
static const struct beside gaps_file = {
	".gaps",
	"perf.data.gaps",
	"perfkit-gaps v1\n",
	{"gap ", "spinner ", "control ", "anchor ", "dropped ", "clock "}};

/* Keep the lines of the format in n bytes; how many bytes are left. */
static size_t keep_lines(const struct beside *b, char *text, size_t n)
{
	size_t kept = strlen(b->first);
	for (char *p = text + kept, *end = text + n, *next; p < end; p = next) {
		char *nl = memchr(p, '\n', (size_t)(end - p));
		int known = 0;
		next = nl ? nl + 1 : end;
		for (size_t i = 0; nl && i < sizeof(b->lines) / sizeof(*b->lines); i++)
			known |= b->lines[i] && !strncmp(p, b->lines[i], strlen(b->lines[i]));
		if (!known)
			continue;
		memmove(text + kept, p, (size_t)(next - p));
		kept += (size_t)(next - p);
	}
	return kept;
}

/* 1 if a file is one that the caller, root, or whoever made the recording wrote. */
static int is_ours(const struct packer *k, const struct stat *st)
{
	struct stat rec;
	return st->st_uid == geteuid() || !st->st_uid ||
	       (!stat(k->recording, &rec) && rec.st_uid == st->st_uid);
}

/* Read such a file into *text (heap); *text NULL if there is none, or it is left out. Anybody who
 * can write to the folder chose what lies there: no link, nobody else's file. */
static int read_beside(struct packer *k, const struct beside *b, char **text, size_t *n,
		       struct err *e)
{
	enum { MOST = 64 << 20 };
	struct buf path = {0};
	struct stat st;
	struct err why = {0};
	*text = NULL;
	buf_fmt(&path, "%s%s", k->recording, b->suffix);
	if (buf_failed(&path)) {
		buf_release(&path);
		return err_nomem(e);
	}
	const char *name = buf_cstr(&path);
	int fd = regular_open(AT_FDCWD, name, REGULAR_NO_LINK, &st);
	int rc = fd >= 0 ? 0
		 : errno == EINVAL
			 ? err_set(&why, ERR_UNSUPPORTED, "%s: not a regular file", name)
			 : file_failed(name, &why);
	if (!rc && !is_ours(k, &st))
		rc = err_set(&why, ERR_REFUSED, "%s: belongs to user %u", name,
			     (unsigned)st.st_uid);
	rc = rc ? rc : read_fd(fd, name, MOST, text, n, &why);
	if (!rc && strncmp(*text, b->first, strlen(b->first)) != 0)
		rc = err_set(&why, ERR_FORMAT, "%s: does not begin with \"%.*s\"", name,
			     (int)strlen(b->first) - 1, b->first);
	if (rc && rc != ERR_NOTFOUND && rc != ERR_NOMEM)
		input_warn(&k->in, "left out: %s", why.msg);
	if (rc) {
		mem_free(*text);
		*text = NULL;
	} else
		*n = keep_lines(b, *text, *n);
	if (fd >= 0)
		close(fd);
	buf_release(&path);
	return rc == ERR_NOMEM ? err_nomem(e) : 0;
}

/* Read the kernel's symbols, which the profile does not have in memory; leave out what cannot be
 * read. */
static int read_contents(struct packer *k)
{
	enum { KALLSYMS_MAX = 1 << 28 };
	size_t n = 0;
	for (size_t i = 0; i < k->list.files.n; i++) {
		struct pack_file f = k->list.files.v[i];
		struct err e = {0};
		if (!f.data) {
			char *text;
			int rc = read_fd(f.fd, f.path, KALLSYMS_MAX, &text, &f.size, &e);
			if (rc == ERR_NOMEM)
				return rc;
			if (!rc && !(f.size = kallsyms_lines(text, f.size)))
				rc = err_set(&e, ERR_FORMAT, "%s: not the kernel's symbols",
					     f.path);
			f.data = (const uint8_t *)text;
			if (rc) {
				input_warn(&k->in, "left out: %s", e.msg);
				mem_free(text);
				pack_file_free(&f);
				continue;
			}
			if (vec_push(&k->contents, text)) {
				mem_free(text);
				return ERR_NOMEM;
			}
		}
		k->list.files.v[n++] = f;
	}
	k->list.files.n = n;
	return 0;
}

/* 1 if fewer samples than --min-share have a frame in it; never for the kernel's symbols. */
static int is_below_share(const struct packer *k, const struct pack_file *f)
{
	int needed =
		f->dso != NO_ID && k->in.profile->machine.dsos.v[f->dso].kind == DSO_KERNEL;
	return !needed &&
	       (double)f->samples * 100 < k->opt->min_share * (double)k->missing.samples;
}

static void leave_out_small_shares(struct packer *k)
{
	size_t n = 0;
	for (size_t i = 0; i < k->list.files.n; i++) {
		struct pack_file f = k->list.files.v[i];
		if (!is_below_share(k, &f)) {
			k->list.files.v[n++] = f;
			continue;
		}
		k->left_out++;
		k->left_bytes += f.size;
		pack_file_free(&f);
	}
	k->list.files.n = n;
}

/* --- the manifest ------------------------------------------------------------------------ */

static void manifest_text(struct buf *b, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	buf_fmt(b, "%s ", key);
	escape_visible(b, value, strlen(value));
	buf_char(b, '\n');
}

static void manifest_file(struct packer *k, uint64_t size, const struct build_id *id,
			  const char *name)
{
	char hex[2 * BUILD_ID_MAX + 1];
	buf_fmt(&k->manifest, "file %" PRIu64 " %s ", size,
		id && id->len ? build_id_hex(id, hex) : "-");
	escape_visible(&k->manifest, name, strlen(name));
	buf_char(&k->manifest, '\n');
	k->bytes += size;
}

static void manifest_lacks(struct packer *k, uint64_t samples, const char *id, uint32_t name,
			   const char *why)
{
	const char *text =
		name ? strtab_get(&k->in.profile->stacks.strings, name) : "[unknown]";
	buf_fmt(&k->manifest, "missing %" PRIu64 " %s ", samples, *id ? id : "-");
	escape_visible(&k->manifest, text, strlen(text));
	buf_fmt(&k->manifest, ": %s\n", why);
}

static void manifest_missing(struct packer *k)
{
	const struct dso *dsos = k->in.profile->machine.dsos.v;
	for (size_t i = 0; i < k->missing.v.n; i++) {
		const struct unnamed_file *d = &k->missing.v.v[i];
		manifest_lacks(k, d->samples,
			       strtab_get(&k->in.profile->stacks.strings, d->build_id), d->name,
			       missing_reason(d));
	}
	for (size_t i = 0; i < k->lost.n; i++) {
		const struct dso *d = &dsos[k->lost.v[i]];
		const char *detail;
		char hex[2 * BUILD_ID_MAX + 1] = "";
		if (d->id.len)
			build_id_hex(&d->id, hex);
		manifest_lacks(k, 0, hex, d->name,
			       dso_reason_text(modules_reason(k->in.profile->modules,
							      k->lost.v[i], &detail)));
	}
}

/* Omit what the list of missing names has already. */
static void forget_listed(struct packer *k)
{
	const struct dso *dsos = k->in.profile->machine.dsos.v;
	size_t n = 0;
	for (size_t i = 0; i < k->lost.n; i++) {
		int listed = 0;
		for (size_t j = 0; !listed && j < k->missing.v.n; j++)
			listed = k->missing.v.v[j].name == dsos[k->lost.v[i]].name;
		if (!listed)
			k->lost.v[n++] = k->lost.v[i];
	}
	k->lost.n = n;
}

static uint64_t size_of(const char *dir, const char *name)
{
	struct buf path = {0};
	struct stat st = {0};
	buf_fmt(&path, name ? "%s/%s" : "%s", dir, name);
	uint64_t size = stat(buf_cstr(&path), &st) ? 0 : (uint64_t)st.st_size;
	buf_release(&path);
	return size;
}

static int make_manifest(struct packer *k, struct err *e)
{
	const struct features *f = &k->in.profile->rec->features;
	struct buf *b = &k->manifest;
	buf_str(b, BUNDLE_MAGIC_LINE);
	manifest_text(b, "made-by", "perfkit " PERFKIT_VERSION);
	manifest_text(b, "host", f->hostname);
	manifest_text(b, "kernel", f->osrelease);
	manifest_text(b, "arch", f->arch);
	manifest_text(b, "command", f->cmdline);
	buf_fmt(b, "samples %" PRIu64 "\n", k->missing.samples);
	if (!k->parts.n)
		manifest_file(k, size_of(k->recording, NULL), NULL, "perf.data");
	for (size_t i = 0; i < k->parts.n; i++) {
		struct buf name = {0};
		buf_fmt(&name, "perf.data/%s", k->parts.v[i]);
		manifest_file(k, size_of(k->recording, k->parts.v[i]), NULL, buf_cstr(&name));
		buf_release(&name);
	}
	for (size_t i = 0; i < k->list.files.n; i++) {
		const struct pack_file *pf = &k->list.files.v[i];
		manifest_file(k, pf->size, &pf->id, pf->name);
	}
	manifest_missing(k);
	return buf_failed(b) ? err_nomem(e) : 0;
}

/* --- writing ----------------------------------------------------------------------------- */

static int add_part(const struct packer *k, struct bundle_writer *w, const char *part,
		    struct err *e)
{
	struct buf name = {0};
	int fd, rc = open_recording(k, part, &fd, e);
	buf_fmt(&name, part ? "perf.data/%s" : "perf.data", part);
	if (!rc)
		rc = buf_failed(&name) ? err_nomem(e)
				       : bundle_add_fd(w, buf_cstr(&name), fd, k->recording, e);
	if (fd >= 0)
		close(fd);
	buf_release(&name);
	return rc;
}

/* Add what the host knew, if it was written for this recording, and what only this machine can
 * tell about files. */
static int add_context(struct packer *k, struct bundle_writer *w, struct err *e)
{
	struct buf out = {0};
	struct stat st;
	char *text;
	size_t n, kept = 0;
	int rc = read_beside(k, &context_file, &text, &n, e);
	if (!rc && text && fd_context_is_of(text, k->recording)) {
		buf_add(&out, text, n);
		kept = n;
	} else if (!rc && !stat(k->recording, &st) && S_ISREG(st.st_mode))
		buf_fmt(&out, FD_CONTEXT_HEAD, (long long)st.st_size);
	size_t head = out.n;
	if (!rc && head)
		modules_list_others(k->in.profile->modules, &out);
	if (!rc && buf_failed(&out))
		rc = err_nomem(e);
	if (!rc && (kept || out.n > head))
		rc = bundle_add(w, context_file.name, out.v, out.n, e);
	mem_free(text);
	buf_release(&out);
	return rc;
}

/* Add the gaps of `record jitter`. */
static int add_gaps(struct packer *k, struct bundle_writer *w, struct err *e)
{
	char *text;
	size_t n;
	int rc = read_beside(k, &gaps_file, &text, &n, e);
	if (!rc && text)
		rc = bundle_add(w, gaps_file.name, text, n, e);
	mem_free(text);
	return rc;
}

static int add_recording(struct packer *k, struct bundle_writer *w, struct err *e)
{
	int rc = k->parts.n ? 0 : add_part(k, w, NULL, e);
	for (size_t i = 0; !rc && i < k->parts.n; i++)
		rc = add_part(k, w, k->parts.v[i], e);
	rc = rc ? rc : add_context(k, w, e);
	return rc ? rc : add_gaps(k, w, e);
}

static int write_bundle(struct packer *k, const char *output, uint64_t *size, struct err *e)
{
	struct bundle_writer *w;
	int rc = bundle_create(&w, output, !k->opt->output, e);
	if (rc)
		return rc;
	rc = bundle_add(w, BUNDLE_MANIFEST, k->manifest.v, k->manifest.n, e);
	if (!rc)
		rc = add_recording(k, w, e);
	for (size_t i = 0; !rc && i < k->list.files.n; i++) {
		const struct pack_file *f = &k->list.files.v[i];
		rc = bundle_add(w, f->name, f->data, f->size, e);
	}
	if (!rc)
		return bundle_commit(w, size, e);
	bundle_abort(w);
	return rc;
}

/* "dir/perf.data" → "dir/perf.data.tar.zst"; heap. */
static char *default_output(const char *path)
{
	struct buf b = {0};
	if (!strcmp(path, "-"))
		path = "perf.data";
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	buf_add(&b, path, strnlen(path, n));
	buf_str(&b, ".tar.zst");
	buf_cstr(&b); /* ends in a NUL */
	if (!b.failed)
		return b.v;
	buf_release(&b);
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	const struct pack_file *x = a, *y = b;
	return x->size != y->size ? (x->size > y->size ? -1 : 1) : strcmp(x->name, y->name);
}

/* Print the files, or with `most` the largest, with their shares of the samples; reorders the
 * list. */
static void print_files(struct packer *k, FILE *f, size_t most)
{
	enum { WORTH_PERCENT = 1 };
	struct buf b = {0};
	if (k->list.files.n)
		qsort(k->list.files.v, k->list.files.n, sizeof(*k->list.files.v), by_size);
	for (size_t i = 0; (!most || i < most) && i < k->list.files.n; i++) {
		const struct pack_file *x = &k->list.files.v[i];
		double all = k->missing.samples ? (double)k->missing.samples : 1;
		if (most && x->size * 100 < k->bytes * WORTH_PERCENT)
			break;
		if (!i)
			buf_fmt(&b,
				"\n%sfiles (unpacked; share of samples with a frame in "
				"them):\n",
				most ? "largest " : "");
		buf_fmt(&b, "%9.1f MB %6.2f %%  ", (double)x->size / 1e6,
			100 * (double)x->samples / all);
		escape_visible(&b, x->path, strlen(x->path));
		buf_char(&b, '\n');
	}
	fputs(buf_cstr(&b), f);
	buf_release(&b);
}

static void summary(struct packer *k, const char *output, uint64_t size)
{
	enum { LARGEST = 5 };
	FILE *f = strcmp(output, "-") ? stdout : stderr;
	if (k->opt->in.quiet && !k->opt->list)
		return;
	size_t recording = k->parts.n ? k->parts.n : 1;
	fprintf(f, "%s: recording and %s, ", output,
		COUNT(k->list.files.n + (recording - 1), "file"));
	if (k->opt->list)
		fprintf(f, "%.1f MB unpacked; not written\n", (double)k->bytes / 1e6);
	else
		fprintf(f, "%.1f MB (%.1f MB unpacked)\n", (double)size / 1e6,
			(double)k->bytes / 1e6);
	if (k->left_out)
		fprintf(f,
			"left out: %s, %.1f MB unpacked, each in fewer than %g %% of the "
			"samples\n",
			COUNT(k->left_out, "file"), (double)k->left_bytes / 1e6,
			k->opt->min_share);
	if (k->lost.n)
		fprintf(f, "not found: %s, in which no sample has a frame (see MANIFEST)\n",
			COUNT(k->lost.n, "mapped file"));
	print_files(k, f, k->opt->list ? 0 : LARGEST);
	if (k->missing.v.n)
		fputc('\n', f);
	const char *host = k->in.profile->rec->features.hostname;
	missing_print(f, &k->in.profile->stacks.strings, host ? host : "", &k->missing,
		      "the samples of all events", k->opt->top);
}

static int add_sources(struct packer *k, struct err *e)
{
	const struct profile *p = k->in.profile;
	struct source_options from = {.dirs = k->opt->sources.v,
				      .ndirs = k->opt->sources.n,
				      .bundle = k->in.bundle.dir,
				      .written_ns = p->rec->written_ns};
	return k->opt->sources.n ? packlist_add_sources(&k->list, p, &from, &k->no_text, e) : 0;
}

/* All source files that will be packed, before any is: the user may not want to hand one on. */
static void list_sources(const struct packer *k, const char *output)
{
	FILE *f = strcmp(output, "-") ? stdout : stderr;
	struct buf b = {0};
	size_t n = 0;
	double all = k->missing.samples ? (double)k->missing.samples : 1;
	for (size_t i = 0; i < k->list.files.n; i++) {
		const struct pack_file *x = &k->list.files.v[i];
		if (x->dso != NO_ID)
			continue;
		if (!n++)
			buf_str(&b, "source files (share of samples with a frame in them):\n");
		buf_fmt(&b, "%6.2f %%  ", 100 * (double)x->samples / all);
		escape_visible(&b, x->path, strlen(x->path));
		buf_char(&b, '\n');
	}
	if (k->opt->sources.n && !n)
		buf_str(&b, "no source file of a sampled line is below --with-source\n");
	if (n && k->no_text)
		buf_fmt(&b, "not below --with-source: %s with sampled lines\n",
			COUNT(k->no_text, "file"));
	if (b.n)
		buf_char(&b, '\n');
	if (!k->opt->in.quiet)
		fputs(buf_cstr(&b), f);
	buf_release(&b);
}

static int pack(struct packer *k, const char *output, struct err *e)
{
	struct stat st;
	uint64_t size = 0;
	struct progress p;
	progress_start(&p, "packing", input_shows_progress(&k->opt->in));
	int rc = missing_find(&k->missing, k->in.profile, k->in.profile->folded.v,
			      k->in.profile->folded.n, e);
	if (!rc)
		rc = packlist_open_mapped(k->in.profile, &k->lost, e);
	if (!rc)
		rc = packlist_make(&k->list, k->in.profile, e);
	if (!rc && read_contents(k))
		rc = err_nomem(e);
	rc = rc ? rc : add_sources(k, e);
	if (!rc) {
		forget_listed(k);
		leave_out_small_shares(k);
	}
	if (!rc && !stat(k->recording, &st) && S_ISDIR(st.st_mode))
		rc = list_parts(k, e);
	if (!rc)
		rc = make_manifest(k, e);
	progress_end(&p);
	if (!rc && !k->opt->list) {
		list_sources(k, output);
		rc = write_bundle(k, output, &size, e);
	}
	if (!rc)
		summary(k, output, size);
	return rc;
}

static void release(struct packer *k)
{
	for (size_t i = 0; i < k->contents.n; i++)
		mem_free(k->contents.v[i]);
	for (size_t i = 0; i < k->parts.n; i++)
		mem_free(k->parts.v[i]);
	vec_release(&k->contents);
	vec_release(&k->parts);
	vec_release(&k->lost);
	vec_release(&k->missing.v);
	packlist_release(&k->list);
	buf_release(&k->manifest);
	input_close(&k->in);
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	struct pack_opts own = *(const struct pack_opts *)opts;
	const struct pack_opts *o = &own;
	struct packer k = {.opt = o};
	struct err e = {0};
	const char *path = nfiles ? files[0] : o->in.input ? o->in.input : "perf.data", *file;
	if (!(o->min_share >= 0 && o->min_share <= 100)) {
		say_line("perfkit pack: --min-share is a percentage, 0 to 100, not %g",
			 o->min_share);
		return 2;
	}
	if (o->output && output_is_input(o->output, path)) {
		say_line("perfkit pack: -o %s is the recording itself", o->output);
		return 3;
	}
	own.in.lines = o->sources.n > 0;
	char *output = o->output ? mem_strdup(o->output) : default_output(path);
	int rc = output ? spool(path, &file, &e) : err_nomem(&e);
	if (rc) {
		say("%s", e.msg);
		mem_free(output);
		return 1;
	}
	rc = input_open(&k.in, "pack", &o->in, &file, 1);
	if (!rc) {
		k.in.fold.aggregate.by = BY_PID;
		rc = input_fold(&k.in);
		const char *plain = plain_input_file(file);
		k.recording = k.in.bundle.recording ? k.in.bundle.recording
			      : plain               ? plain
						    : file;
		if (!rc)
			rc = input_warn_findings(&k.in, ABOUT_CPU | ABOUT_COUNTS);
		if (!rc && pack(&k, output, &e))
			rc = input_fail(&k.in, &e);
		if (!rc)
			rc = input_status(&k.in);
		release(&k);
	}
	mem_free(output);
	return rc;
}

static void defaults(void *opts)
{
	struct pack_opts *o = opts;
	o->top = 3;
	o->in.handed_on = 1;
}

const struct verb verb_pack = {
	.name = "pack",
	.brief = "bundle a recording with the binaries and symbols it needs",
	.usage = "[options] [FILE]",
	.text = "Run it on the recorded machine. The binaries that each process with a sample\n"
		"had mapped go in, with their debug files, kernel symbols and JIT maps, each\n"
		"checked by its build-id; what is missing is listed. Every command reads the "
		"bundle\n"
		"as it reads perf.data.",
	.examples = "  perfkit pack perf.data -o run.tar.zst\n"
		    "  perfkit pack --comm orders --min-share 0.1\n"
		    "  scp build/perfkit-static server:  # from make static\n"
		    "  ssh server ./perfkit-static pack perf.data -o run.tar.zst",
	.tables = {rows},
	.options_size = sizeof(struct pack_opts),
	.max_files = 1,
	.run = run,
	.defaults = defaults,
};
