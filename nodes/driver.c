#include "nodes/driver.h"

#include <signal.h>

#include "base/units.h"
#include "nodes/address.h"
#include "nodes/clock.h"

#define COUNTS_EVERY_NS NS_PER_S

static void pass(struct driver *driver, enum write_stop point)
{
    if (driver->stop_writes && driver->stop_at == point && --driver->stop_writes == 0)
        (void)raise(SIGSTOP); /* cannot fail */
}

static void persist(struct driver *driver)
{
    const struct output *output = &driver->output;
    bool sync = !output->without_sync;
    struct error error;
    if (!output->persist)
        return;
    pass(driver, STOP_BEFORE_WRITE);
    int rc = store_draft(&driver->store, &output->durable, sync, &error);
    if (rc == 0) {
        pass(driver, STOP_DURING_WRITE);
        rc = store_place(&driver->store, sync, &error);
    }
    if (rc < 0) {
        error_prefix(&error, "keep state");
        shell_fail(driver->shell, &error);
        return;
    }
    pass(driver, STOP_AFTER_WRITE);
}

static void trace_messages(struct driver *driver)
{
    for (uint32_t i = 0; i < driver->output.message_count; i++)
        chronicle_send(&driver->chronicle, &driver->output.messages[i], &driver->shell->outbox);
}

static bool send_message(const struct driver *driver, const struct message *message)
{
    struct envelope envelope = {.source = message->source,
                                .target = election_process(message->target),
                                .type = WIRE_ELECTION,
                                .message = *message};
    struct ask ask;
    if (message->target != SERVICE_ID)
        return mesh_send(driver->shell->mesh, &envelope);
    return ask_read(message, driver->config.nodes, &ask) && adapter_ask(&driver->adapter, &ask);
}

static void send_messages(struct driver *driver)
{
    if (driver->output.message_count)
        shell_pass(driver->shell, HALT_AT_SEND);
    for (uint32_t i = 0; i < driver->output.message_count; i++)
        if (!send_message(driver, &driver->output.messages[i]))
            chronicle_dropped(&driver->chronicle, &driver->output.messages[i]);
}

/* The events go out first, then the elector's messages, then what the service has to say. */
static void carry(struct driver *driver)
{
    shell_record(driver->shell);
    send_messages(driver);
    shell_carry(driver->shell);
}

static void rearm(struct driver *driver)
{
    alarm_set(&driver->wake, driver->output.wake_ns);
    alarm_set(&driver->service_wake, service_deadline(&driver->service));
}

/* Only under a planted bug does anything leave before the record is durable. */
static void step(struct driver *driver, struct input *input)
{
    struct outbox *outbox = &driver->shell->outbox;
    bool late = false;
    output_reset(&driver->output);
    input->now_ns = clock_own_ns();
    input->wall_ns = clock_wall_ns();
    driver->algorithm->step(driver->elector, input, &driver->output);
    late = driver->output.send_before_persist;
    if (!late)
        persist(driver);
    if (driver->shell->failed)
        return;
    chronicle_step(&driver->chronicle, &driver->output, outbox);
    trace_messages(driver);
    service_belief(&driver->service, &driver->output.belief, clock_own_ns(), outbox);
    carry(driver);
    if (late) {
        persist(driver);
        chronicle_late_persist(&driver->chronicle, &driver->output, outbox);
        shell_carry(driver->shell);
    }
    rearm(driver);
}

static void on_wake(void *context)
{
    step(context, &(struct input){.type = INPUT_WAKE});
}

static void on_service_wake(void *context)
{
    struct driver *driver = context;
    service_wake(&driver->service, clock_own_ns(), &driver->shell->outbox);
    shell_carry(driver->shell);
    rearm(driver);
}

static void on_counts(void *context)
{
    struct driver *driver = context;
    chronicle_counts(&driver->chronicle, &driver->shell->outbox);
    shell_carry(driver->shell);
    alarm_set(&driver->counts, clock_own_ns() + COUNTS_EVERY_NS);
}

/* Two incarnations of one node must not draw the same numbers, or they would repeat a split vote.
 */
static uint32_t own_process(const struct arguments *arguments)
{
    return PROCESS_NUMBER(arguments->twin ? PROCESS_TWIN : PROCESS_NODE, arguments->id);
}

static uint64_t own_seed(const struct arguments *arguments)
{
    uint64_t process = own_process(arguments);
    return mix64(arguments->seed ^ mix64(process << 32 | arguments->incarnation));
}

int driver_open(struct driver *driver, struct shell *shell, struct error *error)
{
    const struct arguments *arguments = &shell->arguments;
    *driver = (struct driver){.shell = shell};
    driver->config = (struct elector_config){.id = (uint32_t)arguments->id,
                                             .nodes = (uint32_t)arguments->nodes,
                                             .witnesses = (uint32_t)arguments->witnesses,
                                             .knobs = shell->knobs,
                                             .seed = own_seed(arguments)};
    int rc = algorithm_parse(arguments->algorithm, &driver->algorithm, &driver->config, error);
    if (rc == 0 && driver->algorithm->validate)
        rc = driver->algorithm->validate(&driver->config, error);
    if (rc < 0)
        return rc;
    const struct store_owner owner = {driver->config.id, arguments->run, driver->algorithm->name};
    if (arguments->copy[0])
        rc = store_copy(arguments->copy, arguments->state, error);
    if (rc < 0)
        return rc;
    rc = store_open(arguments->state, &owner, &driver->store, &driver->stored, error);
    if (rc < 0)
        return rc;
    chronicle_init(&driver->chronicle, driver->algorithm, own_process(arguments), arguments->trace);
    service_init(&driver->service,
                 &(struct service_config){.id = driver->config.id,
                                          .twin = arguments->twin,
                                          .incarnation = arguments->incarnation,
                                          .write_every_ns = shell->knobs.write_every,
                                          .request_timeout_ns = shell->knobs.request_timeout});
    driver->output.wake_ns = UINT64_MAX;
    driver->elector = must_alloc(1, driver->algorithm->state_size(&driver->config));
    driver->algorithm->init(driver->elector, &driver->config);
    return 0;
}

/* As if the answer had come over the mesh. */
static void on_answer(void *context, const struct answer *answer)
{
    struct driver *driver = context;
    const struct envelope envelope = {.type = WIRE_ELECTION,
                                      .message = answer_message(answer, driver->config.id)};
    if (!driver->shell->failed)
        driver_message(driver, &envelope);
}

static void on_note(void *context, const char *text)
{
    struct driver *driver = context;
    struct event *event =
        outbox_event(&driver->shell->outbox, driver->config.id, EVENT_INFO, F_NOTE);
    event_set_text(event, FIELD_TEXT, slice_of(text));
    shell_record(driver->shell);
}

static int open_adapter(struct driver *driver, struct error *error)
{
    const struct arguments *arguments = &driver->shell->arguments;
    const struct adapter_events events = {on_answer, on_note, driver};
    const struct adapter_config config = {
        .loop = &driver->shell->loop,
        .mesh = driver->shell->mesh,
        .node = driver->config.id,
        .nodes = driver->config.nodes,
        .incarnation = arguments->incarnation,
        .address = address_of((uint32_t)arguments->base, election_process(SERVICE_ID)),
        .patience_ns = 2 * driver->config.knobs.election_timeout_max,
    };
    if (!algorithm_has_service(driver->algorithm->traits(&driver->config.options)))
        return 0;
    return adapter_open(arguments->service, &config, &events, &driver->adapter, error);
}

void driver_start(struct driver *driver)
{
    struct error error;
    if (open_adapter(driver, &error) < 0) {
        shell_fail(driver->shell, &error);
        return;
    }
    alarm_init(&driver->wake, &driver->shell->loop, on_wake, driver);
    alarm_init(&driver->service_wake, &driver->shell->loop, on_service_wake, driver);
    alarm_init(&driver->counts, &driver->shell->loop, on_counts, driver);
    alarm_set(&driver->counts, clock_own_ns() + COUNTS_EVERY_NS);
    step(driver, &(struct input){.type = INPUT_START, .stored = &driver->stored});
}

void driver_message(struct driver *driver, const struct envelope *envelope)
{
    struct outbox *outbox = &driver->shell->outbox;
    if (envelope->type == WIRE_ELECTION) {
        chronicle_receive(&driver->chronicle, &envelope->message, outbox);
        step(driver, &(struct input){.type = INPUT_MESSAGE, .message = &envelope->message});
        return;
    }
    if (envelope->type == WIRE_REQUEST)
        service_request(&driver->service, envelope->source, &envelope->request, clock_own_ns(),
                        outbox);
    else
        service_reply(&driver->service, &envelope->reply, clock_own_ns(), outbox);
    shell_carry(driver->shell);
    rearm(driver);
}

void driver_unsent(struct driver *driver, const struct envelope *envelope)
{
    if (envelope->type == WIRE_REQUEST)
        service_unsent(&driver->service, envelope->request.id, clock_own_ns(),
                       &driver->shell->outbox);
}

void driver_command(struct driver *driver, enum command_type type, uint32_t target)
{
    step(driver,
         &(struct input){.type = INPUT_COMMAND, .command = {.type = type, .target = target}});
}

void driver_stop(struct driver *driver)
{
    chronicle_counts(&driver->chronicle, &driver->shell->outbox);
    shell_carry(driver->shell);
}
