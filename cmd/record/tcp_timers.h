/*
 * tcp_timers.h - the timers on which TCP sends something later: a delayed acknowledgement, a
 * retransmission.
 */
#ifndef CMD_RECORD_TCP_TIMERS_H
#define CMD_RECORD_TCP_TIMERS_H

/* A filter of timer:timer_expire_entry that only they pass, on this machine until it reboots.
 * Heap; NULL if this user may not see where their functions are. */
char *tcp_timers_filter(void);

#endif
