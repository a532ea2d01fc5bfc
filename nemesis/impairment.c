/* Impairments as text: one table of fields for both directions. */
#include "nemesis/link.h"

#include <assert.h>
#include <string.h>

enum {
    AT_CUT,
    AT_CUT_SOFT,
    AT_CUT_DATA,
    AT_LOSS,
    AT_DUPLICATE,
    AT_REORDER,
    AT_CORRUPT,
    AT_DELAY,
    AT_JITTER,
    AT_RATE,
    AT_COUNT,
};

#define RATE_MAX UINT64_C(1000000000000)

const struct option impairment_options[] = {
    [AT_CUT] = {"cut", OPTION_SWITCH, "off", 0, 0, NULL, "nothing passes"},
    [AT_CUT_SOFT] = {"cut-soft", OPTION_SWITCH, "off", 0, 0, NULL,
                     "nothing new passes, what is under way arrives"},
    [AT_CUT_DATA] = {"cut-data", OPTION_SWITCH, "off", 0, 0, NULL,
                     "TCP segments with payload are dropped"},
    [AT_LOSS] = {"loss", OPTION_PROBABILITY, "0%", 0, PPM_ONE, NULL, "dropped at random"},
    [AT_DUPLICATE] = {"duplicate", OPTION_PROBABILITY, "0%", 0, PPM_ONE, NULL, "delivered twice"},
    [AT_REORDER] = {"reorder", OPTION_PROBABILITY, "0%", 0, PPM_ONE, NULL, "overtakes the delay"},
    [AT_CORRUPT] = {"corrupt", OPTION_PROBABILITY, "0%", 0, PPM_ONE, NULL, "one bit flipped"},
    [AT_DELAY] = {"delay", OPTION_DURATION, "0", 0, IMPAIRMENT_DELAY_MAX_NS, NULL, "held back"},
    [AT_JITTER] = {"jitter", OPTION_DURATION, "0", 0, IMPAIRMENT_DELAY_MAX_NS, NULL,
                   "delay varies by so much either way"},
    [AT_RATE] = {"rate", OPTION_BITRATE, "0", 0, RATE_MAX, NULL, "capacity; 0 is unlimited"},
    [AT_COUNT] = {.name = NULL},
};

static void to_values(const struct impairment *impairment, uint64_t value[AT_COUNT])
{
    value[AT_CUT] = impairment->cut;
    value[AT_CUT_SOFT] = impairment->cut_soft;
    value[AT_CUT_DATA] = impairment->cut_data;
    value[AT_LOSS] = impairment->loss_ppm;
    value[AT_DUPLICATE] = impairment->duplicate_ppm;
    value[AT_REORDER] = impairment->reorder_ppm;
    value[AT_CORRUPT] = impairment->corrupt_ppm;
    value[AT_DELAY] = impairment->delay_ns;
    value[AT_JITTER] = impairment->jitter_ns;
    value[AT_RATE] = impairment->rate_bits_per_s;
}

static struct impairment from_values(const uint64_t *value)
{
    return (struct impairment){
        .cut = value[AT_CUT] != 0,
        .cut_soft = value[AT_CUT_SOFT] != 0,
        .cut_data = value[AT_CUT_DATA] != 0,
        .loss_ppm = (uint32_t)value[AT_LOSS],
        .duplicate_ppm = (uint32_t)value[AT_DUPLICATE],
        .reorder_ppm = (uint32_t)value[AT_REORDER],
        .corrupt_ppm = (uint32_t)value[AT_CORRUPT],
        .delay_ns = value[AT_DELAY],
        .jitter_ns = value[AT_JITTER],
        .rate_bits_per_s = value[AT_RATE],
    };
}

void impairment_format(const struct impairment *impairment, struct text *out)
{
    uint64_t value[AT_COUNT];
    bool first = true;
    to_values(impairment, value);
    for (int i = 0; i < AT_COUNT; i++) {
        if (value[i] == 0)
            continue;
        text_add(out, "%s%s", first ? "" : ",", impairment_options[i].name);
        first = false;
        if (impairment_options[i].type == OPTION_SWITCH)
            continue;
        text_add(out, "=");
        options_format_one(&impairment_options[i], value[i], out);
    }
}

uint32_t impairment_causes(const struct impairment *impairment)
{
    bool delayed = impairment->delay_ns || impairment->jitter_ns;
    return (uint32_t)impairment_cuts(impairment) << CAUSE_CUT |
           (uint32_t)impairment->cut_data << CAUSE_CUT_DATA |
           (uint32_t)(impairment->loss_ppm > 0) << CAUSE_LOSS |
           (uint32_t)(impairment->corrupt_ppm > 0) << CAUSE_CORRUPT |
           (uint32_t)(impairment->duplicate_ppm > 0) << CAUSE_DUPLICATE |
           (uint32_t)(impairment->reorder_ppm > 0) << CAUSE_REORDER |
           (uint32_t)(delayed && impairment->reorder_ppm == 0) << CAUSE_DELAY |
           (uint32_t)(impairment->rate_bits_per_s > 0) << CAUSE_RATE;
}

const char *causes_verb(uint32_t causes)
{
    static const char *const verbs[CAUSES] = {
        [CAUSE_CUT] = "dropped",     [CAUSE_CUT_DATA] = "dropped",  [CAUSE_LOSS] = "dropped",
        [CAUSE_CORRUPT] = "damaged", [CAUSE_DUPLICATE] = "doubled", [CAUSE_REORDER] = "reordered",
        [CAUSE_DELAY] = "delayed",   [CAUSE_RATE] = "slowed",
    };
    for (int i = 0; i < CAUSES; i++)
        if (causes >> i & 1)
            return verbs[i];
    return "touched";
}

/* One "name" or "name=value". A switch stands alone: its presence is its value. */
static int parse_field(struct slice field, uint32_t *seen, struct option_values *values,
                       struct error *error)
{
    const char *equals = memchr(field.at, '=', field.length);
    struct slice name = {field.at, equals ? (size_t)(equals - field.at) : field.length};
    int at = options_find(impairment_options, name);
    if (field.length == 0)
        return error_usage(error, "empty impairment between commas");
    if (at >= 0 && (*seen >> at & 1))
        return error_usage(error, "impairment '%s' is named twice", impairment_options[at].name);
    if (at >= 0)
        *seen |= 1u << at;
    bool is_switch = at >= 0 && impairment_options[at].type == OPTION_SWITCH;
    if (is_switch && equals)
        return error_usage(error, "impairment '%s' takes no value", impairment_options[at].name);
    if (is_switch) {
        values->at[at] = 1;
        return 0;
    }
    struct text pair = {0};
    text_add_bytes(&pair, field.at, field.length);
    int rc = options_parse(impairment_options, "impairment", text_string(&pair), values, error);
    text_release(&pair);
    return rc;
}

int impairment_parse(const char *text, struct impairment *out, struct error *error)
{
    struct option_values values = {{0}};
    uint32_t seen = 0;
    assert(AT_COUNT <= OPTIONS_MAX);
    while (*text) {
        size_t length = strcspn(text, ",");
        int rc = parse_field((struct slice){text, length}, &seen, &values, error);
        if (rc < 0)
            return rc;
        text += length;
        if (*text == ',' && *++text == '\0')
            return error_usage(error, "impairment list ends with a comma");
    }
    *out = from_values(values.at);
    return 0;
}
