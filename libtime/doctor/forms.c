#include "libtime/doctor/forms.h"
#include "libtime/sched/timeline.h"
#include "base/check.h"

#include <string.h>

static const struct {
	const char *key, *text;
} forms[] = {{"", "only a newer perfkit can explain {form}[: {facts:@others}]"},
#define FORM_ROW(name, key, text) {key, text},
	     FINDING_FORMS(FORM_ROW)
#undef FORM_ROW
};
ENTRIES(forms, FORMS);

const char *form_key(enum form form)
{
	return forms[form].key;
}

const char *form_text(enum form form)
{
	return forms[form].text;
}

enum form form_find(const char *key)
{
	for (enum form f = FORM_NONE + 1; f < FORMS; f++)
		if (!strcmp(forms[f].key, key))
			return f;
	return FORM_NONE;
}

/* --- facts -------------------------------------------------------------------------- */

struct fact fact_number(const char *name, enum fact_unit unit, uint64_t n)
{
	return (struct fact){name, "", n < INT64_MAX ? n : INT64_MAX, 0, unit};
}

struct fact fact_share(const char *name, uint64_t part, uint64_t whole)
{
	part = part < whole ? part : whole;
	for (; whole > INT64_MAX; whole >>= 1)
		part >>= 1;
	return (struct fact){name, "", part, whole, FACT_SHARE};
}

struct fact fact_text(const char *name, enum fact_unit unit, const char *text)
{
	return (struct fact){name, text ? text : "", UINT64_MAX, 0, unit};
}

const struct fact *statement_fact(const struct statement *s, const char *name, size_t n)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strncmp(s->facts[i].name, name, n) && !s->facts[i].name[n])
			return &s->facts[i];
	return NULL;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_facts(const struct fact *a, const struct fact *b)
{
	int d = strcmp(a->name, b->name);
	d = d ? d : strcmp(a->text, b->text);
	d = d ? d : compare_numbers(a->number, b->number);
	return d ? d : compare_numbers(a->whole, b->whole);
}

int statement_compare(const struct statement *a, const struct statement *b)
{
	int d = a->n && b->n ? strcmp(a->facts[0].text, b->facts[0].text) : 0;
	d = d ? d : compare_numbers(a->form, b->form);
	for (size_t i = 0; !d && i < a->n && i < b->n; i++)
		d = compare_facts(&a->facts[i], &b->facts[i]);
	return d ? d : compare_numbers(a->n, b->n);
}

/* --- texts -------------------------------------------------------------------------- */

int statement_is_whole(const struct statement *s)
{
	const char *text = form_text(s->form);
	struct form_piece p;
	int optional = 0, whole = 1;
	while (form_next(&text, &p)) {
		optional += (p.kind == '[') - (p.kind == ']');
		if (p.kind == '{' && !optional)
			whole &= statement_fact(s, p.name, p.nname) != NULL;
	}
	return whole;
}
