#include "controller/known.h"

#include <string.h>

#include "nodes/elector.h"

const char *known_to_break(const struct history_header *header)
{
    const struct algorithm *algorithm = algorithm_find(slice_of(header->algorithm));
    if (!algorithm || (header->options && strstr(header->options, "bug=")))
        return NULL;
    return algorithm->broken_by;
}
