#include "cmd/answer/report_waits.h"
#include "cmd/answer/report_functions.h"
#include "cmd/input/output.h"
#include "render/tail/rows_text.h"
#include "render/text/units.h"

int report_waits(struct tlinput *ti, const struct report_opts *o, struct buf *out)
{
	int brief = report_is_brief(o);
	struct rows r = {.kind = NULL};
	int rc = report_rows(ti, o, table_kind_of("thread"), &r);
	if (!rc) {
		buf_str(out, brief ? "\n" : "");
		rows_totals(out, &ti->tl, &r, brief);
		buf_str(out, brief ? "" : "\n");
		rows_table(out, &ti->tl, &r, brief ? REPORT_THREADS : report_top(o),
			   output_width());
	}
	if (!rc && r.hidden && !brief) {
		units_plural(out, r.hidden, "thread", "threads");
		buf_str(out, " of the kernel and perf hidden (show with --system)\n");
	}
	rows_release(&r);
	return rc;
}
