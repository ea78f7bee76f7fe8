/*
 * report_sites.h - `perfkit report --by site`: all wait sites with verdict and reason.
 */
#ifndef CMD_REPORT_SITES_H
#define CMD_REPORT_SITES_H

#include "cmd/query/timeline_input.h"

/* Print the sites of the waits that pass the filters, those with the longest wait first, at
 * most `top` (0 = all). ERR_NOMEM. */
int report_sites(const struct tlinput *ti, int top, int system);

#endif
