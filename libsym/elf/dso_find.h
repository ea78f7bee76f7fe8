/*
 * dso_find.h - finds the file on this machine that was mapped in the recording.
 *
 *	(path, build-id) ──► --buildid-dir, ~/.debug ─► --symfs ─► local paths ─► debuginfod
 *	                     every candidate: regular file? ELF? the recorded build-id?
 *
 * The first copy that passes is the file that ran. If it lacks names, the richest of the files of
 * the same build-id gives them: debug files, and other copies that were not stripped.
 *
 * A wrong name is worse than an address: a file is used only if its build-id is the recorded
 * one. If none was recorded, a file is used from --symfs, from below a trusted path, or, if the
 * recording was made on this very host and kernel, from its own path. Paths are untrusted:
 * devices, fifos, /dev (but /dev/shm), /proc and anything else that is not a regular file are
 * never opened. Every file that was not found has a reason, for the list of missing files.
 */
#ifndef LIBSYM_ELF_DSO_FIND_H
#define LIBSYM_ELF_DSO_FIND_H

#include "libsym/elf/elf_file.h"

enum dso_reason {
	DSO_FOUND = 0,
	DSO_NOT_A_FILE,    /* //anon, [heap], [stack], /SYSV..., /dev/zero: look for JIT code */
	DSO_SPECIAL_FILE,  /* a device, fifo, directory or procfs path: not opened */
	DSO_NOT_FOUND,     /* no candidate exists */
	DSO_MISMATCH,      /* candidates exist, all with another build-id (or none) */
	DSO_UNTRUSTED,     /* a candidate exists, but no build-id was recorded to check it */
	DSO_SHARED_PATH,   /* one of several files of this path, without build-ids */
	DSO_UNREADABLE,    /* a candidate exists, but is damaged, not ELF, or not permitted, or
			      has functions where the kernel had none */
	DSO_ZERO_KALLSYMS, /* kernel: only a kallsyms full of zeroes (kptr_restrict) */
	DSO_CYCLES,        /* generated code: a jitdump whose times are cycles, not ns */
};

enum { DSO_DETAIL_MAX = 512 };

/* Where a file was found. */
enum dso_source {
	DSO_FROM_NOWHERE = 0,
	DSO_FROM_OPTION, /* --vmlinux, --kallsyms */
	DSO_FROM_BUILDID_DIR,
	DSO_FROM_SYMFS,
	DSO_FROM_TRUSTED_PATH,
	DSO_FROM_LOCAL,     /* its own path on this machine */
	DSO_FROM_DEBUG_DIR, /* /usr/lib/debug */
	DSO_FROM_DEBUGLINK,
	DSO_FROM_DEBUGINFOD,
	DSO_FROM_VDSO,      /* this process's own vdso */
	DSO_FROM_RECORDING, /* copied by perf record --kcore next to the data */
};

/* A file requested from a debuginfod server. Views, valid during the call. */
struct dso_fetch {
	const char *what;     /* "executable", "debuginfo", or "source" */
	const char *path;     /* as recorded, or as compiled */
	const char *url;      /* the server's once one has it, else DEBUGINFOD_URLS */
	uint64_t done, total; /* bytes; total 0: not known */
	int ended;            /* the last call for this file */
	int found;            /* … and it was found */
	int gave_up;          /* … and no server will be asked for more in this run */
};

/* Zero-initialised: only ~/.debug and local files with the right id. All borrowed. */
struct dso_options {
	const char *symfs;       /* root of the recorded machine's files, "" or NULL: none */
	const char *buildid_dir; /* NULL: $PERF_BUILDID_DIR, else ~/.debug; "": none */
	const char *kallsyms;    /* --kallsyms FILE */
	const char *vmlinux;     /* --vmlinux FILE */
	const char *const *trust_paths; /* directories whose files need no recorded id */
	size_t ntrust_paths;
	int handed_on;      /* what is read goes into a bundle: claimed_check applies */
	int no_local;       /* use no files outside of symfs, buildid_dir and trust_paths */
	int host_is_ours;   /* recorded host and kernel release are this machine's */
	int64_t written_ns; /* when the recording was written, since 1970; 0: not known */
	int debuginfod;     /* 1: ask debuginfod too, if DEBUGINFOD_URLS is set */
	/* Optional: called several times a second during a download, never for files in
	 * debuginfod's cache; by one thread at a time. */
	void (*fetching)(void *ctx, const struct dso_fetch *f);
	void *fetching_ctx;
};

/* The files found. Zero-initialised is valid; free it with dso_files_release. */
struct dso_files {
	enum dso_reason reason; /* of the runtime file */
	enum dso_source runtime_from, debug_from;
	struct elf_file *runtime;    /* the file that ran; NULL unless DSO_FOUND */
	struct elf_file *debug;      /* separate file with .symtab and DWARF, or NULL; without
					`runtime` it serves for names, never for unwinding */
	struct build_id id;          /* recorded, else that of the runtime file */
	char detail[DSO_DETAIL_MAX]; /* one line: the refused candidate, and why; "" if none */
};

/* Where a bundle has, below symfs, a file whose path was shared: device, inode, generation if
 * known, path. */
#define DSO_BY_INODE "/inode/%u-%u-%llu%s%.0llu%s"
#define DSO_INODE_ARGS(f)                                             \
	(f)->dev_major, (f)->dev_minor, (unsigned long long)(f)->ino, \
		(f)->generation ? "-" : "", (unsigned long long)(f)->generation

/*
 * 1 when a build-id that the header has for `path` is not that of the mapped file: perf took it
 * from the path when it ended, and there is, on the recorded machine, since before then,
 * another file (*here) with this build-id, or the same, written over since it was mapped (*here
 * is zero). So it is for programs in a chroot, and for those that were replaced while they ran.
 */
int dso_id_is_others(const struct dso_options *opt, const char *path, const struct build_id *id,
		     const struct file_id *mapped, struct file_id *here);

/*
 * Find the files of a mapping `path` with the recorded build-id `id` (NULL or len 0: none).
 * `mapped` (or NULL) is the file that was mapped: without an id, its path on this machine is
 * not used if another file of the same file system is there now; if files shared that path,
 * only the same file is used, or its copy in a bundle. "[vdso]" is found by id; " (deleted)" is
 * removed first; "//anon" and its like give DSO_NOT_A_FILE. 0, found or not (see out->reason);
 * ERR_NOMEM.
 */
int dso_find(const struct dso_options *opt, const char *path, const struct build_id *id,
	     const struct file_id *mapped, struct dso_files *out, struct err *e);

/*
 * Open a file at `path` by the rules of claimed_file.h: below symfs, no link leads out of it.
 * `k` is asked once it is open. As claimed_open and claimed_check.
 */
struct claim;
struct claimed;
int dso_open(const struct dso_options *opt, const char *path, const struct claim *k,
	     struct claimed *c, struct err *e);

/* 1 if --trust-paths names the path. */
int dso_is_trusted_path(const struct dso_options *opt, const char *path);

/* Close the files; the object is empty and usable again. */
void dso_files_release(struct dso_files *f);

/* Which names of functions a file has. */
enum { DSO_HAS_SYMTAB = 1, DSO_HAS_INFO = 2, DSO_HAS_ALL = DSO_HAS_SYMTAB | DSO_HAS_INFO };

/* Those of .symtab and .debug_info, by section names only, without inflating any. With all of
 * them, a debug file could add nothing. */
unsigned dso_names_in(const struct elf_file *f);

/* The kernel's symbols: one of the two is set when reason is DSO_FOUND. */
struct kernel_files {
	enum dso_reason reason;
	enum dso_source from;
	char *kallsyms;           /* path of a kallsyms text, with which kallsyms_fd is open */
	int kallsyms_fd;          /* for kallsyms_load */
	struct elf_file *vmlinux; /* link-time addresses: relocate by _text */
	char detail[DSO_DETAIL_MAX];
};

/* A recording's facts about its kernel. */
struct kernel_place {
	struct build_id id;  /* len 0: none recorded */
	const char *path;    /* the mapping's name; it ends with the symbol that located it */
	uint64_t pgoff;      /* the address of that symbol then; 0: not known */
	uint64_t start, end; /* the mapping */
	const char *folder;  /* a recording that is one, with a kcore_dir; NULL: it is a file */
};

/* The symbol that located the kernel: "_stext" for [kernel.kallsyms]_stext, else "_text". */
const char *kernel_located_by(const struct kernel_place *place);

/*
 * Find symbols of the recorded kernel: --kallsyms, --vmlinux, place->folder, /proc/kallsyms
 * if it is of the same boot (that symbol has the recorded address), the build-id cache's
 * kallsyms and vmlinux, vmlinux of `release` below /boot, /usr/lib/debug and /lib/modules (also
 * in symfs), and /proc/kallsyms of another boot. The running kernel is the recorded one if
 * /sys/kernel/notes has its id (or none was recorded and host_is_ours). `release` may be NULL.
 * A vmlinux with another id is refused. A kallsyms has none, and either may be of another boot:
 * the caller, who reads it, may refuse it and ask for the next one with `skip`, which is how many
 * of those found it refused. 0 or ERR_NOMEM.
 */
int dso_find_kernel(const struct dso_options *opt, const struct kernel_place *place,
		    const char *release, size_t skip, struct kernel_files *out, struct err *e);

/* Close what dso_find_kernel found. */
void kernel_files_release(struct kernel_files *f);

/*
 * Ask debuginfod, if the options say so, for the source file that the debug information of the
 * program `id` calls `path`. A file open for reading in its client's cache; -1: none.
 */
int debuginfod_source(const struct dso_options *opt, const struct build_id *id,
		      const char *path);

/* 1 when the build-id cache of the options has anything by this id. */
int dso_cache_has(const struct dso_options *opt, const struct build_id *id);

/* 1 when a mapping of this name never has a file of its own: //anon, [heap], /SYSV00000000,
 * /dev/zero, /anon_hugepage, /memfd:... ("[vdso]" has one). */
int dso_is_anonymous(const char *path);

/* One or two words for a reason, for findings: "not found", "build-id mismatch", ... */
const char *dso_reason_text(enum dso_reason reason);

#endif
