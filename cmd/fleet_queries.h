/*
 * fleet_queries.h - the questions of fleet/, compiled in.
 */
#ifndef CMD_FLEET_QUERIES_H
#define CMD_FLEET_QUERIES_H

struct fleet_text {
	const char *name; /* "hosts"; of a prelude, the engine's: "duckdb" */
	const char *sql;
};

/* Both end with a NULL name. */
extern const struct fleet_text fleet_queries[], fleet_preludes[];

/* The one with that name in a list, or NULL. */
const struct fleet_text *fleet_named(const struct fleet_text *list, const char *name);

#endif
