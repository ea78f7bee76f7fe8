#include "libtime/sched/prev_state.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* --- integer expressions of the preprocessor: numbers ( ) + - << | & ---------------------- */

enum { EXPR_DEPTH = 64 };

struct expr {
	const char *p, *end;
	int depth, bad;
};

static void skip_space(struct expr *x)
{
	while (x->p < x->end && isspace((unsigned char)*x->p))
		x->p++;
}

static int accept(struct expr *x, const char *token)
{
	size_t n = strlen(token);
	skip_space(x);
	if ((size_t)(x->end - x->p) < n || memcmp(x->p, token, n))
		return 0;
	x->p += n;
	return 1;
}

static uint64_t number(struct expr *x)
{
	uint64_t v = 0;
	int base = accept(x, "0x") || accept(x, "0X") ? 16 : 10, digits = 0;
	for (; x->p < x->end && isxdigit((unsigned char)*x->p); x->p++, digits++) {
		int c = tolower((unsigned char)*x->p);
		if (base == 10 && !isdigit(c))
			break;
		v = v * (unsigned)base + (unsigned)(isdigit(c) ? c - '0' : c - 'a' + 10);
	}
	while (x->p < x->end && strchr("uUlL", *x->p) && *x->p)
		x->p++;
	x->bad |= !digits;
	return v;
}

static uint64_t expr_or(struct expr *x);

static uint64_t primary(struct expr *x)
{
	if (!accept(x, "("))
		return number(x);
	if (++x->depth > EXPR_DEPTH) {
		x->bad = 1;
		return 0;
	}
	uint64_t v = expr_or(x);
	x->bad |= !accept(x, ")");
	x->depth--;
	return v;
}

static uint64_t expr_sum(struct expr *x)
{
	uint64_t v = primary(x);
	for (; !x->bad;) {
		if (accept(x, "+"))
			v += primary(x);
		else if (accept(x, "-"))
			v -= primary(x);
		else
			break;
	}
	return v;
}

static uint64_t expr_shift(struct expr *x)
{
	uint64_t v = expr_sum(x);
	while (!x->bad && accept(x, "<<")) {
		uint64_t n = expr_sum(x);
		v = n < 64 ? v << n : 0;
	}
	return v;
}

static uint64_t expr_and(struct expr *x)
{
	uint64_t v = expr_shift(x);
	while (!x->bad && accept(x, "&"))
		v &= expr_shift(x);
	return v;
}

static uint64_t expr_or(struct expr *x)
{
	uint64_t v = expr_and(x);
	while (!x->bad && accept(x, "|"))
		v |= expr_and(x);
	return v;
}

/* --- the format -------------------------------------------------------------------------- */

static const char *find(const char *p, const char *end, const char *what)
{
	size_t n = strlen(what);
	for (; (size_t)(end - p) >= n; p++)
		if (!memcmp(p, what, n))
			return p;
	return NULL;
}

/* Read one `{ number, "name" }`. 1, or 0 if the text is something else. */
static int parse_flag(struct expr *x, struct prevstate_flag *f)
{
	if (!accept(x, "{"))
		return 0;
	f->bits = expr_or(x);
	if (x->bad || !accept(x, ",") || !accept(x, "\""))
		return 0;
	size_t n = 0;
	for (; x->p < x->end && *x->p != '"'; x->p++)
		if (n + 1 < sizeof(f->name))
			f->name[n++] = *x->p;
	f->name[n] = '\0';
	return accept(x, "\"") && accept(x, "}");
}

/* The number after "REC->prev_state &"; 0 if the text is something else. */
static uint64_t operand(const char *p, const char *end)
{
	static const char field[] = "REC->prev_state";
	struct expr x = {.p = p, .end = end};
	if (!accept(&x, field) || !accept(&x, "&"))
		return 0;
	uint64_t v = expr_or(&x);
	return x.bad ? 0 : v;
}

static uint64_t plus_bit(const char *from, const char *end)
{
	const char *q = find(from, end, "\"+\"");
	const char *at = NULL;
	for (const char *p = from; q && p < q && (p = find(p, q, "REC->prev_state")); p++)
		at = p;
	return at ? operand(at, q) : 0;
}

int prevstate_parse(struct prevstate *p, const char *print_fmt, size_t n, struct err *e)
{
	static const char call[] = "__print_flags(";
	const char *end = print_fmt + n, *at = find(print_fmt, end, call);
	*p = (struct prevstate){.mask = ~0ull, .delim = "|"};
	if (!at)
		return err_set(e, ERR_FORMAT, "sched_switch: print fmt names no states");
	at += sizeof(call) - 1;
	uint64_t mask = operand(at, end);
	if (mask)
		p->mask = mask;
	const char *list = find(at, end, "{");
	struct expr x = {.p = list ? list : end, .end = end};
	while (p->nflags < PREVSTATE_FLAGS && parse_flag(&x, &p->flag[p->nflags])) {
		p->nflags++;
		if (!accept(&x, ","))
			break;
	}
	if (!p->nflags)
		return err_set(e, ERR_FORMAT, "sched_switch: print fmt names no states");
	p->plus = plus_bit(x.p, end);
	return 0;
}

char *prevstate_text(const struct prevstate *p, uint64_t value, char *out)
{
	uint64_t left = value & p->mask & ~p->plus;
	size_t at = 0;
	out[0] = '\0';
	for (size_t i = 0; i < p->nflags; i++) {
		const struct prevstate_flag *f = &p->flag[i];
		size_t n = strlen(f->name), sep = at ? strlen(p->delim) : 0;
		if (!f->bits || (left & f->bits) != f->bits ||
		    at + sep + n + 2 > PREVSTATE_TEXT)
			continue;
		memcpy(out + at, p->delim, sep);
		memcpy(out + at + sep, f->name, n + 1);
		at += sep + n;
		left &= ~f->bits;
	}
	if (!at)
		at = (size_t)snprintf(out, PREVSTATE_TEXT, left ? "0x%llx" : "R",
				      (unsigned long long)left);
	if (p->plus && value & p->plus)
		memcpy(out + at, "+", 2);
	return out;
}

enum state_class prevstate_class(const struct prevstate *p, uint64_t value)
{
	uint64_t v = value & p->mask & ~p->plus;
	if (!v || value & p->plus)
		return STATE_RUNNING;
	for (size_t i = 0; i < p->nflags; i++)
		if ((v & p->flag[i].bits) == p->flag[i].bits && p->flag[i].bits &&
		    p->flag[i].name[0] && strchr("XZx", p->flag[i].name[0]))
			return STATE_DEAD;
	return STATE_BLOCKED;
}
