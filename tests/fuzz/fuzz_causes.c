/*
 * fuzz_causes - a table of causes from somebody else. Input: the table; where there is a second
 * part, its lines are frames of a stack that is judged by it, a "k:" in front meaning the
 * kernel's.
 */
#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "libtime/causes/causes.h"

#include <string.h>

static uint32_t make_path(struct stacks *s, char *text)
{
	uint32_t path = 0, frame;
	char *save = NULL;
	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		struct frame f = {0};
		if (!strncmp(l, "k:", 2)) {
			f.kind = FRAME_KERNEL;
			l += 2;
		}
		if (strtab_intern(&s->strings, l, &f.name) || stacks_frame(s, &f, &frame) ||
		    stacks_push(s, path, frame, &path))
			return 0;
	}
	return path;
}

static void judge(struct causes *c, const uint8_t *text, size_t n)
{
	struct stacks s = {0};
	enum cause cause;
	char *lines = mem_strndup((const char *)text, n);
	uint32_t path = lines ? make_path(&s, lines) : 0;
	if (!causes_classify(c, &s, path, "S", "futex", &cause, NULL))
		fuzz_text(cause_name(cause));
	if (!causes_classify(c, &s, path, "D", "", &cause, NULL))
		fuzz_text(causes_missing(c, cause));
	mem_free(lines);
	stacks_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct causes *c;
	struct err e = {0};
	size_t rules_n, stack_n = 0;
	uint8_t *rules = fuzz_part(&p, &n, &rules_n), *stack = fuzz_part(&p, &n, &stack_n);
	if (causes_new(&c, &e))
		return 0;
	int rc = causes_parse(c, (const char *)rules, rules_n, "fuzz", &e);
	if (rc)
		fuzz_failed(rc, &e);
	if (stack)
		judge(c, stack, stack_n);
	causes_free(c);
	mem_free(stack);
	mem_free(rules);
	return 0;
}
