/*
 * record_like.h - `perfkit record --like`: another recording's line, corrected.
 */
#ifndef CMD_RECORD_RECORD_LIKE_H
#define CMD_RECORD_RECORD_LIKE_H

/* Print the line that made the recording `path`, with the changes that doctor suggests. It is
 * not run, because that would run a command from a file. Returns the exit status. */
int record_like(const char *path);

#endif
