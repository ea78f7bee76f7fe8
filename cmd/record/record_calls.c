#include "cmd/record/record_calls.h"
#include "base/mem.h"
#include "cmd/record/probe_cost.h"
#include "cmd/record/record_context.h"
#include "cmd/record/record_run.h"
#include "libparse/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/utsname.h>
#include <unistd.h>

static const char *events_file(void)
{
	static const char *const files[] = {"/sys/kernel/tracing/uprobe_events",
					    "/sys/kernel/debug/tracing/uprobe_events"};
	return access(files[0], F_OK) && !access(files[1], F_OK) ? files[1] : files[0];
}

/* perf mounts tracefs if nobody has, but only when it runs. */
static void mount_tracing(void)
{
	if (access(events_file(), F_OK))
		mount("none", "/sys/kernel/tracing", "tracefs", 0, NULL);
}

static void print_quoted(const char *text, size_t n)
{
	char *line = mem_strndup(text, n);
	struct buf b = {0};
	if (line)
		words_line(&b, &(struct words){.v = {.v = (char *[]){line}, .n = 1}});
	printf("echo %s >>%s\n", buf_cstr(&b), events_file());
	buf_release(&b);
	mem_free(line);
}

/* What a shell would be given. */
static void print_definitions(const struct calls *c, const char *binary, int undo)
{
	struct buf b = {0};
	calls_definitions(&b, c, binary, undo);
	for (const char *p = buf_cstr(&b); *p; p += strcspn(p, "\n") + 1)
		print_quoted(p, strcspn(p, "\n"));
	buf_release(&b);
}

static void print_places(const struct calls *c)
{
	for (size_t i = 0; i < c->places.n; i++) {
		const struct call_place *x = &c->places.v[i];
		printf("0x%llx %s %s", (unsigned long long)x->vaddr,
		       c->regions.v[x->region].text,
		       x->is_return ? "return"
		       : x->end     ? "end"
				    : "begin");
		if (x->line)
			printf(" (line %u)", x->line);
		putchar('\n');
	}
}

/* --- the kernel's probes -------------------------------------------------------------- */

/* Line by line, as the kernel takes them; the line it refused is in `e`. */
static int write_definitions(const struct buf *text, int keep_going, struct err *e)
{
	const char *file = events_file();
	int fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC), r = 0;
	if (fd < 0)
		return err_set(e, ERR_IO, "%s: %s%s", file, strerror(errno),
			       geteuid() ? " (probes need root)"
			       : errno == ENOENT
				       ? " (mount -t tracefs none /sys/kernel/tracing)"
				       : "");
	for (const char *p = text->v; *p && (!r || keep_going); p += strcspn(p, "\n") + 1) {
		size_t n = strcspn(p, "\n");
		if (write(fd, p, n + 1) != (ssize_t)n + 1 && !r)
			r = err_set(e, ERR_UNSUPPORTED, "the kernel refused the probe %.*s: %s",
				    (int)n, p, strerror(errno));
	}
	close(fd);
	return r;
}

int record_calls_define(const struct calls *c, const char *binary, int undo, struct err *e)
{
	struct buf b = {0};
	calls_definitions(&b, c, binary, undo);
	int r = buf_failed(&b) || !b.n ? err_nomem(e) : write_definitions(&b, undo, e);
	buf_release(&b);
	return r;
}

int record_probes_are_taken(void)
{
	char line[512];
	int taken = 0;
	mount_tracing();
	FILE *f = fopen(events_file(), "re");
	while (f && !taken && fgets(line, sizeof(line), f))
		taken = strstr(line, ":perfkit/") != NULL;
	if (f)
		fclose(f);
	return taken;
}

/* perf says that it "regrouped" events, but not what that means. */
static void say_next(const char *path)
{
	struct recording *rec;
	if (recording_open(&rec, path, NULL))
		return;
	const struct event *ev = calls_split_event(rec);
	if (ev)
		fprintf(stderr,
			"perfkit record: this perf took %s out of the group of its counters: "
			"calls have no counters (perfkit doctor %s)\n",
			ev->name, path);
	recording_close(rec);
	fprintf(stderr, "next: perfkit report --by span %s\n", path);
}

/* Does this kernel pass groups that are read on to new threads? */
static int kernel_inherits(void)
{
	struct utsname u;
	int major, minor;
	return uname(&u) || sscanf(u.release, "%d.%d", &major, &minor) != 2 ||
	       major * PERF_MINORS + minor >= 6 * PERF_MINORS + 12;
}

/* What the probes themselves take, as the recording's context. */
static void measure_probes(const struct calls *c, const struct calls_request *q,
			   struct buf *context)
{
	struct probe_costs costs;
	struct err e = {0};
	if (!strcmp(q->wish.output, "-"))
		return;
	if (probe_costs_measure(&costs, &q->wish, &e)) {
		fprintf(stderr,
			"perfkit record: the time of the probes themselves is unknown, and "
			"is in each call (%s)\n",
			e.msg);
		return;
	}
	buf_str(context, "snapshot\n");
	probe_costs_facts(context, &costs, c, q->binary);
}

static int run(const struct calls *c, const struct calls_request *q, const struct words *line,
	       struct err *e)
{
	struct buf context = {0};
	if (q->wish.inherit && !kernel_inherits())
		return err_set(e, ERR_UNSUPPORTED, "--inherit needs Linux 6.12"), 1;
	if (record_probes_are_taken())
		return err_set(e, ERR_REFUSED,
			       "probes named perfkit:* already exist, from another recording "
			       "or "
			       "one that was killed; remove them: perf probe -d 'perfkit:*'"),
		       3;
	measure_probes(c, q, &context);
	struct stat before;
	if (stat(q->wish.output, &before))
		before = (struct stat){0};
	int r = record_calls_define(c, q->binary, 0, e);
	int status = r ? 1 : run_words(line, 0);
	record_calls_define(c, q->binary, 1, NULL);
	if (!r && context.n && record_is_written(q->wish.output, &before))
		record_context_write(&context, q->wish.output, NULL);
	buf_release(&context);
	if (r)
		return 1;
	if ((status > 128 && run_interrupted()) ||
	    run_outlived(status, q->wish.duration, q->wish.pid, q->wish.tid))
		status = 0;
	if (!status)
		say_next(q->wish.output);
	return status;
}

/* How many ring buffers perf will make. */
static size_t rings(const struct calls_wish *w)
{
	size_t n = w->inherit ? (size_t)sysconf(_SC_NPROCESSORS_ONLN) : threads_of(w->pid);
	for (const char *p = w->inherit ? NULL : w->tid; p && *p; p += *p == ',') {
		p += strcspn(p, ",");
		n++;
	}
	return n;
}

static int act(const struct calls *c, struct calls_request *q, struct err *e)
{
	struct words line = {0};
	if (q->list) {
		print_places(c);
		return 0;
	}
	if (!q->wish.ring)
		q->wish.ring = calls_ring(rings(&q->wish));
	int rc = calls_line(&line, c, &q->wish, e);
	if (rc) {
		rc = rc == ERR_USAGE ? 2 : 1;
	} else if (q->dry_run) {
		struct buf b = {0};
		words_line(&b, &line);
		print_definitions(c, q->binary, 0);
		puts(buf_cstr(&b));
		print_definitions(c, q->binary, 1);
		buf_release(&b);
	} else {
		rc = run(c, q, &line, e);
	}
	words_release(&line);
	return rc;
}

static int list_functions(const char *binary, struct err *e)
{
	struct buf b = {0};
	int r = calls_list_functions(&b, binary, e);
	if (!r)
		fputs(buf_cstr(&b), stdout);
	buf_release(&b);
	return r ? 1 : 0;
}

int record_calls(const struct calls_request *q, struct err *e)
{
	struct calls c = {0};
	if (!q->binary)
		return err_set(e, ERR_USAGE,
			       "calls needs --exec FILE, -p PID or a command, to find the "
			       "functions in"),
		       2;
	if (!q->nregions && q->list)
		return list_functions(q->binary, e);
	if (!q->nregions)
		return err_set(e, ERR_USAGE,
			       "calls needs -r FUNC or -r FILE:FIRST-LAST (--list lists the "
			       "functions)"),
		       2;
	char whole[PATH_MAX]; /* the kernel's definitions need it */
	struct calls_request with = *q;
	with.binary = realpath(q->binary, whole) ? whole : q->binary;
	if (!q->list && with.binary[strcspn(with.binary, " \t\n\v\f\r")])
		return err_set(e, ERR_UNSUPPORTED,
			       "%s: the kernel takes no probe in a file whose path has blanks",
			       with.binary),
		       1;
	int rc = calls_find(&c, with.binary, q->regions, q->nregions, e);
	rc = rc == ERR_USAGE ? 2 : rc ? 1 : act(&c, &with, e);
	calls_release(&c);
	return rc;
}
