#include "render/tail/tail_answer.h"
#include "render/tail/told_text.h"

int tail_answer(struct buf *b, struct tail *t, struct err *e)
{
	struct told x = {.failed = 0};
	size_t sentence;
	int r = told_answer(&x, t, &sentence, e);
	if (!r)
		told_answer_text(b, t->tl, &x, sentence);
	told_release(&x);
	return r ? r : buf_failed(b) ? err_nomem(e) : 0;
}
