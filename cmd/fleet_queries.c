#include "cmd/fleet_queries.h"

#include <stddef.h>
#include <string.h>

const struct fleet_text fleet_preludes[] = {
	{
		"duckdb",
#include "prelude.duckdb.sql.inc"
	},
	{
		"clickhouse",
#include "prelude.clickhouse.sql.inc"
	},
	{
		"spark",
#include "prelude.spark.sql.inc"
	},
	{NULL, NULL},
};

const struct fleet_text fleet_queries[] = {
	{
		"hosts",
#include "hosts.sql.inc"
	},
	{
		"roots",
#include "roots.sql.inc"
	},
	{
		"spans",
#include "spans.sql.inc"
	},
	{
		"new",
#include "new.sql.inc"
	},
	{
		"worst",
#include "worst.sql.inc"
	},
	{
		"flame",
#include "flame.sql.inc"
	},
	{
		"cpu",
#include "cpu.sql.inc"
	},
	{
		"losses",
#include "losses.sql.inc"
	},
	{
		"clocks",
#include "clocks.sql.inc"
	},
	{NULL, NULL},
};

const struct fleet_text *fleet_named(const struct fleet_text *list, const char *name)
{
	while (list->name && strcmp(list->name, name) != 0)
		list++;
	return list->name ? list : NULL;
}
