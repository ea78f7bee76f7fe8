/*
 * html_labels.h - labels as columns of a report, by which the page filters: the value of each
 * key for samples, waits, running times and spans (libtime/spans/label_lanes.h). For key number
 * K:
 *
 *	sample.labelK, span.labelK    its value (a string; 0: none)
 *	wait.partsK, run.partsK       pieces with values of their own; 0: one, without a value
 *	pieceK.ns, .value             the pieces, in the order of life.*; 0 ns: up to the end
 */
#ifndef RENDER_HTML_HTML_LABELS_H
#define RENDER_HTML_HTML_LABELS_H

#include "libtime/population/population.h"
#include "render/html/html_column.h"

enum { HTML_LABELS = 8 }; /* keys; if there are spans, "span" is among the first two */

struct html_label {
	const char *key; /* borrowed */
	struct label_lanes lanes;
	struct html_column *sample, *span, *parts[2], *ns,
		*value; /* parts: of runs, of waits */
};

/* Zero-initialised is empty. */
struct html_labels {
	struct html_label v[HTML_LABELS];
	size_t n;
	const struct timeline *tl;
	struct strtab *strings; /* of the page */
	struct u64map no;       /* strings of the timeline → theirs */
	const char *chosen;     /* the key, or NULL, and the value (strings id) that the page */
	uint32_t chosen_value;  /* begins with */
};

/* Find the keys of a timeline and make their columns; all arguments are borrowed. The label of
 * `of`, if it has one, is there in any case, and chosen. ERR_NOMEM. */
int html_labels_begin(struct html_labels *x, const struct timeline *tl,
		      const struct population *of, struct strtab *strings,
		      struct html_columns *to);

/* Add the value of each key for a sample, a span, or a thread in [from, to). ERR_NOMEM. */
int html_labels_sample(struct html_labels *x, const struct tl_sample *s);
int html_labels_span(struct html_labels *x, uint32_t span);
int html_labels_interval(struct html_labels *x, int is_wait, uint32_t thread, uint32_t path,
			 uint64_t from, uint64_t to);

/* "labels": [key, ...] and "label": KEY=VALUE or null, into an open JSON object. */
void html_labels_head(const struct html_labels *x, struct json *j);
void html_labels_release(struct html_labels *x);

#endif
