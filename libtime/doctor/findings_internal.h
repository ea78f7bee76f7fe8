/*
 * findings_internal.h - what the files findings_*.c share. Each looks at one aspect of
 * a recording and adds its findings.
 */
#ifndef LIBTIME_DOCTOR_FINDINGS_INTERNAL_H
#define LIBTIME_DOCTOR_FINDINGS_INTERNAL_H

#include "libtime/doctor/findings.h"

typedef unsigned long long ull; /* for printf */

struct diagnosis {
	const struct findings_input *in;
	const struct recording *rec;
	struct findings *out;
	unsigned asked;
	uint64_t samples;          /* records with a stack or a weight */
	struct remedy remedy;      /* the changes of all findings to the recorded line */
	int no_kernel_map;         /* there are kernel samples, but no mapping of the kernel */
	uint64_t mapless;          /* samples and waits that diagnose_maps has reported */
	uint64_t suspect, unwoken; /* waits: OFF_SUSPECT, UNKNOWN_NO_WAKE; by diagnose_loss */
	int failed;                /* ERR_NOMEM */
};

/* Facts as two arguments: FACTS(fact_number(...), fact_text(...)), NO_FACTS. */
#define FACTS(...)                          \
	(const struct fact[]){__VA_ARGS__}, \
		sizeof((const struct fact[]){__VA_ARGS__}) / sizeof(struct fact)
#define NO_FACTS NULL, 0
#define EVENT_FACT(name) FACTS(fact_text("event", FACT_EVENT, name))

/* Add a finding by the form of its title. The texts of facts are copied, their names are not.
 * The result is valid until the next one is added; NULL without memory (see j->failed). */
struct finding *diagnose_add(struct diagnosis *j, enum form title,
			     enum finding_severity severity, const struct fact *facts,
			     size_t n);

/* Add a remedy, or a line of detail; f may be NULL. */
void diagnose_remedy(struct diagnosis *j, struct finding *f, enum form form,
		     const struct fact *facts, size_t n);
void diagnose_detail(struct diagnosis *j, struct finding *f, enum form form,
		     const struct fact *facts, size_t n);

/* The remedy is to record again, with these changes to the recorded line; f may be NULL. */
void diagnose_record(struct diagnosis *j, struct finding *f, const struct remedy *change);

/* 1 if that would change the recorded line. */
int diagnose_line_changes(struct diagnosis *j, const struct remedy *change);

/* Is it user code at an address in no mapping? */
int diagnose_is_unmapped(const struct frame *fr);

/* Samples (and waits) by the path of their stack; NULL without memory. The caller frees it. */
uint64_t *diagnose_path_sums(const struct findings_input *in);

/* Bytes of a stack copy: enough in most cases, the least that is useful, and perf's limit. */
enum { DUMP_ENOUGH = 16384, DUMP_LEAST = 4096, DUMP_MAX = 65528 };

/* The size of the largest stack copy in the recording; 0: none. */
uint32_t diagnose_dump_size(const struct diagnosis *j);

/* The size of copies for a recording that lost many records: smaller, but still useful. */
uint32_t diagnose_dump_smaller(const struct diagnosis *j);

/* The remedy of f: a file instead of a pipe, whose records are out of order. */
void diagnose_suggest_file(struct diagnosis *j, struct finding *f);

/* The remedy of f: stack copies instead of frame pointers. */
void diagnose_suggest_copies(struct diagnosis *j, struct finding *f);

static inline double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

void diagnose_file(struct diagnosis *j);   /* cut off, broken, quirks of perf */
void diagnose_loss(struct diagnosis *j);   /* lost records, holes, throttling */
void diagnose_order(struct diagnosis *j);  /* late records, clocks that differ */
void diagnose_events(struct diagnosis *j); /* which events were requested, and how */
void diagnose_waits(struct diagnosis *j);  /* what the timeline cannot answer */
void diagnose_stacks(
	struct diagnosis *j); /* which stacks were requested, and which were recorded */
void diagnose_maps(struct diagnosis *j); /* processes without mappings; before diagnose_names */
void diagnose_names(struct diagnosis *j);    /* names, by share of the samples without */
void diagnose_runtimes(struct diagnosis *j); /* interpreters that hide what they run */

#endif
