/*
 * gap_files.h - files of the spinners' gaps: with all gaps, in the format of
 * libtime/side/gaps.h, and for other tools, in the CSV and the line protocol of jitter
 * samplers.
 *
 *	time,delay[,cpu]                      wall clock at the end of the gap, its length; ns
 *	jitter,host=H,cpu=1 latency=4240 1718000000100000000       InfluxDB
 */
#ifndef CMD_JITTER_GAP_FILES_H
#define CMD_JITTER_GAP_FILES_H

#include "base/outfile.h"
#include "cmd/jitter/spin.h"

/* NULL: do not write this file. "-" is stdout. */
struct gap_paths {
	const char *gaps, *csv, *influx;
	int derived; /* the user did not type the first one */
};

/* ERR_USAGE if two have the same name. */
int gap_paths_check(const struct gap_paths *p, struct err *e);

struct gap_files {
	struct outfile gaps, csv, influx; /* f is NULL if not written */
	uint64_t to_real_ns;              /* to be added to CLOCK_MONOTONIC */
	char host[65];
	int control; /* this CPU's gaps are not for other tools; -1: none */
	int several; /* CSV names the CPU */
};

/* Open the files of n spinners. `control` is the control's CPU, whose spinner is the last; -1:
 * there is none. ERR_IO, or ERR_USAGE where two have one name: no file is left open. */
int gap_files_open(struct gap_files *f, const struct gap_paths *paths, const struct spin *s,
		   size_t n, int control, struct err *e);

/* Write one gap; to be used as spin_wish.gap, with the struct gap_files as `files`. */
void gap_files_add(void *files, int cpu, uint64_t begin_ns, uint64_t end_ns);

/* Write what is known only at the end, then commit all files; if `rc` is not 0, abort them.
 * ERR_IO. */
int gap_files_end(struct gap_files *f, const struct spin *s, size_t n, int rc, struct err *e);

#endif
