/*
 * timelineapi OUT [WIDTH] - draw a timeline that is written down on stdin, one thing a line,
 * words apart by tabs, stacks "root;...;leaf" ("-" = none; names in _[k] are the kernel's),
 * times in ns:
 *
 *	rec	HOST	ORIGIN	END	WALL	NCPUS
 *	thread	NAME PID TID FIRST LAST FLAGS FIRST_CPU     the next one's number is n + 1
 *	off	THREAD START END BLOCKED CAUSE STATE FLAGS UNKNOWN STACK
 *		WAKER CONTEXT WAKERSTACK CPU_OUT CPU_IN
 *	sample	THREAD TIME STACK
 *	span	THREAD START END NAME
 *	mark	THREAD TIME NAME TEXT
 *	irq	CPU	START	END	NAME
 *	gap	CPU	START	END	LOST	THREAD
 *	loss	CPU	FROM	TO	COUNT	KIND
 *	flags	N                                           enum timeline_flag
 *	pick	FROM	TO	TOP	CPUS	one panel: the most active threads
 *	episode	START	END	CPU	SENTENCE	THREAD...	a panel each
 *
 * Threads are numbers from 0 on, -1 = none.
 */
#include "base/mem.h"
#include "libtime/causes/causes.h"
#include "render/timeline/timeline_svg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 80, LINE = 1 << 16 };

struct job {
	struct timeline tl;
	struct stacks stacks;
	struct tl_pick pick;
	VEC(struct tl_panel) panels;
	VEC(char *) sentences;
	int picked;
};

static void must(int rc, const struct err *e, const char *what)
{
	if (rc) {
		fprintf(stderr, "timelineapi: %s: %s\n", what, e && e->code ? e->msg : "?");
		exit(1);
	}
}

static uint32_t text(struct job *j, const char *s)
{
	uint32_t id;
	must(strtab_intern(&j->stacks.strings, s, &id), NULL, s);
	return id;
}

static uint32_t stack(struct job *j, char *s)
{
	uint32_t path = 0, id;
	if (!strcmp(s, "-"))
		return 0;
	for (char *name = strtok(s, ";"); name; name = strtok(NULL, ";")) {
		size_t n = strlen(name);
		int kernel = n > 4 && !strcmp(name + n - 4, "_[k]");
		name[kernel ? n - 4 : n] = '\0';
		struct frame f = {.name = text(j, name),
				  .kind = kernel ? FRAME_KERNEL : FRAME_USER};
		must(stacks_frame(&j->stacks, &f, &id), NULL, name);
		must(stacks_push(&j->stacks, path, id, &path), NULL, name);
	}
	return path;
}

static uint64_t num(const char *s)
{
	return strtoull(s, NULL, 0);
}

static uint16_t cpu(const char *s)
{
	return *s == '-' ? TL_NOCPU : (uint16_t)num(s);
}

static void add_offcpu(struct job *j, char **w)
{
	struct offcpu o = {.thread = (uint32_t)num(w[1]),
			   .start_ns = num(w[2]),
			   .end_ns = num(w[3]),
			   .blocked_ns = num(w[4]),
			   .flags = (uint8_t)num(w[7]),
			   .unknown = (uint8_t)num(w[8]),
			   .waker = *w[10] == '-' ? TL_NONE : (uint32_t)num(w[10]),
			   .waker_context = (uint8_t)num(w[11]),
			   .cpu_out = cpu(w[13]),
			   .cpu_in = cpu(w[14]),
			   .cpu_wake = TL_NOCPU,
			   .cpu_queue = TL_NOCPU};
	o.cause = (uint8_t)cause_find(w[5]);
	o.comm = j->tl.threads.v[o.thread].comm;
	o.path = stack(j, w[9]);
	o.waker_path = stack(j, w[12]);
	must(timeline_state(&j->tl, w[6], &o.state), NULL, "state");
	must(bigvec_push(&j->tl.offcpu, o, NULL), NULL, "off");
}

static void add_thread(struct job *j, char **w)
{
	struct tl_thread t = {.comm = text(j, w[1]),
			      .pid = atoi(w[2]),
			      .tid = atoi(w[3]),
			      .first_ns = num(w[4]),
			      .last_ns = num(w[5]),
			      .flags = (uint32_t)num(w[6]),
			      .first_cpu = cpu(w[7])};
	must(vec_push(&j->tl.threads, t), NULL, "thread");
}

static void add_point(struct job *j, char **w)
{
	struct timeline *tl = &j->tl;
	if (!strcmp(w[0], "sample")) {
		struct tl_sample s = {.thread = (uint32_t)num(w[1]),
				      .time_ns = num(w[2]),
				      .path = stack(j, w[3])};
		must(bigvec_push(&tl->samples, s, NULL), NULL, w[0]);
	} else if (!strcmp(w[0], "irq")) {
		struct tl_interrupt x = {.cpu = cpu(w[1]),
					 .start_ns = num(w[2]),
					 .end_ns = num(w[3]),
					 .thread = TL_NONE,
					 .vector = text(j, w[4])};
		must(vec_push(&tl->interrupts, x), NULL, w[0]);
	} else if (!strcmp(w[0], "gap")) {
		struct tl_gap g = {.cpu = cpu(w[1]),
				   .start_ns = num(w[2]),
				   .end_ns = num(w[3]),
				   .lost_ns = num(w[4]),
				   .thread = (uint32_t)num(w[5])};
		must(vec_push(&tl->gaps, g), NULL, w[0]);
	} else if (!strcmp(w[0], "span")) {
		struct tl_span s = {.thread = (uint32_t)num(w[1]),
				    .end_thread = (uint32_t)num(w[1]),
				    .start_ns = num(w[2]),
				    .end_ns = num(w[3]),
				    .name = text(j, w[4]),
				    .parent = TL_NONE};
		must(vec_push(&tl->spans, s), NULL, w[0]);
	} else if (!strcmp(w[0], "mark")) {
		struct tl_mark m = {.thread = (uint32_t)num(w[1]),
				    .time_ns = num(w[2]),
				    .name = text(j, w[3]),
				    .text = text(j, w[4])};
		must(vec_push(&tl->marks, m), NULL, w[0]);
	} else {
		struct tl_loss l = {.cpu = cpu(w[1]),
				    .from_ns = num(w[2]),
				    .to_ns = num(w[3]),
				    .count = num(w[4]),
				    .kind = (uint8_t)num(w[5]),
				    .sched = 1};
		must(vec_push(&tl->losses, l), NULL, w[0]);
	}
}

static void finish(struct job *j)
{
	struct err e = {0};
	struct frame_table *roles = NULL;
	if (!j->tl.finished) {
		must(frame_table_new(&roles, &e), &e, "roles");
		must(timeline_set_roles(&j->tl, roles, &e), &e, "roles");
		frame_table_free(roles);
		must(timeline_finish(&j->tl, &e), &e, "finish");
		must(timeline_check(&j->tl, &e), &e, "check");
	}
}

static void add_pick(struct job *j, char **w)
{
	struct err e = {0};
	struct tl_pick_options o = {.from_ns = num(w[1]),
				    .to_ns = num(w[2]),
				    .top = num(w[3]),
				    .no_cpus = !num(w[4])};
	finish(j);
	must(tl_pick(&j->tl, &o, &j->pick, &e), &e, "pick");
	struct tl_panel p = {.from_ns = o.from_ns,
			     .to_ns = o.to_ns,
			     .zero_ns = j->tl.rec.origin_ns,
			     .rows = j->pick.rows.v,
			     .nrows = j->pick.rows.n};
	must(vec_push(&j->panels, p), NULL, "panel");
	j->picked = 1;
}

static void add_episode(struct job *j, char **w, int n)
{
	struct err e = {0};
	uint32_t threads[WORDS];
	uint16_t c = cpu(w[3]);
	struct tl_episode ep = {.start_ns = num(w[1]),
				.end_ns = num(w[2]),
				.threads = threads,
				.cpus = &c,
				.ncpus = c != TL_NOCPU,
				.sentence = mem_strdup(w[4])};
	struct tl_panel p;
	finish(j);
	for (int i = 5; i < n; i++)
		threads[ep.nthreads++] = (uint32_t)num(w[i]);
	must(vec_push(&j->sentences, (char *)ep.sentence), NULL, "sentence");
	must(timeline_svg_episode(&j->tl, &ep, &p, &e), &e, "episode");
	must(vec_push(&j->panels, p), NULL, "panel");
}

static void read_line(struct job *j, char *line)
{
	char *w[WORDS] = {0};
	int n = 0;
	line[strcspn(line, "\n")] = '\0';
	for (char *s; n < WORDS && (s = strsep(&line, "\t"));)
		w[n++] = s;
	if (!strcmp(w[0], "rec"))
		j->tl.rec = (struct tl_recording){.host = text(j, w[1]),
						  .origin_ns = num(w[2]),
						  .end_ns = num(w[3]),
						  .wall_ns = num(w[4]),
						  .wall_exact = 1,
						  .ncpus = (uint32_t)num(w[5])};
	else if (!strcmp(w[0], "thread"))
		add_thread(j, w);
	else if (!strcmp(w[0], "off"))
		add_offcpu(j, w);
	else if (!strcmp(w[0], "flags"))
		j->tl.flags = (uint32_t)num(w[1]);
	else if (!strcmp(w[0], "pick"))
		add_pick(j, w);
	else if (!strcmp(w[0], "episode"))
		add_episode(j, w, n);
	else if (*w[0])
		add_point(j, w);
}

int main(int argc, char **argv)
{
	static char line[LINE];
	static struct job j;
	struct err e = {0};
	struct tl_svg_options o;
	FILE *out = argc > 1 ? fopen(argv[1], "w") : NULL;
	if (!out)
		return 2;
	tl_svg_defaults(&o);
	o.width = argc > 2 ? atof(argv[2]) : o.width;
	must(timeline_init(&j.tl, &j.stacks), NULL, "init");
	struct tl_event ev = {.name = text(&j, "cpu-clock")};
	must(vec_push(&j.tl.events, ev), NULL, "event");
	while (fgets(line, sizeof(line), stdin))
		read_line(&j, line);
	finish(&j);
	must(timeline_svg_write(&j.tl, j.panels.v, j.panels.n, &o, out, NULL, &e), &e, "draw");
	for (size_t i = 0; i < j.panels.n && !j.picked; i++)
		timeline_svg_episode_release(&j.panels.v[i]);
	for (size_t i = 0; i < j.sentences.n; i++)
		mem_free(j.sentences.v[i]);
	vec_release(&j.sentences);
	vec_release(&j.panels);
	tl_pick_release(&j.pick);
	timeline_release(&j.tl);
	stacks_release(&j.stacks);
	return fclose(out) != 0;
}
