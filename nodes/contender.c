#include "nodes/contender.h"

#include "base/units.h"

uint64_t contender_ask(struct contender *contender, struct ask ask, uint64_t now_ns,
                       struct output *output)
{
    contender->last_id = now_ns > contender->last_id ? now_ns : contender->last_id + 1;
    ask.id = contender->last_id;
    if (ask.kind != ASK_UPDATE)
        ask.session = contender->session;
    if (!ask.name)
        ask.name = contender->peer.config.id;
    output_send(output, ask_message(&ask, contender->peer.config.id));
    return ask.id;
}

bool contender_hears(const struct contender *contender, const struct input *input,
                     struct answer *out)
{
    return input->type == INPUT_MESSAGE && input->message->source == SERVICE_ID &&
           answer_read(input->message, contender->peer.config.nodes, out);
}

uint64_t contender_until(const struct contender *contender, uint64_t id, uint64_t now_ns)
{
    uint64_t lease_ns = contender_value(contender, CONTENDER_LEASE);
    if (contender->from_answer)
        return now_ns + lease_ns;
    return id + lease_ns - contender_value(contender, CONTENDER_MARGIN);
}

void contender_keep(struct contender *contender, uint64_t now_ns, struct output *output)
{
    if (now_ns < contender->beat_ns)
        return;
    if (contender->session) {
        contender->beat_ns = now_ns + contender->peer.config.knobs.heartbeat;
        (void)contender_ask(contender, (struct ask){.kind = ASK_KEEPALIVE}, now_ns, output);
    } else {
        contender->beat_ns = now_ns + contender_patience_ns(contender);
        contender->opening = contender_ask(
            contender,
            (struct ask){.kind = ASK_OPEN, .ttl_ns = contender_value(contender, CONTENDER_LEASE)},
            now_ns, output);
    }
}

void contender_lost(struct contender *contender, uint64_t now_ns)
{
    contender->session = contender->opening = 0;
    contender->beat_ns = now_ns;
}

/* An answer that was so long on its way that the session may be over opens none. */
bool contender_alive(struct contender *contender, const struct answer *answer, uint64_t now_ns)
{
    uint64_t until_ns = contender_until(contender, answer->id, now_ns);
    bool opens = contender->opening && answer->id == contender->opening;
    if (until_ns <= now_ns || (!opens && answer->session != contender->session) ||
        (!opens && until_ns <= contender->until_ns))
        return false;
    contender->until_ns = until_ns;
    if (!opens)
        return false;
    contender->opening = 0;
    contender->session = answer->session;
    contender->beat_ns = now_ns + contender->peer.config.knobs.heartbeat;
    return true;
}

/* When contender_keep() has something to do, or the session ends. */
static uint64_t keep_ns(const struct contender *contender)
{
    if (contender->session && contender->until_ns < contender->beat_ns)
        return contender->until_ns;
    return contender->beat_ns;
}

void contender_believe(const struct contender *contender, struct belief belief, uint64_t retry_ns,
                       uint64_t now_ns, struct output *output)
{
    uint64_t wake_ns = keep_ns(contender);
    if (belief.role == ROLE_LEADER) {
        belief.until_ns = contender->until_ns;
        belief.may_act = now_ns < contender->until_ns;
    } else {
        belief.token = 0;
    }
    output->belief = belief;
    output->wake_ns = contender->session && retry_ns < wake_ns ? retry_ns : wake_ns;
}

int contender_validate(const struct elector_config *config, const char *name, struct error *error)
{
    uint64_t lease = config->options.at[CONTENDER_LEASE];
    uint64_t margin = config->options.at[CONTENDER_MARGIN];
    uint64_t drift = config->options.at[CONTENDER_DRIFT];
    char a[UNIT_TEXT_MAX], b[UNIT_TEXT_MAX], c[UNIT_TEXT_MAX];
    if (margin + 3 * config->knobs.heartbeat > lease)
        return error_usage(error, "%s: margin (%s) + 3 x heartbeat (%s) must be <= lease (%s)",
                           name, format_duration(margin, a),
                           format_duration(config->knobs.heartbeat, b), format_duration(lease, c));
    if (margin > 0 && margin < lease / PPM_ONE * 2 * drift)
        return error_usage(
            error, "%s: margin (%s) must be >= 2 x drift (%s) x lease (%s), or 0 for none", name,
            format_duration(margin, a), format_probability(drift, b), format_duration(lease, c));
    return 0;
}
