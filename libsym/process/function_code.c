#include "libsym/process/function_code.h"
#include "base/check.h"

static int of_file(struct modules *ms, uint8_t kind, uint64_t start, struct function_code *out)
{
	struct module_code code = {.reason = DSO_NOT_A_FILE};
	if (out->dso != NO_ID && modules_code(ms, out->dso, start, &code))
		return ERR_NOMEM;
	out->reason = (uint8_t)code.reason;
	if (code.file && code_bytes_of(code.file, code.start, code.end, &out->bytes)) {
		out->file = code.file;
		out->status = kind == DSO_KERNEL ? CODE_AS_BUILT : CODE_KNOWN;
	} else if (kind == DSO_KERNEL) {
		out->status = CODE_NO_VMLINUX;
	} else {
		out->status = code.file ? CODE_NO_LENGTH : CODE_UNKNOWN;
	}
	return 0;
}

static int of_jitdump(struct modules *ms, uint32_t name, uint64_t start,
		      struct function_code *out)
{
	int n = modules_jit_code(ms, start, name, &out->bytes);
	out->status = n == 1 ? CODE_KNOWN : n > 1 ? CODE_SEVERAL : CODE_NO_JITDUMP;
	if (n != 1)
		out->bytes = (struct code_bytes){0};
	return n < 0 ? n : 0;
}

int function_code_find(struct modules *ms, const struct machine *m, uint32_t dso, uint32_t name,
		       uint64_t start, struct function_code *out)
{
	*out = (struct function_code){.dso = modules_dso_named(ms, dso)};
	if (!name) {
		out->status = CODE_NO_SYMBOL;
		return 0;
	}
	uint8_t kind = out->dso == NO_ID ? DSO_FILE : m->dsos.v[out->dso].kind;
	switch (kind) {
	case DSO_ANON:
		return of_jitdump(ms, name, start, out);
	case DSO_MODULE:
	case DSO_BPF:
		out->status = CODE_NO_FILE;
		return 0;
	default:
		return of_file(ms, kind, start, out);
	}
}

void function_code_why(struct buf *b, const struct function_code *c, const char *dso)
{
	static const char *const why[] = {
		"",
		"as vmlinux has them: what the kernel patches when it boots and runs is not "
		"seen",
		"",
		"no symbol table has its name, so where it begins is unknown",
		"the function's length is unknown",
		"it is the kernel's: name its vmlinux (--vmlinux FILE)",
		"it is a kernel module's or BPF code, whose text in memory is that of no file",
		"it is generated code, and no jitdump has its bytes",
		"it is generated code that was written several times at this address",
		"the recordings have different code there: choose one (--recording N)",
		"a store keeps those of the hottest functions only: ask the recording",
	};
	ENTRIES(why, CODE_STATUSES);
	if (c->status == CODE_UNKNOWN || c->status == CODE_NO_LENGTH)
		buf_fmt(b, "%s: ", *dso ? dso : "no file");
	buf_str(b, c->status == CODE_UNKNOWN ? dso_reason_text(c->reason) : why[c->status]);
}

const char *code_status_word(unsigned int status)
{
	static const char *const words[] = {
		"",        "as built",   "unknown", "no symbol",      "no length", "kernel",
		"no file", "no jitdump", "several", "several builds", "not kept"};
	ENTRIES(words, CODE_STATUSES);
	return status < CODE_STATUSES ? words[status] : "";
}
