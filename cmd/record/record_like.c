#include "cmd/record/record_like.h"
#include "cmd/query/examine.h"
#include "libtime/record/plan.h"

#include <stdio.h>

int record_like(const char *path)
{
	struct input_opts opts = {.no_local =
					  1}; /* this machine need not be the recorded one */
	struct findings f = {0};
	struct buf line = {0};
	struct record_plan plan = {0};
	struct input in;
	struct err e = {0};
	int rc = input_open(&in, "record", &opts, &path, 1);
	if (rc)
		return rc;
	struct record_wish wish = {.perf = "perf", .like = in.profile->rec};
	rc = input_examine(&in, 0, &f, &e);
	wish.change = f.change;
	rc = rc ? rc : record_plan(&plan, &wish, &e);
	record_plan_line(&line, &plan);
	rc = rc ? rc : buf_failed(&line) ? err_nomem(&e) : 0;
	if (rc)
		rc = input_fail(&in, &e);
	else
		puts(buf_cstr(&line));
	buf_release(&line);
	record_plan_release(&plan);
	findings_release(&f);
	input_close(&in);
	return rc;
}
