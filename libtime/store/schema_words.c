#include "libtime/store/schema_words.h"
#include "base/check.h"
#include "libsym/elf/dso_find.h"
#include "libsym/process/machine.h"
#include "libsym/stacks.h"
#include "libtime/store/file_facts.h"
#include "libtime/store/finding_rows.h"

#define COUNT_OF(a) (sizeof(a) / sizeof(*(a)))

const char *frame_kind_word(unsigned int kind)
{
	static const char *const words[] = {"", "kernel", "jit", "mark"};
	ENTRIES(words, FRAME_MARK + 1);
	return kind < COUNT_OF(words) ? words[kind] : "";
}

const char *file_mode_word(unsigned int mode)
{
	static const char *const words[] = {"file", "pipe", "directory"};
	ENTRIES(words, FILE_MODES);
	return mode < COUNT_OF(words) ? words[mode] : "";
}

const char *event_stacks_word(unsigned int kind)
{
	static const char *const words[] = {"", "frame pointers", "copies", "branches"};
	ENTRIES(words, EVENT_STACKS_KINDS);
	return kind < COUNT_OF(words) ? words[kind] : "";
}

const char *store_kind_word(unsigned int kind)
{
	static const char *const words[] = {"",     "file",      "kernel", "module",
					    "vdso", "anonymous", "bpf",    "special"};
	ENTRIES(words, DSO_SPECIAL + 2);
	return kind < COUNT_OF(words) ? words[kind] : "";
}

const char *store_reason_word(unsigned int reason)
{
	static const char *const words[] = {
		"no symbol", "no file",        "special",    "not found",     "other build",
		"unchecked", "several builds", "unreadable", "zero kallsyms", "cycles"};
	ENTRIES(words, DSO_CYCLES + 1);
	return reason < COUNT_OF(words) ? words[reason] : "";
}

const char *code_reason_word(unsigned int reason)
{
	return reason ? store_reason_word(reason) : "";
}

const char *fact_unit_word(unsigned int unit)
{
	static const char *const words[] = {"",       "count",  "share",  "ns",       "bytes",
					    "cpu",    "pid",    "thread", "counts",   "event",
					    "comm",   "file",   "path",   "build-id", "kind",
					    "reason", "option", "message"};
	ENTRIES(words, FACT_UNITS);
	return unit < COUNT_OF(words) ? words[unit] : "";
}

const char *finding_part_word(unsigned int part)
{
	static const char *const words[] = {"title", "detail", "remedy"};
	ENTRIES(words, FINDING_PARTS);
	return part < COUNT_OF(words) ? words[part] : "";
}
