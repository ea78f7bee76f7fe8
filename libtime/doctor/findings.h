/*
 * findings.h - what a recording cannot show, or shows wrongly, and how to record it correctly.
 *
 *	struct findings f;
 *	findings_gather(&f, &(struct findings_input){.profile = p, .timeline = &tl,
 *						     .survey = &survey}, &e);
 *	for (i < f.v.n) ... f.v.v[i].kind->id, .harm, .title, .remedies ...; f.line
 *	findings_release(&f);
 *
 * A finding is facts; render/text/finding_text.h puts it into words.
 *
 * Gathered from what reading left behind: the recording's attributes, features and statistics,
 * the profile's names, the timeline's flags, intervals and losses, the survey of all records.
 * What is absent (a folded profile has no timeline) is not checked. Every finding has
 * an id that docs/doctor.md explains.
 */
#ifndef LIBTIME_DOCTOR_FINDINGS_H
#define LIBTIME_DOCTOR_FINDINGS_H

#include "libtime/doctor/forms.h"
#include "libtime/doctor/survey.h"
#include "libtime/record/remedy.h"
#include "libtime/sched/timeline.h"
#include "libsym/profile.h"

/* What an answer suffers, least first. */
enum finding_severity {
	SEVERITY_ADVICE,  /* nothing: it could be better next time */
	SEVERITY_PARTIAL, /* something is missing, and what is there is right */
	SEVERITY_WRONG,   /* what is there misleads */
};

/* Which questions it touches. */
enum finding_topic {
	ABOUT_CPU = 1,     /* where the CPU time went */
	ABOUT_OFFCPU = 2,  /* where the waiting went, in sums */
	ABOUT_TAIL = 4,    /* single waits and spans: when, how long, who caused them */
	ABOUT_NAMES = 8,   /* what functions are called */
	ABOUT_COUNTS = 16, /* how often tracepoints and probes were hit, by stack */
};

struct finding_kind {
	const char *id;     /* "switch-sampled" */
	const char *spoils; /* one sentence: what it does to an answer */
	uint8_t topics;     /* enum finding_topic */
	uint8_t refused;    /* timeline_answerable says it too */
};

/* All kinds, in the order of docs/doctor.md; ends with an id of NULL. */
extern const struct finding_kind finding_kinds[];

enum { FINDING_DETAILS = 6, FINDING_REMEDIES = 16 };

/* Texts of facts may hold untrusted data: escape_visible before a terminal sees them. They
 * live as long as the findings. */
struct finding {
	const struct finding_kind *kind;
	uint8_t harm; /* enum finding_severity: the worst of all questions that were asked */
	uint8_t wrong_for;    /* of SEVERITY_WRONG: the topics that it misleads about; it is
			       * SEVERITY_PARTIAL for the others that it touches */
	struct remedy change; /* what it changes in the recorded line; not of a store */
	int again;            /* recording again with findings.line fixes it */
	size_t ndetails, nremedies;
	struct statement title;                    /* one line, with the numbers */
	struct statement details[FINDING_DETAILS]; /* lines below the title */
	struct statement
		remedies[FINDING_REMEDIES]; /* options that would help, or a sentence */
};

struct findings {
	VEC(struct finding) v; /* worst first, then in the order of finding_kinds */
	const char *line;      /* the command that fixes all with `again`; "": there are none */
	const char *host;      /* where it was recorded; "" = unknown */
	struct remedy change;  /* what it changes in the recorded one; not of a store */
	struct arena text;
};

struct findings_input {
	const struct profile *profile;   /* folded, or read by timeline_build */
	const struct timeline *timeline; /* NULL: only folded */
	const struct survey *survey;     /* NULL: not taken */
	unsigned asked; /* topics the user asks for; 0: those the recording was made for */
	/* Where the sums over all names are kept for the next question about the same stacks,
	 * samples and waits; *names is NULL at first, the caller's to free. NULL: nowhere. */
	struct name_weights **names;
};

/* NULL is accepted. */
void name_weights_free(struct name_weights *w);

/* Find all. Everything is borrowed for the call; the caller releases *out, also after
 * ERR_NOMEM. */
int findings_gather(struct findings *out, const struct findings_input *in, struct err *e);

/* The kind of that id; NULL when there is none. */
const struct finding_kind *finding_kind(const char *id);

/* Worst first, then in the order of finding_kinds. */
void findings_sort(struct findings *f);

/* The topics that an event says the recording was made for. */
unsigned findings_event_topics(const char *name, int is_tracepoint);

/* Those of all events together: where switches are recorded, too, probes may delimit spans;
 * where nothing else was, what there is can be counted. */
unsigned findings_all_topics(unsigned topics);

/* 1 for an event that writes an AUX trace (intel_pt): perf adds SWITCH records to such by
 * itself. */
int findings_is_trace(const char *name);

/* Give all back; the findings are empty then. */
void findings_release(struct findings *f);

/* The worst harm of all that touch one of `topics`, or -1 when nothing does. */
int findings_worst(const struct findings *f, unsigned topics);

/* The verdict about one topic: "can answer", "can answer in part" ...; of names what is
 * missing, NULL where nothing is. */
const char *findings_verdict(const struct findings *f, unsigned topic);

/*
 * Why an answer about `topics` would mislead, or NULL when it would not: what `doctor` calls
 * wrong, and why the verb that answers refuses. The one place where that is decided.
 */
const struct finding *findings_refusal(const struct findings *f, unsigned topics);

/* The topics a recording was evidently made for: has it samples of a clock or counter, context
 * switches, probes? */
unsigned findings_made_for(const struct recording *rec);

/* "advice", "partial", "wrong". */
const char *finding_harm_name(unsigned harm);

#endif
