#include "render/html/html_labels.h"
#include "base/check.h"
#include "render/text/escape.h"

#include <string.h>

/* The columns of each key, whose names have its number. */
#define NAMES(k)                                                                     \
	{                                                                            \
		"sample.label" #k, "span.label" #k, "run.parts" #k, "wait.parts" #k, \
			"piece" #k ".ns", "piece" #k ".value"                        \
	}
static const char *const names[][6] = {NAMES(0), NAMES(1), NAMES(2), NAMES(3),
				       NAMES(4), NAMES(5), NAMES(6), NAMES(7)};
ENTRIES(names, HTML_LABELS);

static int add_key(struct html_labels *x, const char *key, struct html_columns *to)
{
	struct html_label *l = &x->v[x->n];
	for (size_t i = 0; i < x->n; i++)
		if (!strcmp(x->v[i].key, key))
			return 0;
	if (x->n == HTML_LABELS)
		return 0;
	int rc = label_lanes_build(x->tl, key, &l->lanes);
	if (rc <= 0) {
		label_lanes_release(&l->lanes);
		*l = (struct html_label){0};
		return rc;
	}
	struct html_column **const v[] = {&l->sample,   &l->span, &l->parts[0],
					  &l->parts[1], &l->ns,   &l->value};
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++)
		*v[i] = html_column(to, names[x->n][i]);
	l->key = key;
	x->n++;
	return 0;
}

static int choose(struct html_labels *x, const struct population *of, struct html_columns *to)
{
	const struct strtab *s = &x->tl->stacks->strings;
	uint32_t no;
	if (!of->label)
		return 0;
	x->chosen = label_lanes_key(of->label, x->tl);
	x->chosen_value = of->label_value;
	int rc = strtab_intern_n(x->strings, strtab_get(s, of->label_value),
				 strtab_len(s, of->label_value), &no);
	return rc ? rc : add_key(x, x->chosen, to);
}

int html_labels_begin(struct html_labels *x, const struct timeline *tl,
		      const struct population *of, struct strtab *strings,
		      struct html_columns *to)
{
	const struct strtab *s = &tl->stacks->strings;
	*x = (struct html_labels){.tl = tl, .strings = strings};
	int rc = choose(x, of, to);
	rc = rc || !tl->spans.n ? rc : add_key(x, "span", to);
	for (size_t i = 0; i < tl->labels.n && !rc; i++)
		if (!i || tl->labels.v[i].key != tl->labels.v[i - 1].key)
			rc = add_key(x, strtab_get(s, tl->labels.v[i].key), to);
	for (size_t i = 0; i < tl->bindings.n && !rc; i++)
		if (!i || tl->bindings.v[i].key != tl->bindings.v[i - 1].key)
			rc = add_key(x, strtab_get(s, tl->bindings.v[i].key), to);
	return rc;
}

/* Put a value as a string of the page. */
static int put_value(struct html_labels *x, struct html_column *c, uint32_t value)
{
	const struct strtab *s = &x->tl->stacks->strings;
	uint32_t no = 0;
	if (value && !u64map_get(&x->no, value, &no) &&
	    (strtab_intern_n(x->strings, strtab_get(s, value), strtab_len(s, value), &no) ||
	     u64map_put(&x->no, value, no)))
		return ERR_NOMEM;
	html_put(c, no);
	return 0;
}

static uint32_t value_at(const struct html_label *l, uint32_t thread, uint32_t path,
			 uint64_t ns, uint64_t *until)
{
	*until = UINT64_MAX;
	return thread == TL_NONE ? 0 : label_lanes_at(&l->lanes, thread, path, ns, until);
}

int html_labels_sample(struct html_labels *x, const struct tl_sample *s)
{
	uint64_t until;
	int rc = 0;
	for (size_t i = 0; i < x->n && !rc; i++)
		rc = put_value(x, x->v[i].sample,
			       value_at(&x->v[i], s->thread, s->path, s->time_ns, &until));
	return rc;
}

int html_labels_span(struct html_labels *x, uint32_t span)
{
	const struct tl_span *s = &x->tl->spans.v[span];
	uint64_t until;
	int rc = 0;
	for (size_t i = 0; i < x->n && !rc; i++) {
		uint32_t own = label_lanes_of_span(&x->v[i].lanes, x->tl, span);
		rc = put_value(x, x->v[i].span,
			       own ? own
				   : value_at(&x->v[i], s->thread, 0, s->start_ns, &until));
	}
	return rc;
}

static int put_pieces(struct html_labels *x, struct html_label *l, struct html_column *parts,
		      uint32_t thread, uint32_t path, uint64_t from, uint64_t to)
{
	uint64_t until = to, n = 0;
	uint32_t value = value_at(l, thread, path, from, &until);
	int rc = 0;
	for (; (value || until < to || n) && !rc; n++) {
		html_put(l->ns, until < to ? until - from : 0);
		rc = put_value(x, l->value, value);
		from = until;
		if (from >= to) {
			n++;
			break;
		}
		value = value_at(l, thread, path, from, &until);
	}
	html_put(parts, n);
	return rc;
}

int html_labels_interval(struct html_labels *x, int is_wait, uint32_t thread, uint32_t path,
			 uint64_t from, uint64_t to)
{
	int rc = 0;
	for (size_t i = 0; i < x->n && !rc; i++)
		rc = put_pieces(x, &x->v[i], x->v[i].parts[is_wait], thread, path, from, to);
	return rc;
}

void html_labels_head(const struct html_labels *x, struct json *j)
{
	json_open(j, "labels", '[');
	for (size_t i = 0; i < x->n; i++)
		json_str(j, NULL, x->v[i].key);
	json_close(j, ']');
	if (!x->chosen) {
		json_null(j, "label");
		return;
	}
	const struct strtab *s = &x->tl->stacks->strings;
	struct buf b = {0};
	buf_fmt(&b, "%s=", x->chosen);
	escape_visible(&b, strtab_get(s, x->chosen_value), strtab_len(s, x->chosen_value));
	json_text(j, "label", buf_cstr(&b), b.n);
	buf_release(&b);
}

void html_labels_release(struct html_labels *x)
{
	for (size_t i = 0; i < x->n; i++)
		label_lanes_release(&x->v[i].lanes);
	u64map_release(&x->no);
	*x = (struct html_labels){0};
}
