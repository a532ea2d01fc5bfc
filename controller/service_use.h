/* The coordination service of a run: which, by what program of the machine, of which version. */
#ifndef COUP_CONTROLLER_SERVICE_USE_H
#define COUP_CONTROLLER_SERVICE_USE_H

#include "controller/run.h"
#include "nodes/services.h"

#define SERVICE_VERSION_MAX 32u
struct service_use {
    const struct service_kind *kind;
    char program[RUN_PATH_MAX]; /* "" of the embedded one */
    char version[SERVICE_VERSION_MAX];
};

extern const struct service_use service_use_embedded;

/* Choose by name (NULL: what is taken where nobody says) for the algorithm of `config`, and set
 * config->service, which borrows `out`; NULL where the algorithm asks none. Usage errors name what
 * is accepted; else -errno: this build or this machine lacks something, and the one command that
 * brings it. */
int service_use(const char *name, struct service_use *out, struct run_config *config,
                struct error *error);

/* "etcd 3.4.23", "embedded"; and the name alone, as service_use() takes it. */
void service_use_format(const struct service_use *use, struct text *out);
struct slice service_use_name(const char *recorded);

/* Whether the kind's program is there and can be used: 0, or -errno as service_use(), and
 * `*ret_fix` the one command. */
int service_probe(const struct service_kind *kind, struct service_use *out, struct error *error,
                  const char **ret_fix);

#endif
