/*
 * schema_words.h - the words of a store for enumerations that nothing else prints. Others are in
 * timeline_names.h, finding_rows.h and where they are declared.
 */
#ifndef LIBTIME_STORE_SCHEMA_WORDS_H
#define LIBTIME_STORE_SCHEMA_WORDS_H

/* Of enum frame_kind, file_mode, event_stacks, dso_reason ("" for 0), fact_unit, finding_part;
 * "" past the end. */
const char *frame_kind_word(unsigned int kind);
const char *file_mode_word(unsigned int mode);
const char *event_stacks_word(unsigned int kind);
const char *code_reason_word(unsigned int reason);
const char *fact_unit_word(unsigned int unit);
const char *finding_part_word(unsigned int part);

#endif
