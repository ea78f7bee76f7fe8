#include "cmd/answer/source_moved.h"
#include "base/mem.h"
#include "base/text/path.h"
#include "libsym/name/match.h"

#include <string.h>

/* --- files ------------------------------------------------------------------------------ */

/* A file of before and its counterpart. */
struct moved_file {
	uint32_t was, is; /* strings ids of either side's stacks; is 0: none */
	uint32_t *at, n;  /* its lines in the other; NULL: the same numbers */
};

struct moves {
	const struct source_side *before, *after;
	const struct source_rows *rows; /* of after alone */
	VEC(struct moved_file) files;
	int rc;
	struct err *e;
};

static size_t common_end(const char *a, const char *b)
{
	size_t m = strlen(a), n = strlen(b), i = 0;
	while (i < m && i < n && a[m - 1 - i] == b[n - 1 - i])
		i++;
	return i;
}

/* The file of after with the same base name whose path is most alike; NULL: none. */
static const struct source_part *counterpart(const struct moves *m, const char *path)
{
	const struct source_part *best = NULL;
	size_t most = 0;
	for (size_t i = 0; i < m->rows->files.n; i++) {
		const struct source_part *p = &m->rows->files.v[i];
		const char *other = strtab_get(&m->after->src.stacks->strings, p->file);
		size_t n = common_end(path, other);
		if (!strcmp(path_base(path), path_base(other)) && (!best || n > most)) {
			best = p;
			most = n;
		}
	}
	return best;
}

static uint64_t *hash_lines(const struct source_text *t)
{
	uint64_t *v = mem_alloc((t->lines.n + 1) * sizeof(*v));
	for (uint32_t i = 0; v && i < t->lines.n; i++) {
		const char *p = "";
		size_t n = 0;
		source_text_line(t, i + 1, &p, &n);
		v[i] = hash_bytes(p, n, 0);
	}
	return v;
}

static int is_usable(const struct source_text *t)
{
	return t->verdict != SOURCE_ABSENT && t->verdict != SOURCE_OTHER;
}

static int match_texts(const struct source_text *was, const struct source_text *is,
		       struct moved_file *f)
{
	if (!is_usable(was) || !is_usable(is) ||
	    (was->n == is->n && !memcmp(was->text, is->text, is->n)))
		return 0;
	uint64_t *a = hash_lines(was), *b = hash_lines(is);
	int rc = a && b ? source_match_lines(a, was->lines.n, b, is->lines.n, &f->at)
			: ERR_NOMEM;
	f->n = (uint32_t)was->lines.n;
	mem_free(a);
	mem_free(b);
	return rc;
}

static int open_file(struct moves *m, const struct source_line *was, struct moved_file *f)
{
	const char *path = strtab_get(&m->before->src.stacks->strings, was->file);
	const struct source_part *p = counterpart(m, path);
	struct source_text old = {0}, new = {0};
	/* a row of this one line says which file and whose debug information */
	struct source_row row = {.file = was->file, .dso = was->dso};
	struct source_rows one = {.v = {&row, 1, 1}};
	struct source_part part = {.file = was->file, .n = 1};
	if (!p)
		return 0;
	f->is = p->file;
	int rc = source_side_text(m->before, &one, &part, &old, m->e);
	rc = rc ? rc : source_side_text(m->after, m->rows, p, &new, m->e);
	rc = rc ? rc : match_texts(&old, &new, f);
	source_text_release(&old);
	source_text_release(&new);
	return rc;
}

static int where(void *moves, const struct source_line *was, uint32_t *file, uint32_t *line)
{
	struct moves *m = moves;
	const struct moved_file *f = NULL;
	for (size_t i = 0; i < m->files.n && !f; i++)
		f = m->files.v[i].was == was->file ? &m->files.v[i] : NULL;
	if (!f) {
		struct moved_file new = {.was = was->file};
		m->rc = m->rc ? m->rc : open_file(m, was, &new);
		if (vec_push(&m->files, new)) {
			mem_free(new.at);
			m->rc = ERR_NOMEM;
			return 0;
		}
		f = &m->files.v[m->files.n - 1];
	}
	*file = f->is;
	*line = was->line;
	if (f->at && was->line && was->line <= f->n && f->at[was->line - 1])
		*line = f->at[was->line - 1];
	else if (f->at && was->line)
		return 0;
	return f->is || !was->line;
}

/* --- functions -------------------------------------------------------------------------- */

static int add_functions(struct match *m, const struct source_sums *s, unsigned side)
{
	int rc = 0;
	for (size_t i = 0; i < s->functions.n && !rc; i++) {
		const struct source_function *f = &s->functions.v[i];
		rc = match_add(m, &(struct match_frame){.name = strtab_get(&s->names, f->name),
							.dso = strtab_get(&s->names, f->module),
							.src = "",
							.group = MATCH_USER,
							.sides = side});
	}
	return rc;
}

/* Whether function i of before is the one wanted: by what was matched, else by the name alone. */
static int is_counterpart(const struct match *m, const struct source_sums *before, uint32_t i,
			  const struct source_sums *after, uint32_t function, int by_name)
{
	uint32_t wanted = match_of(m, (uint32_t)before->functions.n + function);
	return by_name ? !strcmp(strtab_get(&before->names, before->functions.v[i].name),
				 strtab_get(&after->names, after->functions.v[function].name))
		       : match_of(m, i) == wanted;
}

int source_moved(struct source_rows *rows, const struct source_side *before,
		 const struct source_side *after, uint32_t function, size_t *found,
		 struct err *e)
{
	const struct source_sums *b = before->shown;
	struct source_rows own = {0};
	struct moves m = {.before = before, .after = after, .rows = &own, .e = e};
	struct match match = {0};
	int rc = add_functions(&match, b, MATCH_BEFORE);
	rc = rc ? rc : add_functions(&match, after->shown, MATCH_AFTER);
	rc = rc ? rc : match_finish(&match);
	rc = rc ? rc : source_rows_of(&own, after->shown, function, 0);
	*found = 0;
	for (int by_name = 0; by_name < 2 && !*found && !rc; by_name++)
		for (uint32_t i = 0; i < b->functions.n && !rc; i++) {
			if (!is_counterpart(&match, b, i, after->shown, function, by_name))
				continue;
			++*found;
			rc = source_rows_against(rows, b, i, where, &m);
			rc = rc ? rc : m.rc;
		}
	for (size_t i = 0; i < m.files.n; i++)
		mem_free(m.files.v[i].at);
	vec_release(&m.files);
	source_rows_release(&own);
	match_release(&match);
	return rc == ERR_NOMEM ? err_nomem(e) : rc;
}
