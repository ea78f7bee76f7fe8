/*
 * scope.h - which findings affect the selected threads, CPUs and time. What is missing
 * elsewhere in a recording is not a reason to warn.
 */
#ifndef LIBTIME_DOCTOR_SCOPE_H
#define LIBTIME_DOCTOR_SCOPE_H

#include "libtime/doctor/findings.h"
#include "libtime/population/population.h"

/* Remove from `f` the findings that affect no wait or sample of the population. Without filters
 * of threads, CPUs and time, all stay. Lost records stay if the question (`topics`, ABOUT_*) is
 * about samples, because it is not known whose they were. ERR_NOMEM. */
int scope_findings(const struct timeline *tl, const struct population *of, unsigned topics,
		   struct findings *f);

#endif
