#include "controller/child_argv.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "controller/service_use.h"
#include "nodes/address.h"

const char *child_program(const struct run_config *run, uint32_t process)
{
    static const char *const programs[PROCESS_KINDS] = {
        [PROCESS_NODE] = "coup-node",
        [PROCESS_TWIN] = "coup-node",
        [PROCESS_RESOURCE] = "coup-resource",
        [PROCESS_CLIENT] = "coup-client",
        [PROCESS_COORDINATOR] = "coup-coordinator",
    };
    const char *program = programs[process_kind(process)];
    assert(program);
    if (process_kind(process) == PROCESS_COORDINATOR && run->service->kind->program)
        return "coup-keeper";
    return program;
}

/* Takes what `word` holds. */
static void add_word(struct child_argv *argv, struct text *word)
{
    assert(argv->word_count < CHILD_WORDS_MAX);
    argv->words[argv->word_count] = word->at;
    argv->argv[argv->word_count] = word->at;
    argv->word_count++;
    *word = (struct text){0};
}

static void add_text(struct child_argv *argv, const char *name, const char *value)
{
    struct text word = {0};
    text_add(&word, "%s=%s", name, value);
    add_word(argv, &word);
}

static void add_count(struct child_argv *argv, const char *name, uint64_t value)
{
    struct text word = {0};
    text_add(&word, "%s=%" PRIu64, name, value);
    add_word(argv, &word);
}

static void add_knobs(struct child_argv *argv, const struct knobs *knobs)
{
    struct text word = {0};
    text_add(&word, "knobs=");
    knobs_format(knobs, true, &word);
    add_word(argv, &word);
}

/* "algorithm=raft:prevote=on,bug=stale-grant" */
static void add_algorithm(struct child_argv *argv, const struct run_config *run)
{
    const struct algorithm *algorithm = run->algorithm;
    struct text word = {0}, options = {0};
    if (algorithm->options)
        options_format(algorithm->options, &run->elector.options, true, &options);
    if (run->elector.bug)
        text_add(&options, "%sbug=%s", options.length ? "," : "",
                 algorithm->bugs[run->elector.bug - 1].name);
    text_add(&word, "algorithm=%s%s%s", algorithm->name, options.length ? ":" : "",
             text_string(&options));
    text_release(&options);
    add_word(argv, &word);
}

/* What all programs want to know. */
static void add_common(struct child_argv *argv, const struct child_argv_request *request)
{
    char address[ADDRESS_TEXT_MAX];
    struct text run = {0};
    text_add(&run, "run=%" PRIx64, request->run_number);
    add_word(argv, &run);
    add_count(argv, "nodes", request->run->elector.nodes);
    add_count(argv, "seed", request->run->seed);
    add_count(argv, "origin", request->origin_ns);
    add_count(argv, "incarnation", request->incarnation);
    add_text(argv, "base", address_format(request->address_base, address));
    add_knobs(argv, &request->run->elector.knobs);
}

static void add_node(struct child_argv *argv, const struct child_argv_request *request)
{
    add_count(argv, "id", process_index(request->process));
    add_count(argv, "witnesses", request->run->elector.witnesses);
    add_count(argv, "clients", request->run->clients);
    add_algorithm(argv, request->run);
    add_text(argv, "state", request->state);
    if (request->copy) {
        add_text(argv, "twin", "on");
        add_text(argv, "copy", request->copy);
    }
    add_text(argv, "trace", request->run->trace ? "on" : "off");
    if (request->run->service)
        add_text(argv, "service", request->run->service->kind->name);
}

static void add_resource(struct child_argv *argv, const struct child_argv_request *request)
{
    add_text(argv, "state", request->state);
    add_text(argv, "mode", request->run->fenced ? "fenced" : "unfenced");
}

static void add_coordinator(struct child_argv *argv, const struct child_argv_request *request)
{
    const struct service_use *service = request->run->service;
    add_text(argv, "state", request->state);
    if (!service->kind->program)
        return;
    add_text(argv, "service", service->kind->name);
    add_text(argv, "program", service->program);
    add_text(argv, "log", request->log);
}

static void add_client(struct child_argv *argv, const struct child_argv_request *request)
{
    add_count(argv, "id", process_index(request->process));
    add_count(argv, "rate", request->run->rate);
}

void child_argv_build(const struct child_argv_request *request, struct child_argv *out)
{
    struct text name = {0};
    *out = (struct child_argv){0};
    text_add(&name, "%s", child_program(request->run, request->process));
    add_word(out, &name);
    add_common(out, request);
    switch (process_kind(request->process)) {
    case PROCESS_NODE:
    case PROCESS_TWIN: add_node(out, request); break;
    case PROCESS_RESOURCE: add_resource(out, request); break;
    case PROCESS_COORDINATOR: add_coordinator(out, request); break;
    default: add_client(out, request); break;
    }
}

void child_argv_release(struct child_argv *argv)
{
    for (uint32_t i = 0; i < argv->word_count; i++)
        free(argv->words[i]);
    *argv = (struct child_argv){0};
}
