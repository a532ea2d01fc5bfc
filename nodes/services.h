/* The coordination services there are: the embedded one and real ones that a run starts from what
 * the machine has installed. What each can carry, so that nothing is asked of it in vain. Pure; how
 * a node speaks to one is nodes/adapter.h, how one is started and watched nodes/keeper.h. */
#ifndef COUP_NODES_SERVICES_H
#define COUP_NODES_SERVICES_H

#include "nodes/elector.h"

/* What an algorithm may ask of a service. */
enum service_need {
    NEED_LEASE, /* one record, put if it is absent, that goes with its session */
    NEED_QUEUE, /* records in the order of their creation, that go with their sessions */
    NEED_ROW,   /* a conditional update by the asker's clock */
    NEED_CLOCK, /* the same by the service's own clock */
};

struct service_kind {
    const char *name, *summary;
    const char *program;     /* its server; NULL: it is ours */
    const char *program_fix; /* the one command that brings it on Debian */
    uint32_t carries;        /* bit per enum service_need */
    /* Leases last whole multiples of this, rounded up; 0: any. They may end so much late. */
    uint64_t lease_unit_ns, lease_late_ns;
    bool built;              /* this build of coup can speak to it */
    const char *library_fix; /* the commands that bring what it lacked */
};

/* The first one is what is taken where nobody says. */
extern const struct service_kind service_kinds[];           /* ends with a NULL name */
const struct service_kind *service_find(struct slice name); /* NULL: unknown */

/* How long it keeps at most what it granted for `lease_ns`. */
uint64_t service_lease_ns(const struct service_kind *kind, uint64_t lease_ns);

/* Whether the algorithm, as it is configured, can be run on it: else a usage error that names those
 * which can carry it. */
int service_fits(const struct service_kind *kind, const struct algorithm *algorithm,
                 const struct option_values *options, struct error *error);

/* "embedded, etcd" */
void service_names(struct text *out);

#endif
