#include "simulator/suited.h"

#include <string.h>

#include "nemesis/message.h"

void suited_view(const struct algorithm *algorithm, struct cluster_view *out)
{
    out->missing[FACILITY_TRANSFER] = algorithm_no_transfer(algorithm);
    out->missing[FACILITY_STATE] =
        algorithm->durable ? NULL : "this algorithm makes nothing durable";
    out->stands_alone = algorithm->stands_alone;
}

uint32_t suited_faults(const struct algorithm *algorithm, const struct fault *kinds[FAULTS_MAX],
                       uint32_t count)
{
    if (algorithm_no_transfer(algorithm))
        count = faults_without(kinds, count, FACILITY_TRANSFER);
    if (algorithm->durable)
        return count;
    count = faults_without(kinds, count, FACILITY_STATE);
    return faults_without(kinds, count, FACILITY_DISK);
}

/* NULL: it has what the fault needs. */
static const char *lacks(const struct algorithm *algorithm, const struct option_values *options,
                         enum facility facility)
{
    bool durable = algorithm->durable != NULL;
    if (facility == FACILITY_SERVICE && !algorithm_has_service(algorithm->traits(options)))
        return "it asks no coordination service";
    if (facility == FACILITY_TRANSFER && algorithm_no_transfer(algorithm))
        return "it cannot hand leadership on";
    if (!durable && (facility == FACILITY_STATE || facility == FACILITY_DISK))
        return "it makes nothing durable";
    return NULL;
}

/* Every kind that the word means is one for which the algorithm has nothing. */
static int refuse_word(const struct algorithm *algorithm, const struct option_values *options,
                       const char *word, struct error *error)
{
    const struct fault *kinds[FAULTS_MAX];
    const char *why = NULL;
    uint32_t count;
    int rc = faults_parse(word, kinds, &count, error);
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        if (!(why = lacks(algorithm, options, kinds[i]->needs)))
            return 0;
    return rc == 0 && why ? error_usage(error, "--faults: %s means nothing to %s: %s", word,
                                        algorithm->name, why)
                          : rc;
}

int suited_parse(const struct algorithm *algorithm, const struct option_values *options,
                 const char *text, const struct fault *out[FAULTS_MAX], uint32_t *ret_count,
                 struct error *error)
{
    int rc = faults_parse(text, out, ret_count, error);
    for (const char *at = text; rc == 0 && at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        struct text word = {0};
        text_add_bytes(&word, at, strcspn(at, ","));
        rc = refuse_word(algorithm, options, text_string(&word), error);
        text_release(&word);
    }
    if (rc == 0)
        *ret_count = suited_faults(algorithm, out, *ret_count);
    return rc;
}

static const enum filter_deed deeds[MESSAGE_DEEDS] = {
    [MESSAGE_DROP] = FILTER_DROP,           [MESSAGE_HOLD] = FILTER_HOLD,
    [MESSAGE_DUPLICATE] = FILTER_DUPLICATE, [MESSAGE_ECHO] = FILTER_ECHO,
    [MESSAGE_REORDER] = FILTER_REORDER,     [MESSAGE_RELEASE] = FILTER_RELEASE,
};

/* The place of the kind among the algorithm's; how many there are: it is none of them. */
static uint32_t kind_place(const struct algorithm *algorithm, const char *kind)
{
    uint32_t place = 0;
    while (algorithm->kinds[place] && strcmp(algorithm->kinds[place], kind) != 0)
        place++;
    return place;
}

/* Ids of nodes are the same, the service's is 0 among electors. */
static uint64_t sender_bits(const struct message_trouble *trouble)
{
    uint64_t service = trouble->service ? node_bit(trouble->service) : 0;
    return (trouble->from & ~service) << 1 | ((trouble->from & service) != 0);
}

bool suited_rule(const struct algorithm *algorithm, const struct message_trouble *trouble,
                 struct filter_rule *out)
{
    uint32_t kind = trouble->kind ? kind_place(algorithm, trouble->kind) : FILTER_ANY_KIND;
    *out = (struct filter_rule){.fault = trouble->fault,
                                .deed = deeds[trouble->deed],
                                .senders = sender_bits(trouble),
                                .kind = kind,
                                .term = trouble->term,
                                .left = trouble->count ? trouble->count : FILTER_NO_BOUND};
    return !trouble->kind || algorithm->kinds[kind] != NULL;
}

static int refuse_kind(const struct algorithm *algorithm, const char *fault, const char *kind,
                       struct error *error)
{
    struct text accepted = {0};
    text_add(&accepted, "any");
    for (uint32_t i = 0; algorithm->kinds[i]; i++)
        text_add(&accepted, ", %s", algorithm->kinds[i]);
    int rc = error_usage(error, "%s: %s sends no '%s' (accepted: %s)", fault, algorithm->name, kind,
                         text_string(&accepted));
    text_release(&accepted);
    return rc;
}

int suited_schedule(const struct algorithm *algorithm, const struct schedule *schedule,
                    struct error *error)
{
    for (uint32_t i = 0; i < schedule->count; i++) {
        const struct scheduled_fault *scheduled = &schedule->faults[i];
        if (!scheduled->fault->between)
            continue;
        uint64_t kind = scheduled->parameters.at[MESSAGE_KIND];
        if (kind && !algorithm->kinds[kind_place(algorithm, message_kinds[kind])])
            return refuse_kind(algorithm, scheduled->fault->name, message_kinds[kind], error);
    }
    return 0;
}
