#include "cmd/jitter/gap_files.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static void put_anchor(struct gap_files *f, const struct spin_clocks *c)
{
	if (f->gaps.f)
		fprintf(f->gaps.f, "anchor %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			c->mono_ns, c->raw_ns, c->real_ns, c->error_ns);
}

static void begin(struct gap_files *f, const struct spin *s, size_t n)
{
	struct spin_clocks c = spin_clocks();
	f->to_real_ns = c.real_ns - c.mono_ns;
	if (f->gaps.f)
		fputs("perfkit-gaps v1\nclock mono\n", f->gaps.f);
	put_anchor(f, &c);
	for (size_t i = 0; i < n && f->gaps.f; i++)
		fprintf(f->gaps.f, "%s %d %d\n",
			spin_at(s, i)->cpu == f->control ? "control" : "spinner",
			spin_at(s, i)->cpu, spin_at(s, i)->tid);
	if (f->csv.f)
		fputs(f->several ? "time,delay,cpu\n" : "time,delay\n", f->csv.f);
}

/* Line protocol: in a tag, blanks, commas and equal signs have a backslash before them. */
static void set_host(char *host, size_t size)
{
	char name[32] = "";
	size_t n = 0;
	gethostname(name, sizeof(name) - 1);
	for (const char *p = *name ? name : "localhost"; *p && n + 2 < size; p++) {
		if (strchr(" ,=\\", *p))
			host[n++] = '\\';
		host[n++] = *p;
	}
	host[n] = '\0';
}

/* Two outputs may not be one file: only the last would remain. */
int gap_paths_check(const struct gap_paths *p, struct err *e)
{
	const char *const v[] = {p->gaps, p->csv, p->influx};
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < i; k++)
			if (v[i] && v[k] && !strcmp(v[i], v[k]))
				return err_set(e, ERR_USAGE, "%s is named for two files", v[i]);
	return 0;
}

int gap_files_open(struct gap_files *f, const struct gap_paths *paths, const struct spin *s,
		   size_t n, int control, struct err *e)
{
	*f = (struct gap_files){.control = control, .several = n > (control >= 0) + 1u};
	set_host(f->host, sizeof(f->host));
	int r = gap_paths_check(paths, e);
	if (!r && paths->gaps)
		r = paths->derived ? outfile_open_derived(&f->gaps, paths->gaps, 0666, e)
				   : outfile_open(&f->gaps, paths->gaps, e);
	if (!r && paths->csv)
		r = outfile_open(&f->csv, paths->csv, e);
	if (!r && paths->influx)
		r = outfile_open(&f->influx, paths->influx, e);
	if (r)
		gap_files_end(f, s, n, r, NULL);
	else
		begin(f, s, n);
	return r;
}

void gap_files_add(void *files, int cpu, uint64_t begin_ns, uint64_t end_ns)
{
	struct gap_files *f = files;
	uint64_t length = end_ns - begin_ns, real = end_ns + f->to_real_ns;
	if (f->gaps.f)
		fprintf(f->gaps.f, "gap %d %" PRIu64 " %" PRIu64 "\n", cpu, begin_ns, end_ns);
	if (cpu == f->control)
		return;
	if (f->csv.f)
		fprintf(f->csv.f,
			f->several ? "%" PRIu64 ",%" PRIu64 ",%d\n"
				   : "%" PRIu64 ",%" PRIu64 "\n",
			real, length, cpu);
	if (f->influx.f)
		fprintf(f->influx.f, "jitter,host=%s,cpu=%d latency=%" PRIu64 " %" PRIu64 "\n",
			f->host, cpu, length, real);
}

int gap_files_end(struct gap_files *f, const struct spin *s, size_t n, int rc, struct err *e)
{
	struct outfile *all[] = {&f->gaps, &f->csv, &f->influx};
	struct spin_clocks c = spin_clocks();
	if (!rc)
		put_anchor(f, &c);
	for (size_t i = 0; i < n && !rc && f->gaps.f; i++)
		if (spin_at(s, i)->dropped)
			fprintf(f->gaps.f, "dropped %d %" PRIu64 "\n", spin_at(s, i)->cpu,
				spin_at(s, i)->dropped);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (all[i]->f && rc)
			outfile_abort(all[i]);
		else if (all[i]->f)
			rc = outfile_commit(all[i], e);
	}
	return rc;
}
