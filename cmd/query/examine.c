#include "cmd/query/examine.h"

#include "libtime/build/build.h"

int input_examine(struct input *in, unsigned asked, struct findings *f, struct err *e)
{
	struct timeline tl = {0};
	struct survey survey = {0};
	struct input_progress p;
	struct build_options bo = {
		.watch = survey_watch, .rewatch = survey_rewatch, .watch_ctx = &survey};
	input_progress_start(&p);
	if (input_shows_progress(in->opt)) {
		bo.progress = input_progress_show;
		bo.progress_ctx = &p;
	}
	int rc = timeline_build(in->profile, &bo, &tl, e);
	input_progress_end(&p);
	if (!rc && survey.failed)
		rc = err_nomem(e);
	if (!rc)
		rc = findings_gather(f,
				     &(struct findings_input){.profile = in->profile,
							      .timeline = &tl,
							      .survey = &survey,
							      .asked = asked},
				     e);
	timeline_release(&tl);
	survey_release(&survey);
	return rc;
}
