/* What coup-disk is told, one line of text. Pure. */
#ifndef COUP_NEMESIS_DISK_DISK_COMMAND_H
#define COUP_NEMESIS_DISK_DISK_COMMAND_H

#include "base/error.h"
#include "base/text.h"
#include "nemesis/act.h"

/* Appends the line for an ACTION_DISK, ACTION_POWER or ACTION_WIPE. */
void disk_command_format(uint32_t node, const struct act *act, struct text *out);
int disk_command_parse(struct slice text, uint32_t nodes, uint32_t *ret_node, struct act *out,
                       struct error *error);

#endif
