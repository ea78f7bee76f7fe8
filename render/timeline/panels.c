#include "render/timeline/panels.h"
#include "base/mem.h"

int panels_add(struct panels *p, const struct timeline *tl, struct tl_episode *te,
	       struct buf *sentence, struct err *e)
{
	struct tl_panel panel;
	char *text = mem_strndup(buf_cstr(sentence), sentence->n);
	int r = buf_failed(sentence) || !text || vec_push(&p->sentences, text) ? err_nomem(e)
									       : 0;
	buf_release(sentence);
	if (r) {
		mem_free(text);
		return r;
	}
	te->sentence = text;
	r = timeline_svg_episode(tl, te, &panel, e);
	if (!r && vec_push(&p->v, panel)) {
		timeline_svg_episode_release(&panel);
		return err_nomem(e);
	}
	return r;
}

int panels_write(const struct panels *p, const struct timeline *tl,
		 const struct tl_svg_options *o, FILE *f, struct err *e)
{
	return p->v.n ? timeline_svg_write(tl, p->v.v, p->v.n, o, f, NULL, e)
		      : err_set(e, ERR_NOTFOUND, "no episodes to draw");
}

void panels_release(struct panels *p)
{
	for (size_t i = 0; i < p->v.n; i++)
		timeline_svg_episode_release(&p->v.v[i]);
	for (size_t i = 0; i < p->sentences.n; i++)
		mem_free(p->sentences.v[i]);
	vec_release(&p->v);
	vec_release(&p->sentences);
}
