/*
 * plainname - names of functions, one a line, as frames.rules writes them (frame_plain_name):
 * for tests/rules/check.py.
 */
#include "libsym/name/frame_table.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
	static char line[1 << 16], plain[1 << 16];
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		frame_plain_name(line, plain, sizeof(plain));
		puts(plain);
	}
	return 0;
}
