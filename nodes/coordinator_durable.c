#include "nodes/coordinator_state.h"

#include <stdlib.h>

void stored_list_release(struct stored_list *list)
{
    free(list->at);
    *list = (struct stored_list){0};
}

void coordinator_add_stored(struct stored_list *list, struct stored stored)
{
    GROW(list->at, list->count, list->capacity);
    list->at[list->count++] = stored;
}

struct stored stored_session(const struct lasting *session)
{
    return (struct stored){.kind = STORED_SESSION,
                           .number = session->number,
                           .value = session->ttl_ns,
                           .owner = session->owner};
}

struct stored stored_record(const struct record *record)
{
    return (struct stored){.kind = STORED_RECORD,
                           .number = record->number,
                           .value = record->session,
                           .owner = record->owner,
                           .name = record->queued};
}

struct stored stored_row(const struct row *row)
{
    return (struct stored){.kind = STORED_ROW,
                           .number = row->token,
                           .value = row->until_ns,
                           .owner = row->owner,
                           .name = row->name};
}

void coordinator_dump(const struct coordinator *coordinator, struct stored_list *out)
{
    coordinator_add_stored(
        out, (struct stored){.kind = STORED_REVISION, .number = coordinator->revision});
    for (uint32_t i = 0; i < coordinator->session_count; i++)
        coordinator_add_stored(out, stored_session(&coordinator->sessions[i]));
    for (uint32_t i = 0; i < coordinator->record_count; i++)
        coordinator_add_stored(out, stored_record(&coordinator->records[i]));
    if (coordinator->row.token)
        coordinator_add_stored(out, stored_row(&coordinator->row));
}

struct stored_list *coordinator_changes(struct coordinator *coordinator)
{
    return &coordinator->changes;
}

uint64_t coordinator_next_revision(struct coordinator *coordinator)
{
    coordinator->revision++;
    coordinator_add_stored(&coordinator->changes, (struct stored){.kind = STORED_REVISION,
                                                                  .number = coordinator->revision});
    return coordinator->revision;
}

void coordinator_add_session(struct coordinator *coordinator, struct lasting session)
{
    GROW(coordinator->sessions, coordinator->session_count, coordinator->session_capacity);
    coordinator->sessions[coordinator->session_count++] = session;
}

/* Records come in order, but what is loaded may not. */
void coordinator_add_record(struct coordinator *coordinator, struct record record)
{
    GROW(coordinator->records, coordinator->record_count, coordinator->record_capacity);
    uint32_t at = coordinator->record_count++;
    for (; at > 0 && coordinator->records[at - 1].number > record.number; at--)
        coordinator->records[at] = coordinator->records[at - 1];
    coordinator->records[at] = record;
}

static bool load_held(struct coordinator *coordinator, const struct stored *stored, uint64_t now_ns)
{
    if (stored->owner < 1 || stored->owner > coordinator->nodes)
        return false;
    if (stored->kind == STORED_SESSION) {
        if (coordinator->session_count == COORDINATOR_SESSIONS_MAX)
            return false;
        coordinator_add_session(coordinator, (struct lasting){.number = stored->number,
                                                              .ttl_ns = stored->value,
                                                              .deadline_ns = now_ns + stored->value,
                                                              .owner = stored->owner});
        return true;
    }
    if (coordinator->record_count == COORDINATOR_RECORDS_MAX)
        return false;
    coordinator_add_record(coordinator, (struct record){.number = stored->number,
                                                        .session = stored->value,
                                                        .owner = stored->owner,
                                                        .queued = stored->name});
    return true;
}

bool coordinator_load(struct coordinator *coordinator, const struct stored *stored, uint64_t now_ns)
{
    switch (stored->kind) {
    case STORED_REVISION: coordinator->revision = stored->number; return true;
    case STORED_SESSION:
    case STORED_RECORD: return load_held(coordinator, stored, now_ns);
    case STORED_ROW:
        coordinator->row = (struct row){.token = stored->number,
                                        .until_ns = stored->value,
                                        .owner = stored->owner,
                                        .name = stored->name};
        return stored->owner <= coordinator->nodes && stored->name <= coordinator->nodes;
    case STORED_KINDS: break;
    }
    return false;
}
