/*
 * scope.h - which findings touch the threads, CPUs and time that were asked about. What is
 * missing elsewhere in a recording is no warning.
 */
#ifndef LIBTIME_DOCTOR_SCOPE_H
#define LIBTIME_DOCTOR_SCOPE_H

#include "libtime/doctor/findings.h"
#include "libtime/population/population.h"

/* Take out of `f` the findings about things that no wait or sample of the population has.
 * Without filters of threads, CPUs and time all stay; so does what lost records say where the
 * question (`topics`, ABOUT_*) is about samples: whose they were is not known. ERR_NOMEM. */
int scope_findings(const struct timeline *tl, const struct population *of, unsigned topics,
		   struct findings *f);

#endif
