#include "libtime/record/perf_package.h"

#include <ctype.h>
#include <string.h>

/* By ID, or a word of ID_LIKE; the first that fits. The kernel's release follows a "-". */
static const struct {
	const char *id, *command;
} packages[] = {
	{"ubuntu", "apt install linux-tools-"},
	{"debian", "apt install linux-perf"},
	{"fedora", "dnf install perf"},
	{"rhel", "dnf install perf"},
	{"centos", "dnf install perf"},
	{"amzn", "dnf install perf"},
	{"suse", "zypper install perf"},
	{"opensuse", "zypper install perf"},
	{"arch", "pacman -S perf"},
	{"alpine", "apk add perf"},
};

/* 1 if the value of NAME= holds the word. */
static int has_word(const char *text, const char *name, const char *word)
{
	size_t n = strlen(name), w = strlen(word);
	const char *line = text;
	while (strncmp(line, name, n) != 0 || line[n] != '=') {
		line = strchr(line, '\n');
		if (!line++)
			return 0;
	}
	const char *end = line + strcspn(line, "\n");
	for (const char *p = line + n + 1; p + w <= end; p++)
		if (!strncmp(p, word, w) && !isalnum((unsigned char)p[-1]) &&
		    !isalnum((unsigned char)p[w]))
			return 1;
	return 0;
}

void perf_package(struct buf *out, const char *os_release, const char *kernel)
{
	static const char *const names[] = {"ID", "ID_LIKE"};
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < sizeof(packages) / sizeof(*packages); i++) {
			if (!has_word(os_release, names[k], packages[i].id))
				continue;
			const char *command = packages[i].command;
			int per_kernel = command[strlen(command) - 1] == '-';
			buf_fmt(out, "%s%s", command, per_kernel ? kernel : "");
			return;
		}
	buf_str(out, "the package is called perf, linux-perf or linux-tools");
}
