/* What is asked of the kernel about a link's qdisc and gate, and what it answers. The gate stands
 * before the qdisc: it counts frames, and drops TCP data when told to. */
#ifndef COUP_NEMESIS_NETWORK_NETEM_REQUESTS_H
#define COUP_NEMESIS_NETWORK_NETEM_REQUESTS_H

#include "nemesis/network/netem_settings.h"
#include "nemesis/network/rtnl.h"

/* The interface towards endpoint `to`, in whatever namespace: far from those that modules put into
 * every namespace by themselves. */
#define NETEM_FIRST_INTERFACE 1000u
static inline uint32_t netem_interface(uint32_t to)
{
    return NETEM_FIRST_INTERFACE + to;
}

/* Requests about the link to endpoint `to`, to be packed into the socket of `from`. Those about the
 * qdisc are answered with what it has now and its counters. */
#define NETEM_HANDLE 0x10000u /* 1: */
void netem_request_settings(struct rtnl *rtnl, uint32_t to, const struct netem_settings *settings);
/* The same in a new qdisc in place of the old: what was queued is destroyed. */
void netem_request_replacement(struct rtnl *rtnl, uint32_t to, uint32_t handle,
                               const struct netem_settings *settings);
void netem_request_reading(struct rtnl *rtnl, uint32_t to);

/* The gate is made once and stays. */
void netem_request_gate(struct rtnl *rtnl, uint32_t to);
void netem_request_gate_cuts(struct rtnl *rtnl, uint32_t to, bool cuts_data);
void netem_request_gate_reading(struct rtnl *rtnl, uint32_t to);

/* What an answer says. */
struct netem_answer {
    uint32_t to; /* endpoint */
    bool gate, gone;
    bool complete; /* has all of the following that belong to it */
    struct netem_reading reading;
    struct gate_reading gate_reading;
    struct netem_settings settings;
};

/* False: about something else. */
bool netem_answer_read(const struct nlmsghdr *message, struct netem_answer *out);

#endif
