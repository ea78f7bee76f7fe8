/* recstat FILE - how many records of each type libparse finds, in the words of
 * `perf report --stats`; also a bare walk over everything, for bench and corpus tests. */
#include "libparse/recording.h"

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct recording *rec;
	struct record r;
	struct err e = {0};
	int got;
	if (argc != 2 || recording_open(&rec, argv[1], &e)) {
		fprintf(stderr, "recstat: %s\n", argc == 2 ? e.msg : "usage: recstat FILE");
		return 1;
	}
	while ((got = recording_next(rec, &r, &e)) == 1)
		;
	for (uint32_t type = 0; type < RECORD_TYPES_COUNTED; type++) {
		const char *name = record_type_name(type);
		if (!rec->stats.by_type[type])
			continue;
		if (name)
			printf("%s events: %" PRIu64 "\n", name, rec->stats.by_type[type]);
		else
			printf("%u events: %" PRIu64 "\n", type, rec->stats.by_type[type]);
	}
	if (rec->stats.unknown_types)
		printf("unknown events: %" PRIu64 "\n", rec->stats.unknown_types);
	if (rec->stats.truncated[0])
		fprintf(stderr, "%s: %s\n", argv[1], rec->stats.truncated);
	if (got < 0)
		fprintf(stderr, "recstat: %s\n", e.msg);
	recording_close(rec);
	return got < 0;
}
