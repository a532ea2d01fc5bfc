/* Where messages reach a process: what has come through the mesh passes the rules of message faults
 * (nodes/filter.h) before the program sees it, and each message that one of them touched is
 * recorded. Rules come as commands. */
#ifndef COUP_NODES_EDGE_H
#define COUP_NODES_EDGE_H

#include "nodes/shell.h"

/* True if the command is one of these; `*ret_refusal` is NULL when it was carried out:
 *   message FAULT DEED SENDERS KIND TERM COUNT   (filter_rule_parse)
 *   message FAULT off */
bool edge_command(struct shell *shell, const char *text, const char **ret_refusal);
void edge_message(struct shell *shell, const struct envelope *envelope);

#endif
