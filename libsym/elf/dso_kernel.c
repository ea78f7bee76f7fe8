/* Finds the symbols of the recorded kernel. */
#include "libsym/elf/dso_find.h"

#include "base/mem.h"
#include "libsym/elf/claimed_file.h"
#include "libsym/elf/dso_find_internal.h"
#include "libsym/elf/kallsyms.h"
#include "libsym/elf/read_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Open the text in s->path, which links do not lead out of `dir` (NULL: anywhere); s->path is
 * without links then. -1: notes why, if it is there. */
static int open_kallsyms(struct dso_search *s, const char *dir)
{
	const char *path = buf_cstr(&s->path);
	struct claimed c = {.fd = -1};
	struct err e = {0};
	int rc = dir ? claimed_open(dir, CLAIMED_INSIDE, path + strlen(dir), &c, &e)
		     : file_open(path, 0, &c.fd, &e);
	if (rc && rc != ERR_NOTFOUND && rc != ERR_UNSUPPORTED)
		dso_note(s, DSO_UNREADABLE, e.msg);
	if (!rc && dir)
		dso_path(s, "%s%s", dir, c.path);
	return c.fd;
}

static int use_kallsyms(struct dso_search *s, const char *dir, enum dso_source from,
			struct kernel_files *out)
{
	int fd = *buf_cstr(&s->path) ? open_kallsyms(s, dir) : -1;
	if (fd < 0)
		return 0;
	int zeroed = kallsyms_is_zeroed(fd);
	if (zeroed) { /* copied by a user who may not see addresses */
		char text[1200];
		snprintf(text, sizeof(text), "%s: all addresses are 0", buf_cstr(&s->path));
		dso_note(s, DSO_ZERO_KALLSYMS, text);
	}
	if (zeroed || s->skip) {
		s->skip -= !zeroed;
		close(fd);
		return 0;
	}
	out->kallsyms = mem_strdup(buf_cstr(&s->path));
	if (out->kallsyms)
		out->kallsyms_fd = fd;
	else
		close(fd);
	s->nomem |= !out->kallsyms;
	out->from = from;
	return 1;
}

/* Keep the vmlinux that was found, if any, unless it is one to skip. */
static int take_vmlinux(struct dso_search *s, enum dso_source from, struct kernel_files *out)
{
	if (out->vmlinux && s->skip) {
		s->skip--;
		elf_file_close(out->vmlinux);
		out->vmlinux = NULL;
	}
	out->from = from;
	return out->vmlinux != NULL;
}

static int use_vmlinux(struct dso_search *s, int trusted, enum dso_source from,
		       struct kernel_files *out)
{
	out->vmlinux = dso_try(s, trusted);
	return take_vmlinux(s, from, out);
}

/* The cache keeps "kallsyms" for a running kernel and "elf" (old: the link) for a vmlinux. */
static int from_cache(struct dso_search *s, struct kernel_files *out)
{
	static const char *const names[] = {"elf", "vmlinux", NULL};
	if (dso_cache_path(s, "kallsyms") &&
	    use_kallsyms(s, s->opt->buildid_dir, DSO_FROM_BUILDID_DIR, out))
		return 1;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (dso_cache_path(s, names[i]) && use_vmlinux(s, 0, DSO_FROM_BUILDID_DIR, out))
			return 1;
	return 0;
}

/* perf's vmlinux_path, below a root. */
static int by_release(struct dso_search *s, const char *root, const char *release, int trusted,
		      enum dso_source from, struct kernel_files *out)
{
	static const char *const where[] = {
		"%s/boot/vmlinux-%s", "%s/usr/lib/debug/boot/vmlinux-%s",
		"%s/lib/modules/%s/build/vmlinux", "%s/usr/lib/debug/lib/modules/%s/vmlinux",
		"%s/usr/lib/debug/boot/vmlinux-%s.debug"};
	if (!release || !*release || strchr(release, '/'))
		return 0;
	for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
		char text[1024];
		/* The formats come from the table above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(text, sizeof(text), where[i], root, release);
#pragma GCC diagnostic pop
		dso_path(s, "%s", text);
		if (use_vmlinux(s, trusted, from, out))
			return 1;
	}
	return 0;
}

/* 1 when the recorded kernel runs here. */
static int runs_here(const struct dso_search *s)
{
	struct build_id own;
	if (s->opt->no_local || !s->want.len)
		return !s->opt->no_local && s->opt->host_is_ours;
	return !kernel_notes_build_id("/sys/kernel/notes", &own, NULL) &&
	       build_id_equal(&own, &s->want);
}

static const char proc_kallsyms[] = "/proc/kallsyms";

static int from_running_kernel(struct dso_search *s, struct kernel_files *out)
{
	if (!s->opt->no_local && !s->opt->host_is_ours && !s->want.len)
		dso_note(s, DSO_UNTRUSTED, "the kernel's build-id was not recorded");
	dso_path(s, "%s", proc_kallsyms);
	return runs_here(s) && use_kallsyms(s, NULL, DSO_FROM_LOCAL, out);
}

/* The cache has one kallsyms per kernel, of whichever boot; modules have other addresses in
 * each. */
static int from_same_boot(struct dso_search *s, const struct kernel_place *place,
			  struct kernel_files *out)
{
	return place->pgoff && runs_here(s) &&
	       kallsyms_places(proc_kallsyms, kernel_located_by(place), place->pgoff) &&
	       from_running_kernel(s, out);
}

static int from_options(struct dso_search *s, struct kernel_files *out)
{
	if (s->opt->kallsyms) {
		dso_path(s, "%s", s->opt->kallsyms);
		if (use_kallsyms(s, NULL, DSO_FROM_OPTION, out))
			return 1;
	}
	if (s->opt->vmlinux) {
		dso_path(s, "%s", s->opt->vmlinux);
		s->by_caller = 1;
		if (use_vmlinux(s, 1, DSO_FROM_OPTION, out))
			return 1;
	}
	return 0;
}

static int from_recording(struct dso_search *s, const struct kernel_place *place,
			  struct kernel_files *out)
{
	dso_path(s, "%s/kcore_dir/kallsyms", place->folder ? place->folder : "");
	return place->folder && use_kallsyms(s, place->folder, DSO_FROM_RECORDING, out);
}

static int search(struct dso_search *s, const struct kernel_place *place, const char *release,
		  struct kernel_files *out)
{
	const struct dso_options *opt = s->opt;
	if (from_options(s, out) || from_recording(s, place, out) ||
	    from_same_boot(s, place, out) || from_cache(s, out))
		return 1;
	if (opt->symfs && *opt->symfs) {
		if (by_release(s, opt->symfs, release, 1, DSO_FROM_SYMFS, out))
			return 1;
		dso_path(s, "%s/proc/kallsyms", opt->symfs);
		if (use_kallsyms(s, opt->symfs, DSO_FROM_SYMFS, out))
			return 1;
	}
	/* Cheaper and closer to the recorded kernel (modules, relocated) than a vmlinux of the
	 * same id. */
	if (from_running_kernel(s, out))
		return 1;
	return !opt->no_local &&
	       by_release(s, "", release, opt->host_is_ours, DSO_FROM_LOCAL, out);
}

const char *kernel_located_by(const struct kernel_place *place)
{
	return strstr(place->path, "_stext") ? "_stext" : "_text";
}

int dso_find_kernel(const struct dso_options *opt, const struct kernel_place *place,
		    const char *release, size_t skip, struct kernel_files *out, struct err *e)
{
	*out = (struct kernel_files){0};
	struct dso_search s = {.opt = opt,
			       .skip = skip,
			       .want = place->id,
			       .name = "[kernel.kallsyms]",
			       .reason = DSO_NOT_FOUND,
			       .detail = out->detail};
	int found = search(&s, place, release, out);
	if (!found && opt->debuginfod && !s.nomem) {
		out->vmlinux = dso_try_debuginfod(&s, "debuginfo");
		found = take_vmlinux(&s, DSO_FROM_DEBUGINFOD, out);
	}
	buf_release(&s.path);
	if (s.nomem) {
		kernel_files_release(out);
		return err_nomem(e);
	}
	out->reason = found ? DSO_FOUND : s.reason;
	if (!found)
		out->from = DSO_FROM_NOWHERE;
	return 0;
}

void kernel_files_release(struct kernel_files *f)
{
	if (f->kallsyms)
		close(f->kallsyms_fd);
	mem_free(f->kallsyms);
	elf_file_close(f->vmlinux);
	*f = (struct kernel_files){0};
}
