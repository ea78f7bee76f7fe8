/*
 * describe.h - fills in the facts about a recording as a file (file_facts.h).
 */
#ifndef LIBTIME_DOCTOR_DESCRIBE_H
#define LIBTIME_DOCTOR_DESCRIBE_H

#include "libsym/profile.h"
#include "libtime/store/file_facts.h"

/* Everything except counts of events and names. The facts share the profile's strings; release
 * them after a failure, too. ERR_NOMEM. */
int describe_recording(struct file_facts *out, struct profile *p, const char *path);

/* Count the samples of each event, from a folded profile or from a timeline with all samples.
 */
void describe_folded(struct file_facts *out, const struct profile *p);
void describe_timeline(struct file_facts *out, const struct timeline *tl);

#endif
