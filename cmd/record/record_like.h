/*
 * record_like.h - `perfkit record --like`: another recording's line, corrected.
 */
#ifndef CMD_RECORD_RECORD_LIKE_H
#define CMD_RECORD_RECORD_LIKE_H

/* Print the line that made the recording `path` with what doctor would change in it. It is only
 * printed: it runs the command that a file names. The exit status. */
int record_like(const char *path);

#endif
