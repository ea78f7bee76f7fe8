/*
 * gap_files.h - the gaps of spinners in files: all of them as libtime/side/gaps.h reads them,
 * and, for other tools, as the CSV and the line protocol that jitter samplers write.
 *
 *	time,delay[,cpu]                      wall clock at the end of the gap, its length; ns
 *	jitter,host=H,cpu=1 latency=4240 1718000000100000000       InfluxDB
 */
#ifndef CMD_JITTER_GAP_FILES_H
#define CMD_JITTER_GAP_FILES_H

#include "base/outfile.h"
#include "cmd/jitter/spin.h"

/* NULL: no such file. "-" is stdout. */
struct gap_paths {
	const char *gaps, *csv, *influx;
};

struct gap_files {
	struct outfile gaps, csv, influx; /* f is NULL of those that are not written */
	uint64_t to_real_ns;              /* to be added to CLOCK_MONOTONIC */
	char host[65];
	int control; /* this CPU's gaps are not for other tools; -1: none */
	int several; /* CSV names the CPU */
};

/* Open the files of n spinners, the last of them the control where `control` is a CPU. ERR_IO:
 * then there are none. */
int gap_files_open(struct gap_files *f, const struct gap_paths *paths, const struct spin *s,
		   size_t n, int control, struct err *e);

/* One gap: for spin_wish.gap, `files` being the struct. */
void gap_files_add(void *files, int cpu, uint64_t begin_ns, uint64_t end_ns);

/* What is known at the end, then commit all; with `rc` not 0, abort all. ERR_IO. */
int gap_files_end(struct gap_files *f, const struct spin *s, size_t n, int rc, struct err *e);

#endif
