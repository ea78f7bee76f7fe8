#include "cmd/record_plan.h"
#include "base/mem.h"
#include "base/shellword.h"
#include "libsym/unwind/arch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { CPU_DUMP = 8192, SWITCH_DUMP = 4096, DUMP_MAX = 65528 };

int words_add(struct words *w, const char *fmt, ...)
{
	va_list ap;
	char *word = NULL;
	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n >= 0)
		word = mem_alloc((size_t)n + 1);
	if (!word)
		return ERR_NOMEM;
	va_start(ap, fmt);
	vsnprintf(word, (size_t)n + 1, fmt, ap);
	va_end(ap);
	if (vec_push(&w->v, word)) {
		mem_free(word);
		return ERR_NOMEM;
	}
	return 0;
}

void words_line(struct buf *out, const struct words *w)
{
	for (size_t i = 0; i < w->v.n; i++) {
		if (i)
			buf_char(out, ' ');
		shell_word(out, w->v.v[i]);
	}
}

void words_release(struct words *w)
{
	for (size_t i = 0; i < w->v.n; i++)
		mem_free(w->v.v[i]);
	vec_release(&w->v);
}

void record_plan_release(struct record_plan *p)
{
	words_release(&p->lock_probe);
	words_release(&p->probes[0]);
	words_release(&p->probes[1]);
	words_release(&p->record);
	words_release(&p->undo);
}

/* --- stacks --------------------------------------------------------------------------------
 */

/* "dwarf,16384" → bytes of the dump; 0 for fp, -1 for none, -2 for what is neither. */
static int dump_size(const char *call_graph, int normal)
{
	char *end;
	if (!call_graph || !strcmp(call_graph, "dwarf"))
		return normal;
	if (!strcmp(call_graph, "fp"))
		return 0;
	if (!strcmp(call_graph, "none"))
		return -1;
	if (strncmp(call_graph, "dwarf,", 6))
		return -2;
	long n = strtol(call_graph + 6, &end, 10);
	/* perf wants a multiple of 8 that fits a record */
	return *end || n < 8 || n > DUMP_MAX || n % 8 ? -2 : (int)n;
}

/* EVENT/…/ with the stack kind of that event; `more` are further terms. */
static int add_event(struct words *w, const char *event, const char *more, int dump)
{
	char graph[64] = "";
	if (dump > 0)
		snprintf(graph, sizeof(graph), "call-graph=dwarf,stack-size=%d", dump);
	else if (!dump)
		snprintf(graph, sizeof(graph), "call-graph=fp");
	const char *comma = *more && *graph ? "," : "";
	int rc = words_add(w, "-e");
	if (rc)
		return rc;
	if (!*more && !*graph)
		return words_add(w, "%s", event);
	return words_add(w, "%s/%s%s%s/", event, more, comma, graph);
}

/* --- events --------------------------------------------------------------------------------
 */

static int add_cpu_event(struct words *w, const struct record_wish *x, int dump)
{
	char terms[200];
	/* with terms the event would be called by all of them */
	snprintf(terms, sizeof(terms), "freq=%d,name=%.100s", x->frequency, x->event);
	return add_event(w, x->event, terms, dump);
}

/* The waker's stack is its own frame-pointer chain: a dump a waking would be too much. */
static int waker_stack(int dump)
{
	return dump < 0 ? -1 : 0;
}

static int add_sched_events(struct words *w, int dump)
{
	static const char *const plain[] = {
		"sched:sched_wakeup",       "sched:sched_wakeup_new",
		"sched:sched_migrate_task", "sched:sched_process_fork",
		"sched:sched_process_exec", "sched:sched_process_exit"};
	int rc = add_event(w, "sched:sched_switch", "", dump);
	if (!rc)
		rc = add_event(w, "sched:sched_waking", "", waker_stack(dump));
	for (size_t i = 0; !rc && i < sizeof(plain) / sizeof(*plain); i++)
		rc = add_event(w, plain[i], "", -1);
	return rc;
}

static int add_tail_events(struct words *w, const struct record_wish *x, int dump)
{
	int rc = add_sched_events(w, dump);
	if (!rc)
		rc = add_event(w, "irq:irq_handler_entry", "", -1);
	if (!rc)
		rc = add_event(w, "irq:softirq_entry", "", -1);
	if (!rc)
		rc = add_cpu_event(w, x, dump);
	return rc;
}

static int add_events(struct record_plan *p, const struct record_wish *x, int dump)
{
	struct words *w = &p->record;
	int rc = x->mode == RECORD_OFFCPU ? add_sched_events(w, dump)
					  : add_tail_events(w, x, dump);
	if (!rc && x->mode == RECORD_REQUESTS) {
		rc = add_event(w, x->end ? "perfkit:req_start" : "perfkit:request", "", -1);
		if (!rc)
			rc = add_event(w,
				       x->end ? "perfkit:req_end" : "perfkit:request__return",
				       "", -1);
	}
	if (!rc && p->lock_probe.v.n)
		rc = add_event(w, "perfkit:lock_wait", "", -1);
	return rc;
}

/* --- probes --------------------------------------------------------------------------------
 */

static int add_probe(struct words *w, const struct record_wish *x, const char *binary,
		     const char *what)
{
	int rc = words_add(w, "%s", x->perf);
	if (!rc)
		rc = words_add(w, "probe");
	if (!rc)
		rc = words_add(w, "-q");
	if (!rc)
		rc = words_add(w, "-x");
	if (!rc)
		rc = words_add(w, "%s", binary);
	if (!rc)
		rc = words_add(w, "--add");
	return rc ? rc : words_add(w, "%s", what);
}

static int add_undo(struct record_plan *p, const struct record_wish *x, const char *event)
{
	int rc = 0;
	if (!p->undo.v.n) {
		rc = words_add(&p->undo, "%s", x->perf);
		if (!rc)
			rc = words_add(&p->undo, "probe");
		if (!rc)
			rc = words_add(&p->undo, "-q");
	}
	if (!rc)
		rc = words_add(&p->undo, "-d");
	return rc ? rc : words_add(&p->undo, "%s", event);
}

/*
 * glibc's slow path of a contended mutex: called with the lock word's address, which is also
 * the mutex's; the owner's tid stands 8 bytes behind (struct __pthread_mutex_s). On a machine
 * whose registers are not known there is no probe.
 */
static int plan_lock_probe(struct record_plan *p, const struct record_wish *x)
{
	struct utsname here;
	const struct arch *arch = uname(&here) ? NULL : arch_named(here.machine);
	char what[128];
	if (!arch)
		return 0;
	snprintf(what, sizeof(what),
		 "perfkit:lock_wait=__lll_lock_wait mutex=%s word=+0(%s):u32 owner=+8(%s):s32",
		 arch->first_arg, arch->first_arg, arch->first_arg);
	int rc = add_probe(&p->lock_probe, x, x->libc, what);
	return rc ? rc : add_undo(p, x, "perfkit:lock_wait");
}

static int plan_request_probes(struct record_plan *p, const struct record_wish *x)
{
	struct buf begin = {0}, end = {0};
	buf_fmt(&begin, "perfkit:%s=%s", x->end ? "req_start" : "request", x->begin);
	buf_fmt(&end, x->end ? "perfkit:req_end=%s" : "perfkit:request=%s%%return",
		x->end ? x->end : x->begin);
	if (x->key)
		buf_fmt(&begin, " key=%s", x->key);
	if (x->end_key || (x->key && x->end))
		buf_fmt(&end, " key=%s", x->end_key ? x->end_key : x->key);
	int rc = buf_failed(&begin) || buf_failed(&end) ? ERR_NOMEM : 0;
	if (!rc)
		rc = add_probe(&p->probes[0], x, x->binary, buf_cstr(&begin));
	if (!rc)
		rc = add_probe(&p->probes[1], x, x->binary, buf_cstr(&end));
	if (!rc)
		rc = add_undo(p, x, x->end ? "perfkit:req_start" : "perfkit:request");
	if (!rc)
		rc = add_undo(p, x, x->end ? "perfkit:req_end" : "perfkit:request__return");
	p->span = x->end ? "req" : "request";
	buf_release(&begin);
	buf_release(&end);
	return rc;
}

/* --- the line ------------------------------------------------------------------------------
 */

static int check(const struct record_wish *x, struct err *e)
{
	if (x->command && x->ncommand && x->pid)
		return err_set(e, ERR_USAGE, "give a command or -p, not both");
	if (x->ncommand && x->duration)
		return err_set(e, ERR_USAGE, "give a command or --duration, not both");
	if (x->mode == RECORD_REQUESTS && (!x->begin || !x->binary))
		return err_set(e, ERR_USAGE,
			       x->begin ? "requests needs -p PID, --exec FILE or a command, to "
					  "find the function in"
					: "requests needs --begin FUNC");
	if (x->mode != RECORD_REQUESTS && (x->begin || x->end || x->key || x->end_key))
		return err_set(e, ERR_USAGE, "--begin, --end and --key apply only to requests");
	if (dump_size(x->call_graph, 8) == -2)
		return err_set(
			e, ERR_USAGE,
			"--call-graph is fp, none or dwarf[,BYTES], BYTES a multiple of 8 "
			"up to %d, not '%s'",
			DUMP_MAX, x->call_graph);
	if (x->frequency < 1 || x->frequency > 100000)
		return err_set(e, ERR_USAGE, "--freq must be 1 to 100000 Hz");
	return 0;
}

/* cpu: one event, sampled by frequency, of the process alone if one is named. */
static int plan_cpu(struct words *w, const struct record_wish *x)
{
	int dump = dump_size(x->call_graph, CPU_DUMP), rc = 0;
	if (!x->pid && !x->ncommand)
		rc = words_add(w, "-a");
	if (!rc && x->pid)
		rc = words_add(w, "-p") || words_add(w, "%s", x->pid);
	if (!rc)
		rc = words_add(w, "-e") || words_add(w, "%s", x->event) || words_add(w, "-F") ||
		     words_add(w, "%d", x->frequency);
	if (!rc && dump >= 0)
		rc = words_add(w, "--call-graph") ||
		     (dump ? words_add(w, "dwarf,%d", dump) : words_add(w, "fp"));
	return rc ? ERR_NOMEM : 0;
}

static int plan_waits(struct record_plan *p, const struct record_wish *x)
{
	struct words *w = &p->record;
	if (words_add(w, "-a") || words_add(w, "-c") || words_add(w, "1"))
		return ERR_NOMEM;
	return add_events(p, x, dump_size(x->call_graph, SWITCH_DUMP));
}

static int plan_target(struct words *w, const struct record_wish *x)
{
	int rc = words_add(w, "-o") || words_add(w, "%s", x->output);
	if (!rc && x->ncommand)
		rc = words_add(w, "--");
	for (size_t i = 0; !rc && i < x->ncommand; i++)
		rc = words_add(w, "%s", x->command[i]);
	if (!rc && x->duration)
		rc = words_add(w, "--") || words_add(w, "sleep") ||
		     words_add(w, "%d", x->duration);
	return rc ? ERR_NOMEM : 0;
}

int record_plan(struct record_plan *p, const struct record_wish *x, struct err *e)
{
	struct words *w = &p->record;
	*p = (struct record_plan){0};
	int rc = check(x, e);
	if (rc)
		return rc;
	if (x->libc && (x->mode == RECORD_TAIL || x->mode == RECORD_REQUESTS))
		rc = plan_lock_probe(p, x);
	if (!rc && x->mode == RECORD_REQUESTS)
		rc = plan_request_probes(p, x);
	if (!rc)
		rc = words_add(w, "%s", x->perf) || words_add(w, "record") ||
		     words_add(w, "-k") || words_add(w, "CLOCK_MONOTONIC") ||
		     words_add(w, "--buildid-all");
	if (!rc && x->pages)
		rc = words_add(w, "-m") || words_add(w, "%d", x->pages);
	if (!rc)
		rc = x->mode == RECORD_CPU ? plan_cpu(w, x) : plan_waits(p, x);
	if (!rc)
		rc = plan_target(w, x);
	return rc ? err_nomem(e) : 0;
}
