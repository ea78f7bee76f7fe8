#include "cmd/record/record_files.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text/strtab.h"
#include "base/vec.h"
#include "cmd/record/record_run.h"
#include "libparse/listed_files.h"
#include "libparse/sample.h"
#include "libparse/source.h"
#include "libsym/elf/file_at.h"

#include <ctype.h>
#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* The kernel stamps inodes by a clock that may be a tick behind. */
enum { CLOCK_TICK_NS = 20000000 };

/* A mapping of a file's code. */
struct mapped {
	struct file_id file;
	uint64_t start, end, pgoff;
	const char *path;
	long pid;
	int64_t first; /* when the file was first mapped, since 1970; 0: not known */
};

/* A line of /proc/PID/maps with a file's code: 1 and *m, whose path is in the line. */
static int parse_map(char *line, struct mapped *m)
{
	char prot[8];
	int at = 0;
	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line,
		   "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64
		   " %n",
		   &m->start, &m->end, prot, &m->pgoff, &m->file.dev_major, &m->file.dev_minor,
		   &m->file.ino, &at) != 7 ||
	    prot[2] != 'x' || !m->file.ino || line[at] != '/' || strchr(line + at, '\\'))
		return 0;
	m->path = line + at;
	return 1;
}

/* Read the build-id of a file. */
static int read_id(const char *path, struct build_id *id)
{
	struct elf_file *f;
	if (elf_file_open(path, &f, NULL))
		return 0;
	*id = f->id;
	elf_file_close(f);
	return id->len != 0;
}

/* The build-id of a living process's mapping, and its file's generation: of the mapping itself
 * (as root), else through the process's root. */
static int id_of_mapping(const struct mapped *m, struct build_id *id, uint64_t *generation)
{
	char path[PATH_MAX];
	struct file_id here;
	*generation = 0;
	snprintf(path, sizeof(path), "/proc/%ld/map_files/%" PRIx64 "-%" PRIx64, m->pid,
		 m->start, m->end);
	if (!file_at(path, &here, NULL) || file_compare(&m->file, &here) != FILE_SAME) {
		int n = snprintf(path, sizeof(path), "/proc/%ld/root%s", m->pid, m->path);
		if (n >= (int)sizeof(path) || !file_at(path, &here, NULL) ||
		    file_compare(&m->file, &here) != FILE_SAME)
			return 0;
	}
	*generation = here.generation;
	return read_id(path, id);
}

static void add_line(struct buf *out, const struct mapped *m, uint64_t generation,
		     const struct build_id *id)
{
	char hex[2 * BUILD_ID_MAX + 1];
	if (!strpbrk(m->path, "\n\r"))
		buf_fmt(out, LISTED_FILE, m->file.dev_major, m->file.dev_minor, m->file.ino,
			generation, build_id_hex(id, hex), m->path);
}

static uint64_t key_of(const struct file_id *f, const char *path)
{
	uint64_t h = hash_bytes(path, strlen(path), hash_u64(f->ino ^ f->generation << 32));
	return hash_u64(h ^ (uint64_t)f->dev_major << 32 ^ f->dev_minor);
}

/* --- before ------------------------------------------------------------------------------- */

static void add_process(struct buf *out, struct u64map *seen, long pid)
{
	char path[64], line[PATH_MAX + 128];
	uint64_t generation;
	struct build_id id;
	uint32_t yes;
	snprintf(path, sizeof(path), "/proc/%ld/maps", pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) && !buf_failed(out)) {
		struct mapped m = {.pid = pid};
		if (!parse_map(line, &m) || u64map_get(seen, key_of(&m.file, m.path), &yes))
			continue;
		if (u64map_put(seen, key_of(&m.file, m.path), 1))
			out->failed = ERR_NOMEM;
		else if (id_of_mapping(&m, &id, &generation))
			add_line(out, &m, generation, &id);
	}
	if (f)
		fclose(f);
}

void record_files_of_processes(struct buf *out, const char *pids)
{
	struct u64map seen = {0};
	for (const char *p = pids; p && *p; p += strcspn(p, ","), p += *p == ',')
		add_process(out, &seen, atol(p));
	DIR *d = pids ? NULL : opendir("/proc");
	for (const struct dirent *x; d && (x = readdir(d)) && !buf_failed(out);)
		if (isdigit((unsigned char)*x->d_name))
			add_process(out, &seen, atol(x->d_name));
	if (d)
		closedir(d);
	u64map_release(&seen);
}

/* --- after -------------------------------------------------------------------------------- */

struct mappings {
	VEC(struct mapped)
	of;                  /* the latest mapping of each file by each path, but for `first` */
	struct u64map index; /* key_of → index of these */
	struct strtab paths;
};

static int note_mapping(struct mappings *all, const struct record_mmap *r, int64_t when)
{
	struct mapped m = {.file = {.ino = r->ino,
				    .generation = r->ino_generation,
				    .dev_major = r->dev_major,
				    .dev_minor = r->dev_minor},
			   .start = r->addr,
			   .pgoff = r->pgoff,
			   .pid = r->pid,
			   .first = when};
	uint32_t at, id;
	if (!r->ino || *r->filename != '/' || !(r->prot & PROT_EXEC) || r->pid <= 0)
		return 0;
	uint64_t key = key_of(&m.file, r->filename);
	if (strtab_intern(&all->paths, r->filename, &id))
		return ERR_NOMEM;
	m.path = strtab_get(&all->paths, id);
	if (u64map_get(&all->index, key, &at)) {
		if (all->of.v[at].first < when)
			m.first = all->of.v[at].first;
		all->of.v[at] = m;
		return 0;
	}
	if (vec_push(&all->of, m))
		return ERR_NOMEM;
	return u64map_put(&all->index, key, (uint32_t)all->of.n - 1);
}

static void note_time(const struct recording *rec, const uint8_t *p, struct price_paid *paid)
{
	struct record r = {.p = p,
			   .type = PERF_RECORD_SAMPLE,
			   .misc = load_u16(p + 4, rec->swap),
			   .size = load_u16(p + 6, rec->swap)};
	struct record_id id;
	recording_id(rec, &r, &id);
	if (!id.has_time || !sample_is_time(id.time))
		return;
	if (!paid->last_ns || id.time < paid->first_ns)
		paid->first_ns = id.time;
	if (id.time > paid->last_ns)
		paid->last_ns = id.time;
}

/* Samples of one buffer are in order: those at the ends are enough. */
static void note_run(const struct recording *rec, const struct record_run *run,
		     struct price_paid *paid)
{
	const uint8_t *last = run->p;
	for (const uint8_t *p = last; p < run->end; p += load_u16(p + 6, rec->swap))
		last = p;
	note_time(rec, run->p, paid);
	note_time(rec, last, paid);
}

static int64_t when_of(const struct recording *rec, const struct record *r)
{
	struct record_id id;
	recording_id(rec, r, &id);
	return features_wall_ns(&rec->features, id.has_time ? id.time : 0);
}

static int read_mappings(struct mappings *all, const char *path, struct price_paid *paid)
{
	struct recording *rec;
	struct record r;
	struct record_run run;
	struct record_mmap m;
	int rc = recording_open(&rec, path, NULL);
	if (rc)
		return rc;
	for (;;) {
		while (recording_sample_run(rec, 1 << 20, &run))
			note_run(rec, &run, paid);
		if (rc || recording_next(rec, &r, NULL) != 1)
			break;
		if (r.type == PERF_RECORD_MMAP2 && !record_mmap_decode(&r, rec->swap, &m, NULL))
			rc = note_mapping(all, &m, when_of(rec, &r));
		else if (r.type == PERF_RECORD_SAMPLE)
			note_time(rec, r.p, paid);
	}
	price_paid_read(paid, rec);
	recording_close(rec);
	return rc;
}

/* 1 when the file at the mapping's path, *here, is surely the mapped one: no inode number was
 * used again, as its generation shows, or its age. */
static int is_at_path(const struct mapped *m, const struct file_id *here, int64_t born,
		      int64_t began)
{
	return file_compare(&m->file, here) == FILE_SAME &&
	       ((m->file.generation && here->generation) ||
		(born && born < began - CLOCK_TICK_NS));
}

/* The mapping in the process that has it, if that still runs. */
static int find_in_process(struct mapped *m)
{
	char path[64], line[PATH_MAX + 128];
	int found = 0;
	snprintf(path, sizeof(path), "/proc/%ld/maps", m->pid);
	FILE *f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		struct mapped x = {0};
		size_t n = strlen(m->path);
		found = parse_map(line, &x) && x.start == m->start && x.pgoff == m->pgoff &&
			!strncmp(x.path, m->path, n) &&
			(!x.path[n] || !strcmp(x.path + n, " (deleted)")) &&
			file_compare(&m->file, &x.file) != FILE_OTHER;
		if (found) {
			m->end = x.end;
			m->file = x.file;
		}
	}
	if (f)
		fclose(f);
	return found;
}

/* 1 when the mapped file is still there, but was written over since it was first mapped. */
static int is_overwritten(const struct mapped *m)
{
	struct stat st;
	return m->first && !stat(m->path, &st) && source_mtime_ns(&st) > m->first;
}

/* If another file is at the path, or the file has other content, perf has taken that one's
 * build-id, which is listed, too: the other content as that of no file. */
static void add_file(struct buf *out, const struct mapped *m, int64_t began)
{
	struct mapped there = *m, other = *m;
	struct build_id id;
	uint64_t generation;
	int64_t born = 0;
	int any = file_at(m->path, &other.file, &born);
	int same = any && is_at_path(m, &other.file, born, began);
	if (same && is_overwritten(m)) {
		other.file = (struct file_id){0};
		if (read_id(m->path, &id))
			add_line(out, &other, 0, &id);
		return;
	}
	if (any && file_compare(&m->file, &other.file) == FILE_OTHER && read_id(m->path, &id))
		add_line(out, &other, other.file.generation, &id);
	if (same ? read_id(m->path, &id)
		 : find_in_process(&there) && id_of_mapping(&there, &id, &generation))
		add_line(out, m, m->file.generation, &id);
}

void record_files_of_recording(struct buf *out, const char *recording, int64_t began,
			       struct price_paid *paid)
{
	struct mappings all = {0};
	int rc = read_mappings(&all, recording, paid);
	if (rc == ERR_NOMEM)
		out->failed = ERR_NOMEM;
	for (size_t i = 0; i < all.of.n && !buf_failed(out); i++)
		add_file(out, &all.of.v[i], began);
	vec_release(&all.of);
	u64map_release(&all.index);
	strtab_release(&all.paths);
}

/* Bytes of files that are no links to what lies elsewhere. */
static uint64_t copied_bytes;

static int add_copied(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)path, (void)at;
	if (kind == FTW_F && st->st_nlink == 1)
		copied_bytes += (uint64_t)st->st_blocks * 512;
	return run_interrupted();
}

void record_say_copies(void)
{
	enum { MANY = 500000000, OPEN = 16 };
	const char *home = getenv("HOME");
	struct buf dir = {0};
	buf_fmt(&dir, "%s/.debug", home ? home : "");
	copied_bytes = 0;
	if (home && !buf_failed(&dir) &&
	    !nftw(buf_cstr(&dir), add_copied, OPEN, FTW_PHYS | FTW_MOUNT) &&
	    copied_bytes > MANY)
		fprintf(stderr,
			"perf keeps copies of binaries in %s: %.1f GB now (perf buildid-cache "
			"--purge-all removes them)\n",
			buf_cstr(&dir), (double)copied_bytes / 1e9);
	buf_release(&dir);
}
