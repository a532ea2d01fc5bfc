#include "controller/bench/register_history.h"

#include "base/random.h"

#define CLIENTS_MOST 64u

/* An operation goes through these; each step of the history takes one client one further. */
enum stage { STAGE_IDLE, STAGE_CALLED, STAGE_DONE };

struct making {
    const struct register_load *load;
    struct random random;
    uint64_t value, begun, time_ns;
    struct one {
        enum stage stage;
        struct event event; /* of its operation: what the completion tells */
    } clients[CLIENTS_MOST];
};

static struct history_header make_header(const struct register_load *load)
{
    static char algorithm[] = "raft", resource[] = "fenced";
    struct history_header header = {.algorithm = algorithm,
                                    .resource = resource,
                                    .nodes = 1,
                                    .clients = load->clients,
                                    .traits = 1u << TRAIT_LINEARIZABLE};
    knobs_defaults(&header.knobs);
    return header;
}

/* Half of them reads; a compare expects what is there now. */
static void call(struct making *making, uint32_t client)
{
    struct event *event = &making->clients[client].event;
    uint64_t dice = random_below(&making->random, 100), values = making->load->values;
    *event = (struct event){
        .process = PROCESS_NUMBER(PROCESS_CLIENT, client + 1),
        .type = EVENT_INVOKE,
        .f = (uint8_t)(dice < 50                        ? F_READ
                       : dice < 100 - making->load->cas ? F_WRITE
                                                        : F_CAS),
    };
    event_set(event, FIELD_ID, ++making->begun);
    event_set(event, FIELD_REGISTER, 1);
    if (event->f != F_READ)
        event_set(event, FIELD_VALUE,
                  values ? 1 + random_below(&making->random, values) : making->begun);
    if (event->f == F_CAS)
        event_set(event, FIELD_EXPECTED, making->value);
}

/* The one instant at which it happens. */
static void take_effect(struct making *making, uint32_t client)
{
    struct event *event = &making->clients[client].event;
    event->type = EVENT_OK;
    if (event->f == F_READ && making->value) {
        event_set(event, FIELD_VALUE, making->value);
    } else if (event->f == F_CAS && event_number(event, FIELD_EXPECTED) != making->value) {
        event->type = EVENT_FAIL;
        event_set_text(event, FIELD_ERROR, slice_of("mismatch"));
    } else if (event->f != F_READ) {
        making->value = event_number(event, FIELD_VALUE);
    }
}

/* True when the client's event is to be recorded. */
static bool advance(struct making *making, uint32_t client)
{
    struct one *one = &making->clients[client];
    switch (one->stage) {
    case STAGE_IDLE:
        if (making->begun == making->load->operations)
            return false;
        call(making, client);
        one->stage = STAGE_CALLED;
        return true;
    case STAGE_CALLED:
        take_effect(making, client);
        one->stage = STAGE_DONE;
        return false;
    default: one->stage = STAGE_IDLE; return true;
    }
}

int register_history(const struct register_load *load, struct history_writer **out,
                     struct error *error)
{
    struct history_header header = make_header(load);
    struct making making = {.load = load};
    struct history_writer *writer;
    uint64_t recorded = 0;
    random_init(&making.random, 1, "register", load->values);
    int rc = history_create(NULL, &header, &writer, error);
    if (rc < 0)
        return rc;
    while (rc == 0 && recorded < 2 * load->operations) {
        uint32_t client = (uint32_t)random_below(&making.random, load->clients);
        if (!advance(&making, client))
            continue;
        making.clients[client].event.time_ns = making.time_ns += 1000;
        rc = history_append(writer, &making.clients[client].event, error);
        recorded++;
    }
    if (rc == 0)
        rc = history_finish(writer, error);
    if (rc < 0)
        (void)history_close(writer, NULL); /* the first error is the one to tell */
    else
        *out = writer;
    return rc;
}
