/* The backends there are. */
#include <string.h>

#include "nemesis/network/backend.h"

#define X(name) extern const struct network_backend network_##name;
COUP_NETWORKS(X)
#undef X

const struct network_backend *const network_backends[] = {
#define X(name) &network_##name,
    COUP_NETWORKS(X)
#undef X
        NULL,
};

const struct network_backend *network_find(const char *name)
{
    for (int i = 0; network_backends[i]; i++)
        if (strcmp(network_backends[i]->name, name) == 0)
            return network_backends[i];
    return NULL;
}
