/*
 * record.c - `perfkit record`: runs the perf record line that can answer the question.
 */
#include "base/check.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/text/path.h"
#include "cmd/cli/say.h"
#include "cmd/input/sandbox.h"
#include "cmd/record/bpf_recorder.h"
#include "cmd/record/probe_cost.h"
#include "cmd/record/record_budget.h"
#include "cmd/record/record_calls.h"
#include "cmd/record/record_chosen.h"
#include "cmd/record/record_context.h"
#include "cmd/record/record_files.h"
#include "cmd/record/record_jitter.h"
#include "cmd/record/record_like.h"
#include "cmd/record/record_run.h"
#include "cmd/record/tcp_timers.h"
#include "cmd/verbs.h"
#include "libtime/record/perf_args.h"
#include "libtime/record/trial.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct record_opts {
	struct jitter_opts jitter; /* first: its table counts from here */
	const char *like, *output, *event, *stacks, *begin, *end, *key, *end_key, *exec, *perf,
		*also, *for_perf, *ring, *recorder;
	struct chosen_wish chosen;
	const char *max_rate, *max_cpu;
	struct opt_list regions;
	int frequency, duration, off_cpu_ms, dry_run, no_lock_owner, no_estimate, measure, list,
		inherit, own_ids, no_sandbox;
};

#define AT(field) offsetof(struct record_opts, field)
static const struct opt rows[] = {
	OPT_HEADING("What to record"),
	{"like", 0, OPT_STRING, AT(like), "FILE",
	 "print the line that made FILE, corrected;\nwith what perfkit doctor would change in "
	 "it; nothing is run"},
	{"no-sandbox", 0, OPT_FLAG, AT(no_sandbox), NULL,
	 "with --like: keep the right to write and run anything"},
	{"pid", 'p', OPT_STRING, AT(chosen.pid), "PID,...",
	 "stacks of these processes; of others only switches\nand wakeups"},
	{"tid", 't', OPT_STRING, AT(chosen.tid), "TID,...",
	 "stacks of these threads\n(jitter: -t is --threshold)"},
	{"cpu", 'C', OPT_STRING, AT(chosen.cpus), "CPU,...",
	 "stacks of what runs on these CPUs: 0,2-3"},
	{"cgroup", 'G', OPT_STRING, AT(chosen.cgroup), "PATH",
	 "stacks of what is in this cgroup now\n(a path below /sys/fs/cgroup)"},
	{"comm", 0, OPT_STRING, AT(chosen.comm), "GLOB,...",
	 "stacks of threads with such names"},
	{"duration", 'd', OPT_INT, AT(duration), "SECONDS",
	 "how long (default: until COMMAND ends, or Ctrl-C)"},
	{"event", 'e', OPT_STRING, AT(event), "NAME",
	 "what samples CPU time (default cycles, or cpu-clock);\nnot for offcpu. calls: what "
	 "is "
	 "counted (page-faults,context-switches,task-clock)"},
	{"freq", 'F', OPT_INT, AT(frequency), "HZ",
	 "samples per second (default: cpu 999, else 199);\nnot for offcpu"},
	{"stacks", 0, OPT_STRING, AT(stacks), "KIND",
	 "auto (default), dwarf[:BYTES], fp, lbr or none;\nauto copies 8192 bytes for cpu; "
	 "else "
	 "as much as the stacks of the chosen threads have in use now, or 4096; it takes fp if "
	 "a trial shows that frame pointers give the same stacks"},
	{"call-graph", 0, OPT_STRING, AT(stacks), "KIND", "perf's name of --stacks"},
	{"also", 0, OPT_STRING, AT(also), "WHAT,...",
	 "vectors, faults, nmi, block, idle, tcp, cgroups;\nof interrupts the vectors, of tcp "
	 "the "
	 "timers; not for cpu"},
	{"off-cpu-thresh", 0, OPT_INT, AT(off_cpu_ms), "MS",
	 "offcpu, watch: only waits at least this long, measured by the\nkernel (perf 6.16, "
	 "built with BPF), without their wakers"},
	{"no-lock-owner", 0, OPT_FLAG, AT(no_lock_owner), NULL,
	 "tail, requests: set no probe on glibc's __lll_lock_wait,\nwhich shows who held a "
	 "contended mutex"},
	OPT_HEADING("Requests and calls"),
	{"begin", 0, OPT_STRING, AT(begin), "FUNC", "the function where a request begins"},
	{"end", 0, OPT_STRING, AT(end), "FUNC",
	 "where it ends (default: where the first one returns)"},
	{"key", 0, OPT_STRING, AT(key), "ARG",
	 "what identifies it, as for perf probe: id, +8(%di):u64"},
	{"end-key", 0, OPT_STRING, AT(end_key), "ARG", "the same at the end, if it differs"},
	{"exec", 'x', OPT_STRING, AT(exec), "FILE", "the program or library that has FUNC"},
	{"region", 'r', OPT_EACH, AT(regions), "FUNC|FILE:A-B",
	 "calls: count in each call of FUNC\nor from line A until line B begins (repeatable)"},
	{"list", 0, OPT_FLAG, AT(list), NULL,
	 "print where probes would go\n(without -r: all functions)"},
	{"inherit", 0, OPT_FLAG, AT(inherit), NULL,
	 "also count in threads that start later (Linux 6.12, perf\n6.13); calls that change "
	 "CPUs "
	 "are then counted in part"},
	OPT_HEADING("How to record"),
	{"output", 'o', OPT_STRING, AT(output), "FILE",
	 "the recording (default perf.data);\njitter: jitter.tar.zst; - is a stream, for "
	 "perfkit "
	 "watch"},
	{"dry-run", 'n', OPT_FLAG, AT(dry_run), NULL,
	 "run nothing; print the commands and their cost"},
	{"measure", 0, OPT_FLAG, AT(measure), NULL,
	 "with --dry-run: record the events for a second without\nstacks, instead of only "
	 "counting them"},
	{"no-estimate", 0, OPT_FLAG, AT(no_estimate), NULL, "with --dry-run: do not count"},
	{"for-perf", 0, OPT_STRING, AT(for_perf), "VERSION",
	 "the perf that is to run the line (4.18, 6.17): options that\nit lacks are refused"},
	{"mmap-pages", 'm', OPT_STRING, AT(ring), "SIZE",
	 "ring buffer of each CPU: 8M, or a number of pages\n(default as root: cpu 4M, else "
	 "8M); "
	 "calls: of each thread (4M, less if there are many)"},
	{"max-rate", 0, OPT_STRING, AT(max_rate), "SIZE",
	 "record fewer stacks, to write at most SIZE a second\n(20M) under the load of the "
	 "last "
	 "second; a recording that is not of a command ends where it writes more"},
	{"max-cpu", 0, OPT_STRING, AT(max_cpu), "PERCENT",
	 "the same by CPU time, estimated, of one CPU"},
	{"buildid-mmap", 0, OPT_FLAG, AT(own_ids), NULL,
	 "a build-id with each mapping (perf 5.12), for containers with\n"
	 "other files at one path; may crash other perf processes that run meanwhile"},
	{"recorder", 0, OPT_STRING, AT(recorder), "WHICH",
	 "what records switches, wakeups, interrupts:\nkernel (perfkit's own BPF program), "
	 "perf, "
	 "or auto (default)"},
	{"perf", 0, OPT_STRING, AT(perf), "FILE", "the perf to run (default: perf)"},
	OPT_END,
};

static int parse_mode(const char *name, enum record_mode *mode)
{
	static const char *const names[] = {"cpu", "offcpu", "tail", "requests", "jitter"};
	ENTRIES(names, RECORD_JITTER + 1);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(name, names[i])) {
			*mode = (enum record_mode)i;
			return 0;
		}
	}
	struct buf b = {0};
	opt_suggest(&b, verb_record.words, name);
	say_line("perfkit record: mode '%s' is not one of cpu, offcpu, tail, requests, calls, "
		 "jitter, watch%s",
		 name, buf_cstr(&b));
	buf_release(&b);
	return 2;
}

static int parse_version(const char *text, int *version, struct err *e)
{
	int major, minor;
	char more;
	if (!text)
		return 0;
	if (sscanf(text, "%d.%d%c", &major, &minor, &more) != 2 || major < 3 || minor < 0 ||
	    minor >= PERF_MINORS)
		return err_set(e, ERR_USAGE,
			       "--for-perf takes a version, as 4.18 or 6.17, not '%s'", text);
	*version = major * PERF_MINORS + minor;
	return 0;
}

static int parse_values(const struct record_opts *o, struct record_wish *w, struct err *e)
{
	enum { QUICK_END = 5 * PERF_MINORS + 1 };
	if (o->ring)
		w->ring = perf_ring_bytes(o->ring, (uint64_t)sysconf(_SC_PAGESIZE));
	if (o->ring && !w->ring)
		return err_set(
			e, ERR_USAGE,
			"--mmap-pages takes a size, as 8M, or a number of pages, not '%s'",
			o->ring);
	int rc = parse_version(o->for_perf, &w->version, e);
	int version = w->version || rc ? w->version : perf_version(w->perf);
	w->old_perf = version && version < QUICK_END;
	return rc;
}

/* Refuse options that the mode does not use; numbers that were not given are negative. */
static int check_given(const struct record_opts *o, struct record_wish *w, struct err *e)
{
	enum record_mode mode = w->mode;
	const char *name;
	if ((mode == RECORD_OFFCPU || mode == RECORD_JITTER) && (o->event || o->frequency >= 0))
		return err_set(e, ERR_USAGE,
			       "%s applies to CPU samples, which %s does not take",
			       o->event ? "--event" : "--freq",
			       mode == RECORD_JITTER ? "jitter" : "offcpu");
	if (mode != RECORD_JITTER && record_jitter_given(&o->jitter, &name))
		return err_set(e, ERR_USAGE, "%s applies only to jitter", name);
	if (mode != RECORD_TAIL && mode != RECORD_REQUESTS && o->no_lock_owner)
		return err_set(e, ERR_USAGE,
			       "--no-lock-owner applies only to tail and requests");
	if (mode != RECORD_REQUESTS && o->exec)
		return err_set(e, ERR_USAGE, "--exec applies only to requests and calls");
	if (o->regions.n || o->list || o->inherit)
		return err_set(e, ERR_USAGE,
			       "--region, --list and --inherit apply only to calls");
	if (!o->duration)
		return err_set(e, ERR_USAGE, "--duration must be at least 1");
	if (o->off_cpu_ms >= 0 && (mode != RECORD_OFFCPU || !o->off_cpu_ms))
		return err_set(e, ERR_USAGE,
			       mode == RECORD_OFFCPU
				       ? "--off-cpu-thresh must be at least 1"
				       : "--off-cpu-thresh applies only to offcpu and watch");
	if ((o->max_rate || o->max_cpu) && (mode == RECORD_JITTER || o->off_cpu_ms >= 0))
		return err_set(e, ERR_USAGE, "%s does not apply to %s",
			       o->max_rate ? "--max-rate" : "--max-cpu",
			       mode == RECORD_JITTER ? "jitter" : "--off-cpu-thresh");
	if (o->measure && (!o->dry_run || mode == RECORD_CPU))
		return err_set(e, ERR_USAGE,
			       mode == RECORD_CPU ? "--measure does not apply to cpu"
						  : "--measure belongs to --dry-run");
	if (mode == RECORD_CPU && o->chosen.comm)
		return err_set(e, ERR_USAGE, "--comm does not apply to cpu: give --pid");
	int rc = parse_values(o, w, e);
	if (w->off_cpu_ms && !w->version)
		w->version = perf_version(w->perf);
	return rc;
}

/* What records switches: perfkit's own recorder, if it can and may. */
struct recorder_choice {
	int own, must;               /* must: perf may not take its place */
	uint64_t stacks;             /* bytes a second */
	struct bpf_recorder *kernel; /* NULL: perf records all */
};

/* A dry run shows the line that any server can run, and so what perf does. */
static int choose_recorder(struct recorder_choice *c, const struct record_opts *o,
			   const struct record_wish *w, struct err *e)
{
	static const char *const names[] = {"auto", "kernel", "perf"};
	const char *name = o->recorder ? o->recorder : names[0];
	struct err why = {0};
	int waits = w->mode == RECORD_OFFCPU || w->mode == RECORD_TAIL ||
		    w->mode == RECORD_REQUESTS;
	int copies = !o->stacks || strcmp(o->stacks, "fp") != 0;
	c->must = !strcmp(name, names[1]);
	if (!c->must && strcmp(name, names[0]) != 0 && strcmp(name, names[2]) != 0)
		return err_set(e, ERR_USAGE, "--recorder takes auto, kernel or perf, not '%s'",
			       name);
	if (!waits || !copies || w->off_cpu_ms || !strcmp(w->output, "-"))
		return c->must ? err_set(e, ERR_USAGE,
					 "--recorder kernel is for offcpu, tail and requests, "
					 "into a "
					 "file, with copies of stacks")
			       : 0;
	c->own = strcmp(name, names[2]) != 0 && !bpf_recorder_possible(&why) &&
		 (!o->dry_run || c->must);
	return c->must && !c->own ? err_set(e, ERR_REFUSED, "--recorder kernel: %s", why.msg)
				  : 0;
}

/* Choose the threads whose stacks are recorded with waits. */
static int choose(struct chosen *out, const struct record_opts *o, struct record_wish *w,
		  int own, struct err *e)
{
	if (w->mode == RECORD_CPU || !chosen_any(&o->chosen) ||
	    (w->off_cpu_ms && !o->chosen.comm))
		return 0;
	struct chosen_wish wish = o->chosen;
	int any = !o->stacks || !strcmp(o->stacks, "auto");
	wish.copies = any || !strcmp(o->stacks, "dwarf");
	int rc = chosen_find(out, &wish, any && !own ? w : NULL, e);
	w->chosen = rc ? NULL : out;
	return rc;
}

/* Files for the probes; heap. */
struct targets {
	char *binary, *libc;
};

static void find_targets(struct targets *t, const struct record_opts *o,
			 const struct record_wish *w)
{
	const char *pid = o->chosen.pid;
	*t = (struct targets){0};
	if (o->exec)
		t->binary = mem_strdup(o->exec);
	else if (pid)
		t->binary = file_of_process(pid, NULL);
	else if (w->ncommand)
		t->binary = file_of_command(w->command[0]);
	if (o->no_lock_owner || w->mode == RECORD_CPU || w->mode == RECORD_OFFCPU)
		return;
	/* without a process, this process's libc */
	t->libc = file_of_process(pid ? pid : "self", "libc.so");
	if (!t->libc)
		t->libc = file_of_process(pid ? pid : "self", "libpthread");
}

static void print_line(const struct words *w)
{
	struct buf b = {0};
	if (!w->v.n)
		return;
	words_line(&b, w);
	puts(buf_cstr(&b));
	buf_release(&b);
}

/* `to` reads the recording; NULL: nobody. */
static void print_plan(const struct record_plan *p, const struct words *to)
{
	struct buf b = {0};
	print_line(&p->lock_probe);
	for (size_t i = 0; i < p->probes.n; i++)
		print_line(&p->probes.v[i]);
	words_line(&b, &p->record);
	if (to)
		buf_str(&b, " | ");
	if (to)
		words_line(&b, to);
	puts(buf_cstr(&b));
	buf_release(&b);
	print_line(&p->undo);
	fflush(stdout);
}

/* Why the line has stacks of this kind. */
static void print_stacks(const struct record_opts *o, const struct record_wish *w)
{
	struct buf b = {0};
	/* the budget has said it of what it chose */
	if (!w->chosen || w->stacks != o->stacks ||
	    (o->stacks && strcmp(o->stacks, "auto") != 0))
		return;
	int copy = w->chosen->copy ? w->chosen->copy : PLAN_DUMP;
	trial_text(&b, &w->chosen->trial, copy);
	/* a recording itself says only what it gives up */
	if (o->dry_run || (!w->chosen->trial.fp && trial_copy(&w->chosen->trial, copy) != copy))
		fputs(buf_cstr(&b), stderr);
	buf_release(&b);
}

/* --- running -------------------------------------------------------------------------- */

/* `perf probe -q -d NAME...` of those that were set. */
static void remove_probes(const struct record_plan *p)
{
	if (p->undo.v.n)
		run_words(&p->undo, 1);
}

static int set_probe(const struct words *w)
{
	struct buf out = {0};
	int rc = run_words_read(w, &out);
	if (rc && !run_interrupted())
		fprintf(stderr, "perfkit record: perf probe failed: %s", buf_cstr(&out));
	buf_release(&out);
	return rc;
}

/* Set the probes; if the lock-owner probe cannot be set, plan again without it. */
static int set_probes(struct record_plan *p, struct record_wish *w, struct err *e)
{
	if (p->undo.v.n && record_probes_are_taken())
		return err_set(
			e, ERR_REFUSED,
			"probes named perfkit:* already exist, from another recording or "
			"one that was killed; remove them: perf probe -d "
			"'perfkit:*'");
	if (p->lock_probe.v.n && run_words(&p->lock_probe, 1) && !run_interrupted()) {
		fprintf(stderr,
			"perfkit record: no probe on __lll_lock_wait of %s (%s): lock "
			"owners are inferred from wakeups\n",
			w->libc,
			geteuid() ? "probes need root" : "its symbols are needed: libc6-dbg");
		w->libc = NULL;
		record_plan_release(p);
		int rc = record_plan(p, w, e);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < p->probes.n; i++)
		if (!run_interrupted() && set_probe(&p->probes.v[i]) && !run_interrupted())
			return err_set(e, ERR_UNSUPPORTED, "cannot set the probe");
	return 0;
}

/* For a recording of the whole machine, the filter that fits the user's choice. A command may
 * start others under other names, so its own name is only suggested. */
static void put_choice(struct buf *b, const struct chosen_wish *c)
{
	if (c->pid)
		buf_fmt(b, " --pid %s", c->pid);
	if (c->tid)
		buf_fmt(b, " --tid %s", c->tid);
	if (c->comm) {
		buf_str(b, " --comm ");
		words_line(b, &(struct words){.v = {.v = (char *[]){(char *)c->comm}, .n = 1}});
	}
}

static void next_step(const struct record_plan *p, const struct record_wish *w,
		      const struct chosen_wish *c)
{
	struct buf b = {0}, choice = {0};
	words_line(&b, &(struct words){.v = {.v = (char *[]){(char *)w->output}, .n = 1}});
	const char *file = buf_cstr(&b);
	switch (w->mode) {
	case RECORD_CPU:
		fprintf(stderr, "next: perfkit svg %s -o cpu.svg\n", file);
		break;
	case RECORD_OFFCPU:
		put_choice(&choice, c);
		fprintf(stderr, "next: perfkit svg --offcpu%s %s -o offcpu.svg\n",
			buf_cstr(&choice), file);
		break;
	case RECORD_TAIL:
		put_choice(&choice, c);
		fprintf(stderr, "next: perfkit tail%s %s\n", buf_cstr(&choice), file);
		break;
	case RECORD_JITTER: /* record_jitter.h prints it */
		break;
	case RECORD_REQUESTS:
		if (!strcmp(p->span, "req"))
			fprintf(stderr,
				"next: perfkit tail --top 10 --span "
				"req=perfkit:req_start..perfkit:req_end%s %s\n",
				w->key ? ",key=key" : "", file);
		else
			fprintf(stderr, "next: perfkit tail --top 10 --by span %s\n", file);
		break;
	}
	buf_release(&choice);
	buf_release(&b);
}

static int64_t wall_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* What the kernel recorded, into perf's file; 0, or an error that was said. */
static int put_together(struct bpf_recorder *k, const struct record_plan *p,
			const struct record_wish *w)
{
	/* a command's end is perf's last record; else, there may be none for long */
	const int within = w->duration || w->ncommand;
	const char *output = w->output;
	struct err e = {0};
	struct buf said = {0};
	int rc = bpf_recorder_finish(k, output, within, &p->record, &e);
	if (rc)
		fprintf(stderr, "perfkit record: waits are missing in %s: %s\n", output, e.msg);
	bpf_recorder_text(k, &said);
	fprintf(stderr, "kernel: %s\n", buf_cstr(&said));
	buf_release(&said);
	return rc;
}

/* Run perf, and add which files are mapped before and after, and for modes about waits the open
 * descriptors, unless it is a stream. */
static int run_perf(const struct record_plan *p, const struct record_wish *w,
		    struct bpf_recorder *kernel, const struct words *to, struct buf *context,
		    int *reader_status, struct recording_run *run, struct price_paid *paid)
{
	int waits = w->mode != RECORD_CPU;
	*reader_status = 0;
	if (!strcmp(w->output, "-"))
		return run_stream(&p->record, to, reader_status);
	if (waits || !w->ncommand)
		record_files_of_processes(context, waits ? NULL : w->pid);
	if (waits)
		record_context_add(context, w->pid);
	int64_t began = wall_ns();
	struct words rest = {0};
	if (kernel)
		bpf_recorder_rest(kernel, &p->record, &rest);
	int status = run_recording(kernel ? &rest : &p->record, run);
	words_release(&rest);
	if (kernel && record_is_written(w->output, run->before)) {
		if (put_together(kernel, p, w) && !status)
			status = 1;
		bpf_recorder_fact(kernel, context);
	}
	paid->cpu_ns = run->cpu_ns;
	if (waits)
		record_context_add(context, w->pid);
	record_files_of_recording(context, w->output, began, paid);
	return status;
}

/* Without it the direction of sockets is not known, nor which file of a path was mapped. */
static void write_context(const struct buf *context, const char *output)
{
	struct err e = {0};
	if (context->n && record_context_write(context, output, &e))
		fprintf(stderr, "perfkit record: %s\n", e.msg);
}

static void print_paid(const struct price_paid *paid)
{
	struct buf b = {0};
	price_paid_text(&b, paid);
	fprintf(stderr, "cost: %s\n", buf_cstr(&b));
	buf_release(&b);
}

/* Modes about waits have checked their choice already. */
static int no_such_task(const struct record_wish *w, struct err *e)
{
	const char *list = missing_task(w->pid) ? w->pid : w->tid;
	const char *missing = w->mode == RECORD_CPU ? missing_task(list) : NULL;
	return missing ? err_set(e, ERR_USAGE, "there is no %s %.*s",
				 list == w->pid ? "process" : "thread",
				 (int)strcspn(missing, ","), missing)
		       : 0;
}

/* `to` reads a stream, or NULL. Of a recording, at most `rate` bytes a second; 0: any. */
static int record(struct record_plan *p, struct record_wish *w, const struct chosen_wish *c,
		  const struct words *to, double rate, struct bpf_recorder *kernel,
		  struct err *e)
{
	/* perf would end the command, too */
	struct stat before;
	struct recording_run run = {w->duration, w->output, &before, w->ncommand ? 0 : rate,
				    kernel};
	struct buf context = {.max = RECORD_CONTEXT_MAX};
	struct price_paid paid = {.whole = 1};
	int reader_status = 0;
	if (stat(w->output, &before))
		before = (struct stat){0};
	if (no_such_task(w, e))
		return 2;
	if (!w->ncommand && !w->duration)
		fprintf(stderr, "perfkit record: recording %s until Ctrl-C (--duration)\n",
			w->mode == RECORD_CPU && w->pid ? "the process" : "all CPUs");
	int rc = set_probes(p, w, e);
	int early = !rc && run_interrupted(); /* a file of that name is an old one */
	int status =
		rc || early ? 1
			    : run_perf(p, w, kernel, to, &context, &reader_status, &run, &paid);
	remove_probes(p);
	if (early)
		return err_set(e, ERR_IO, "stopped before perf began: nothing was recorded"), 1;
	if (rc)
		return rc == ERR_REFUSED ? 3 : 1;
	if (reader_status) /* it has said why */
		return reader_status;
	/* Ctrl-C normally ends a recording of the whole machine: perf has written all of it,
	 * and returns the signal that ended it or its command. */
	int piped = !strcmp(w->output, "-");
	int written = piped || record_is_written(w->output, &before);
	if (written && !piped)
		write_context(&context, w->output);
	buf_release(&context);
	if (written && run_outlived(status, w->duration, w->pid, w->tid)) {
		fprintf(stderr, "perfkit record: what was recorded ended within %d s\n",
			w->duration);
		status = 0;
	}
	if (status > 128 && (run_interrupted() || run.stopped) && written)
		status = 0;
	if (status > 128 && piped)
		return err_set(e, ERR_IO, "perf was ended by signal %d: the stream stops there",
			       status - 128),
		       status;
	if (status && !written) /* perf has said why */
		return err_set(e, ERR_IO, "perf record failed (status %d)%s", status,
			       geteuid() && w->mode != RECORD_CPU
				       ? "; the waits of all processes need root or CAP_PERFMON"
				       : ""),
		       1;
	if (written && !piped) {
		print_paid(&paid);
		record_say_copies();
	}
	if (!status && !piped)
		next_step(p, w, c);
	return status;
}

/* It records everything, and chooses CPUs itself. */
static int run_jitter(const struct record_opts *o, struct record_wish *w)
{
	struct jitter_opts j = o->jitter;
	const struct chosen_wish *c = &o->chosen;
	struct err e = {0};
	int dry = (o->dry_run ? JITTER_DRY : 0) | (o->no_estimate ? 0 : JITTER_PRICE) |
		  (o->measure ? JITTER_MEASURE : 0);
	int rc = check_given(o, w, &e);
	if (!rc && (c->pid || c->cpus || c->cgroup || c->comm || w->ncommand))
		rc = err_set(&e, ERR_USAGE,
			     "jitter records all CPUs, and runs nothing but its spinners: no "
			     "--pid, --cpu, --cgroup, --comm, and no command");
	if (rc) {
		say_line("perfkit record: %s", e.msg);
		return 2;
	}
	if (!j.threshold)
		j.threshold = c->tid;
	w->output = o->output;
	w->tid = NULL;
	return record_jitter(&j, w, o->dry_run ? dry : 0);
}

/* The first given option that counters of calls do not use; NULL: none. */
static const char *unused_by_calls(const struct record_opts *o)
{
	return o->chosen.cpus || o->chosen.cgroup || o->chosen.comm
		       ? "calls counts in threads: give -p, -t or a command"
	       : o->stacks || o->also || o->frequency >= 0
		       ? "--stacks, --also and --freq do not apply to calls"
	       : o->begin || o->end || o->key || o->end_key
		       ? "--begin, --end and --key apply only to requests; calls takes --region"
	       : o->no_lock_owner || o->measure || o->max_rate || o->max_cpu
		       ? "--no-lock-owner, --measure, --max-rate and --max-cpu do not apply to "
			 "calls"
	       : !o->duration ? "--duration must be at least 1"
			      : NULL;
}

static int run_calls(const struct record_opts *o, struct record_wish *w)
{
	struct err e = {0};
	struct targets t;
	const char *wrong = unused_by_calls(o);
	if (!wrong && parse_values(o, w, &e))
		wrong = e.msg;
	if (wrong) {
		say_line("perfkit record: %s", wrong);
		return 2;
	}
	w->mode = RECORD_CPU; /* no lock owners */
	if ((!o->exec || !o->dry_run) && no_such_task(w, &e)) {
		fprintf(stderr, "perfkit record: %s\n", e.msg);
		return 2;
	}
	if (!w->version && !o->list)
		w->version = perf_version(w->perf);
	find_targets(&t, o, w);
	struct calls_request q = {.binary = t.binary,
				  .regions = (const char *const *)o->regions.v,
				  .nregions = o->regions.n,
				  .list = o->list,
				  .dry_run = o->dry_run,
				  .wish = {.perf = w->perf,
					   .output = w->output,
					   .pid = w->pid,
					   .tid = w->tid,
					   .events = o->event ? o->event : PLAN_COUNTERS,
					   .inherit = o->inherit,
					   .own_ids = o->own_ids,
					   .version = w->version,
					   .duration = w->duration,
					   .ring = w->ring,
					   .command = w->command,
					   .ncommand = w->ncommand}};
	int rc = record_calls(&q, &e);
	if (e.msg[0])
		fprintf(stderr, "perfkit record: %s\n", e.msg);
	mem_free(t.binary);
	mem_free(t.libc);
	return rc;
}

/* The command that reads the stream of `watch`, with the options after `--`. */
static int watch_words(struct words *out, const struct record_opts *o,
		       const char *const *options, size_t n)
{
	const struct {
		const char *option, *value;
	} chosen[] = {
		{"--pid", o->chosen.pid}, {"--tid", o->chosen.tid}, {"--comm", o->chosen.comm}};
	words_add(out, o->dry_run ? "perfkit" : "/proc/self/exe");
	words_add(out, "watch");
	for (size_t i = 0; i < sizeof(chosen) / sizeof(*chosen); i++)
		/* perf filters by patterns; watch, by names */
		if (chosen[i].value && !strpbrk(chosen[i].value, "*?["))
			words_pair(out, chosen[i].option, chosen[i].value);
	if (o->off_cpu_ms > 0) /* nothing tells work from idling */
		words_add(out, "--unclear");
	for (size_t i = 0; i < n; i++)
		words_add(out, "%s", options[i]);
	return out->failed;
}

/* Room for the window of `watch` at twice the load that there is now, unless its options say how
 * much. */
static void size_memory(struct words *reader, const struct record_plan *p,
			const struct record_wish *w)
{
	enum { DEFAULT_MB = 16, MOST_MB = 256, WINDOW = 10 };
	for (size_t i = 0; i < reader->v.n; i++)
		if (!strncmp(reader->v.v[i], "--memory", 8) ||
		    !strncmp(reader->v.v[i], "--window", 8))
			return;
	double mb = 2 * WINDOW * record_rate(p, w) / 1e6;
	if (mb <= DEFAULT_MB)
		return;
	words_add(reader, "--memory");
	words_add(reader, "%d", mb < MOST_MB ? (int)mb : MOST_MB);
}

/* The first word is the mode; of `watch`, the others are options of the reader. */
static int check_words(const struct record_opts *o, const char *const *files, size_t nfiles)
{
	if (o->like && nfiles) {
		say_line("perfkit record: --like FILE takes no mode and no command: they are "
			 "those of FILE");
		return 2;
	}
	if (!o->like && !nfiles) {
		fprintf(stderr, "perfkit record: which mode? cpu, offcpu, tail, requests, "
				"calls, jitter or watch (see: perfkit help record)\n");
		return 2;
	}
	if (nfiles && !strcmp(files[0], "watch") && o->output) {
		say_line("perfkit record: watch writes no recording: no --output; what "
			 "surrounds a spike is saved by -- --save DIR");
		return 2;
	}
	return 0;
}

static struct record_wish wish_of(const struct record_opts *o, const char *const *files,
				  size_t nfiles)
{
	const char *perf = getenv("PERF");
	int watch = !strcmp(files[0], "watch");
	return (struct record_wish){.perf = o->perf         ? o->perf
					    : perf && *perf ? perf
							    : "perf",
				    .output = watch       ? "-"
					      : o->output ? o->output
							  : "perf.data",
				    .pid = o->chosen.pid,
				    .tid = o->chosen.tid,
				    .cpu_list = o->chosen.cpus,
				    .cgroup = o->chosen.cgroup,
				    .stacks = o->stacks,
				    .also = o->also,
				    .cpus = (int)sysconf(_SC_NPROCESSORS_ONLN),
				    .duration = o->duration > 0 ? o->duration : 0,
				    .own_ids = o->own_ids,
				    .off_cpu_ms = o->off_cpu_ms > 0 ? o->off_cpu_ms : 0,
				    .begin = o->begin,
				    .end = o->end,
				    .key = o->key,
				    .end_key = o->end_key,
				    .command = files + 1,
				    .ncommand = watch ? 0 : nfiles - 1};
}

/* What depends on the mode, and on what perf can do here. */
static void set_defaults(struct record_wish *w, const struct record_opts *o)
{
	int cpu = w->mode == RECORD_CPU;
	w->event = o->event ? o->event : os_counts_cycles() ? "cycles" : "cpu-clock";
	w->frequency = o->frequency >= 0 ? o->frequency : cpu ? PLAN_CPU_FREQ : PLAN_FREQ;
	/* perf knows how much memory a user may lock */
	if (!o->ring)
		w->ring = geteuid() ? 0 : cpu ? PLAN_CPU_RING : PLAN_RING;
}

/* What to do if perfkit's own recorder takes a part, or not. */
static int make_plan(struct record_plan *plan, struct chosen *chosen,
		     const struct record_opts *o, struct record_wish *w,
		     const struct price_budget *budget, char stacks[BUDGET_STACKS],
		     struct recorder_choice *recorder, struct err *e)
{
	int limited = o->max_rate || o->max_cpu;
	int rc = choose(chosen, o, w, recorder->own, e);
	rc = rc ? rc : record_plan(plan, w, e);
	if (rc || !limited)
		return rc;
	return recorder->own ? budget_of_stacks(plan, w, budget, &recorder->stacks, e)
			     : budget_fit(plan, w, budget, stacks, e);
}

/* Begin with it. Where the kernel does not take it, perf may: then own is 0. */
static int open_recorder(struct recorder_choice *c, const struct record_plan *p,
			 const struct record_wish *w, struct err *e)
{
	struct err why = {0};
	if (!bpf_recorder_open(&c->kernel, p, w, c->stacks, &why))
		return 0;
	if (c->must)
		return err_set(e, ERR_REFUSED, "--recorder kernel: %s", why.msg);
	fprintf(stderr, "perfkit record: %s; perf records all\n", why.msg);
	c->own = 0;
	return 0;
}

/* Plan, and print the plan or run it. `reader` of the stream: NULL unless it is `watch`. */
static int plan_and_run(const struct record_opts *o, struct record_wish *w,
			struct words *reader, struct err *e)
{
	struct record_plan plan = {0};
	struct chosen chosen = {0};
	char stacks[BUDGET_STACKS];
	struct price_budget budget;
	struct recorder_choice recorder = {
		.stacks = chosen_any(&o->chosen) ? BPF_STACKS_BUDGET : BPF_STACKS_OF_ALL};
	int rc = check_given(o, w, e);
	rc = rc ? rc : budget_parse(&budget, o->max_rate, o->max_cpu, e);
	char *tcp_timers =
		!rc && o->also && strstr(o->also, "tcp") ? tcp_timers_filter() : NULL;
	w->tcp_timers = tcp_timers;
	rc = rc ? rc : choose_recorder(&recorder, o, w, e);
	rc = rc ? rc : make_plan(&plan, &chosen, o, w, &budget, stacks, &recorder, e);
	if (!rc && recorder.own && !o->dry_run) {
		rc = open_recorder(&recorder, &plan, w, e);
		if (!rc && !recorder.own) {
			record_plan_release(&plan);
			chosen_release(&chosen);
			plan = (struct record_plan){0};
			rc = make_plan(&plan, &chosen, o, w, &budget, stacks, &recorder, e);
		}
	}
	if (!rc && reader && !o->no_estimate && !w->off_cpu_ms)
		size_memory(reader, &plan, w);
	if (rc) {
		rc = rc == ERR_USAGE ? 2 : rc == ERR_REFUSED ? 3 : 1;
	} else if (o->dry_run) {
		print_plan(&plan, reader);
		print_stacks(o, w);
		if (!o->no_estimate && !w->off_cpu_ms)
			print_estimate(&plan, w, o->measure);
	} else {
		print_stacks(o, w);
		rc = record(&plan, w, &o->chosen, reader, o->max_rate ? budget.bytes : 0,
			    recorder.kernel, e);
	}
	bpf_recorder_close(recorder.kernel);
	record_plan_release(&plan);
	chosen_release(&chosen);
	mem_free(tcp_timers);
	return rc;
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	const struct record_opts *o = opts;
	struct words reader = {0};
	struct targets t;
	struct err e = {0};
	int rc = check_words(o, files, nfiles);
	if (rc || o->like)
		return rc ? rc : record_like(o->like);
	int watch = !strcmp(files[0], "watch");
	struct record_wish w = wish_of(o, files, nfiles);
	if (!strcmp(files[0], EMPTY_CALLS) && nfiles == 2)
		return empty_calls(files[1]);
	if (!strcmp(files[0], "calls"))
		return run_calls(o, &w);
	if (parse_mode(watch ? "offcpu" : files[0], &w.mode))
		return 2;
	set_defaults(&w, o);
	if (w.mode == RECORD_JITTER)
		return run_jitter(o, &w);
	find_targets(&t, o, &w);
	w.binary = t.binary;
	w.libc = t.libc;
	if (watch && watch_words(&reader, o, files + 1, nfiles - 1))
		rc = err_nomem(&e);
	rc = rc ? 1 : plan_and_run(o, &w, watch ? &reader : NULL, &e);
	words_release(&reader);
	if (e.msg[0])
		fprintf(stderr, "perfkit record: %s\n", e.msg);
	mem_free(t.binary);
	mem_free(t.libc);
	return rc;
}

static void defaults(void *opts)
{
	struct record_opts *o = opts;
	o->frequency = o->duration = o->off_cpu_ms = -1;
	o->jitter.control = -1;
}

const struct verb verb_record = {
	.name = "record",
	.runs_programs = 1,
	.brief = "run perf record with the options that a question needs",
	.usage = "MODE [options] [-- COMMAND...]\n   or: perfkit record --like FILE",
	.text = "MODE is the question:\n"
		"  cpu       where does CPU time go?\n"
		"  offcpu    where does waiting go?\n"
		"  tail      what happened in the worst 0.1 %, and who caused it?\n"
		"  requests  the same for requests: what lies between two functions\n"
		"  calls     what did each call of a function count?\n"
		"  jitter    what interrupts a program that wants CPUs for itself?\n"
		"  watch     which waits are too long now? options of perfkit watch follow --",
	.examples = "  perfkit record tail -p 4711 --duration 10\n"
		    "  perfkit record requests --begin handle --end reply -p 4711",
	.tables = {rows, record_jitter_rows},
	.options_size = sizeof(struct record_opts),
	.max_files = 256,
	.words = "cpu offcpu tail requests calls jitter watch",
	.exits = "the exit status of COMMAND or perf",
	.run = run,
	.defaults = defaults,
};
