/*
 * describe.h - what a recording is as a file (file_facts.h), from what reading it left behind.
 */
#ifndef LIBTIME_DOCTOR_DESCRIBE_H
#define LIBTIME_DOCTOR_DESCRIBE_H

#include "libsym/profile.h"
#include "libtime/store/file_facts.h"

/* All but counts of events and names. The facts share the profile's strings; to be released
 * after a failure, too. ERR_NOMEM. */
int describe_recording(struct file_facts *out, struct profile *p, const char *path);

/* Count the events: of a folded profile, or of a timeline with all samples. */
void describe_folded(struct file_facts *out, const struct profile *p);
void describe_timeline(struct file_facts *out, const struct timeline *tl);

#endif
