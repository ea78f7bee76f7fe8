#include "cmd/answer/report_waits.h"
#include "cmd/answer/report_functions.h"
#include "cmd/input/output.h"
#include "render/tail/rows_text.h"
#include "render/text/units.h"

#include <stdio.h>

int report_waits(struct tlinput *ti, const struct report_opts *o)
{
	struct rows r;
	struct buf out = {0};
	struct err e = {0};
	int rc = report_thread_rows(ti, o, &r);
	if (!rc) {
		rows_totals(&out, &ti->tl, &r);
		buf_char(&out, '\n');
		rows_table(&out, &ti->tl, &r,
			   report_is_brief(o) ? REPORT_THREADS : report_top(o), output_width());
	}
	if (!rc && r.hidden) {
		units_plural(&out, r.hidden, "thread", "threads");
		buf_str(&out, " of the kernel and perf hidden (show with --system)\n");
	}
	fputs(buf_cstr(&out), stdout);
	int failed = buf_failed(&out);
	buf_release(&out);
	rows_release(&r);
	return rc ? rc : failed ? input_fail(&ti->in, (err_nomem(&e), &e)) : 0;
}
