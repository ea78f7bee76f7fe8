#include "cmd/query/examine.h"

#include "libtime/build/build.h"

int input_examine(struct input *in, unsigned asked, struct findings *f, struct err *e)
{
	struct timeline tl = {0};
	struct survey survey = {0};
	struct progress p;
	struct build_options bo = {
		.watch = survey_watch, .rewatch = survey_rewatch, .watch_ctx = &survey};
	bo.progress = progress_show;
	bo.progress_ctx = &p;
	progress_start(&p, "reading", input_shows_progress(in->opt));
	int rc = timeline_build(in->profile, &bo, &tl, e);
	if (!rc && survey.failed)
		rc = err_nomem(e);
	if (!rc)
		rc = findings_gather(f,
				     &(struct findings_input){.profile = in->profile,
							      .timeline = &tl,
							      .survey = &survey,
							      .asked = asked},
				     e);
	progress_end(&p);
	timeline_release(&tl);
	survey_release(&survey);
	return rc;
}
