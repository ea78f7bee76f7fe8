/*
 * findings_internal.h - what the files findings_*.c share. Each looks at one side of
 * a recording and adds what it finds.
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
	uint64_t samples;     /* records that carry a stack or a weight */
	struct remedy remedy; /* what all findings change in the recorded line */
	int no_kernel_map;    /* samples in the kernel, and no word of where it is */
	uint64_t
		mapless; /* samples and waits reported as those of processes without mappings */
	int failed;      /* ERR_NOMEM */
};

/* Facts as two arguments: FACTS(fact_number(...), fact_text(...)), NO_FACTS. */
#define FACTS(...)                          \
	(const struct fact[]){__VA_ARGS__}, \
		sizeof((const struct fact[]){__VA_ARGS__}) / sizeof(struct fact)
#define NO_FACTS NULL, 0
#define EVENT_FACT(name) FACTS(fact_text("event", FACT_EVENT, name))

/* Add a finding by the form of its title; the texts of facts are copied, their names kept. The
 * result is good until the next one is added; NULL when there is no memory (kept in j->failed).
 */
struct finding *diagnose_add(struct diagnosis *j, enum form title, enum finding_severity harm,
			     const struct fact *facts, size_t n);

/* Set its remedy, or add a line of detail; f may be NULL. */
void diagnose_remedy(struct diagnosis *j, struct finding *f, enum form form,
		     const struct fact *facts, size_t n);
void diagnose_detail(struct diagnosis *j, struct finding *f, enum form form,
		     const struct fact *facts, size_t n);

/* Its remedy is to record again, with these changes of the recorded line; f may be NULL. */
void diagnose_record(struct diagnosis *j, struct finding *f, const struct remedy *change);

/* 1 when that would change anything of the recorded line. */
int diagnose_line_changes(struct diagnosis *j, const struct remedy *change);

/* User code at an address that no mapping holds. */
int diagnose_is_unmapped(const struct frame *fr);

/* What to copy of a stack where frame pointers do not do; what perf copies, and can copy. */
enum { DUMP_ENOUGH = 16384, DUMP_LEAST = 4096, DUMP_MAX = 65528 };

/* The largest stack copy that was asked for; 0: none. */
uint32_t diagnose_dump_asked(const struct diagnosis *j);

/* Copies for a recording that lost many records: smaller ones, but not of no use. */
uint32_t diagnose_dump_smaller(const struct diagnosis *j);

/* The remedy of f: what came through a pipe in disorder is right as a file. */
void diagnose_ask_the_file(struct diagnosis *j, struct finding *f);

/* The remedy of f: stacks by copies instead of frame pointers. */
void diagnose_copy_instead(struct diagnosis *j, struct finding *f);

static inline double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

void diagnose_file(struct diagnosis *j);   /* cut off, broken, quirks of perf */
void diagnose_loss(struct diagnosis *j);   /* lost records, holes, throttling */
void diagnose_order(struct diagnosis *j);  /* late records, clocks that differ */
void diagnose_events(struct diagnosis *j); /* what was asked of the kernel */
void diagnose_waits(struct diagnosis *j);  /* what the timeline cannot say */
void diagnose_stacks(struct diagnosis *j); /* what was asked for and what came */
void diagnose_maps(struct diagnosis *j); /* processes without mappings; before diagnose_names */
void diagnose_names(struct diagnosis *j); /* by share of the samples that lack them */

#endif
