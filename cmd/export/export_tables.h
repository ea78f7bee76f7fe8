/*
 * export_tables.h - `export --to parquet`: recordings as Parquet files, which engines that
 * answer questions about a fleet read in place.
 *
 *	DIR/offcpu/date=2026-08-03/host=web-17/3f09c1d2a4b5e677.parquet
 *
 * Each recording is one file in each table's folder, named after its id, a hash of its bytes:
 * it counts once however often it is exported, and the last export wins. The files of a
 * recording appear when all of them are written, that of `recordings` last.
 */
#ifndef CMD_EXPORT_EXPORT_TABLES_H
#define CMD_EXPORT_EXPORT_TABLES_H

#include "cmd/query/timeline_input.h"

/* Export the recordings at `paths` (n of them) below the folder `dir`, which is made. 0, or the
 * exit status after one line on stderr. */
int export_tables(const struct tlinput_opts *opt, const char *dir, const char *const *paths,
		  size_t n);

#endif
