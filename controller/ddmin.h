/* Delta debugging over whole things (Zeller & Hildebrandt 2002, complements only): leave away ever
 * smaller parts of a list while what is left still shows what was seen. */
#ifndef COUP_CONTROLLER_DDMIN_H
#define COUP_CONTROLLER_DDMIN_H

#include <stdint.h>

#include "base/error.h"

/* 1: these, in this order, still show it; 0: they do not; -errno ends all. */
typedef int ddmin_holds(void *context, const uint32_t *items, uint32_t count, struct error *error);

/* `items` show it. What is left moves up, in order; its number is returned in `*count`. */
int ddmin(uint32_t *items, uint32_t *count, ddmin_holds *holds, void *context, struct error *error);

#endif
