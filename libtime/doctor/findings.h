/*
 * findings.h - what a recording cannot show, or shows wrongly, and how to record it correctly.
 *
 *	struct findings f;
 *	findings_gather(&f, &(struct findings_input){.profile = p, .timeline = &tl,
 *						     .survey = &survey}, &e);
 *	for (i < f.v.n) ... f.v.v[i].kind->id, .severity, .title, .remedies ...; f.line
 *	findings_release(&f);
 *
 * A finding consists of facts; render/text/finding_text.h puts it into words.
 *
 * The sources are the recording's attributes, features and statistics, the profile's names, the
 * timeline's flags, intervals and losses, and the survey of all records. What is absent (a
 * folded profile has no timeline) is not checked. docs/doctor.md explains the id of every
 * finding.
 */
#ifndef LIBTIME_DOCTOR_FINDINGS_H
#define LIBTIME_DOCTOR_FINDINGS_H

#include "libtime/doctor/forms.h"
#include "libtime/doctor/survey.h"
#include "libtime/record/price.h"
#include "libtime/record/remedy.h"
#include "libtime/sched/timeline.h"
#include "libsym/profile.h"

/* How much an answer suffers, least first. */
enum finding_severity {
	SEVERITY_ADVICE,  /* not at all, but the next recording could be better */
	SEVERITY_PARTIAL, /* something is missing; the rest is right */
	SEVERITY_WRONG,   /* it misleads */
};

/* Which questions a finding is about. */
enum finding_topic {
	ABOUT_CPU = 1,     /* where the CPU time went */
	ABOUT_OFFCPU = 2,  /* where the waiting went, in sums */
	ABOUT_TAIL = 4,    /* single waits and spans: when, how long, who caused them */
	ABOUT_NAMES = 8,   /* names of functions */
	ABOUT_COUNTS = 16, /* how often tracepoints and probes were hit, by stack */
};

struct finding_kind {
	const char *id;     /* "switch-sampled" */
	const char *impact; /* one sentence: its effect on an answer */
	uint8_t topics;     /* enum finding_topic */
	uint8_t refused;    /* 1: timeline_answerable refuses it, too */
};

/* All kinds, in the order of docs/doctor.md; ends with an id of NULL. */
extern const struct finding_kind finding_kinds[];

enum { FINDING_DETAILS = 6, FINDING_REMEDIES = 16 };

/* Texts of facts may be untrusted: pass them through escape_visible before printing. They live
 * as long as the findings. */
struct finding {
	const struct finding_kind *kind;
	uint8_t severity;     /* enum finding_severity: the worst for any of the asked topics */
	uint8_t wrong_for;    /* SEVERITY_WRONG: the topics that it misleads about; it is
			       * SEVERITY_PARTIAL for its other topics */
	struct remedy change; /* its changes to the recorded line; not in a store */
	int again;            /* 1: recording again with findings.line fixes it */
	size_t ndetails, nremedies;
	struct statement title;                    /* one line, with the numbers */
	struct statement details[FINDING_DETAILS]; /* lines below the title */
	struct statement
		remedies[FINDING_REMEDIES]; /* options that would help, or a sentence */
};

struct findings {
	VEC(struct finding) v; /* worst first, then in the order of finding_kinds */
	const char *
		line; /* the command that fixes all findings with `again`; "": there are none */
	const char *host;       /* where it was recorded; "" = unknown */
	struct remedy change;   /* its changes to the recorded line; not in a store */
	struct price_paid paid; /* what the recording cost; zero for a store */
	struct arena text;
};

struct findings_input {
	const struct profile *profile;   /* folded, or read by timeline_build */
	const struct timeline *timeline; /* NULL: folded only */
	const struct survey *survey;     /* NULL: none */
	unsigned asked; /* topics that the user asks for; 0: those the recording was made for */
	/* Keeps the sums over all names for the next question about the same stacks, samples and
	 * waits. *names is NULL at first; the caller frees it. NULL: do not keep them. */
	struct name_weights **names;
	struct mapless **maps; /* the same for samples and waits without mappings */
};

/* NULL is accepted. */
void name_weights_free(struct name_weights *w);
void mapless_free(struct mapless *l);

/* Find everything. All inputs are borrowed for the call; the caller releases *out, even after
 * ERR_NOMEM. */
int findings_gather(struct findings *out, const struct findings_input *in, struct err *e);

/* The kind with that id, or NULL. */
const struct finding_kind *finding_kind(const char *id);

/* Sort: worst first, then in the order of finding_kinds. */
void findings_sort(struct findings *f);

/* The topics that a recording with that event is meant for. */
unsigned findings_event_topics(const char *name, int is_tracepoint);

/* The topics of all events together: with switches, probes may delimit spans; if there is
 * nothing else, events can be counted. */
unsigned findings_all_topics(unsigned topics);

/* 1 for an event that writes an AUX trace (intel_pt), to which perf adds SWITCH records by
 * itself. */
int findings_is_trace(const char *name);

/* Release everything; the findings are then empty. */
void findings_release(struct findings *f);

/* The worst severity of all findings about `topics`, or -1 if there are none. */
int findings_worst(const struct findings *f, unsigned topics);

/* The verdict about one topic: "can answer", "can answer in part" ...; for ABOUT_NAMES what is
 * missing, or NULL. */
const char *findings_verdict(const struct findings *f, unsigned topic);

/*
 * Why an answer about `topics` would mislead, or NULL. Only this decides both what `doctor`
 * calls wrong and what other commands refuse to answer.
 */
const struct finding *findings_refusal(const struct findings *f, unsigned topics);

/* The topics that a recording is meant for, by its events: clocks and counters, context
 * switches, probes. */
unsigned findings_intended_topics(const struct recording *rec);

/* "advice", "partial", "wrong". */
const char *finding_severity_name(unsigned severity);

#endif
