/* Elections: suspicion, pre-votes, candidacy, votes and terms. */
#include "nodes/algorithms/raft/raft.h"

static void persist(struct raft *raft, struct output *output)
{
    struct durable durable = raft->durable;
    if (raft_broken(raft, BUG_FORGET_VOTE))
        durable.word[WORD_VOTE] = 0;
    if (!raft_broken(raft, BUG_FORGET_TERM))
        output_persist(output, &durable);
    output->send_before_persist = output->persist && raft_broken(raft, BUG_REPLY_BEFORE_PERSIST);
    output->without_sync = output->persist && raft_broken(raft, BUG_WITHOUT_SYNC);
}

/* Section 3.4: timeouts are drawn anew each time, so that split votes are rare and do not repeat.
 */
void raft_arm(struct raft *raft, uint64_t now_ns)
{
    const struct knobs *knobs = &raft->config.knobs;
    raft->deadline_ns = now_ns + random_between(&raft->random, knobs->election_timeout_min,
                                                knobs->election_timeout_max);
}

void raft_send(const struct raft *raft, uint32_t target, struct message message,
               struct output *output)
{
    message.source = raft->config.id;
    message.target = target;
    message.term = raft_term(raft);
    output_send(output, message);
}

void raft_send_all(const struct raft *raft, struct message message, struct output *output)
{
    for (uint32_t id = 1; id <= raft->config.nodes; id++) {
        bool done = raft->role == ROLE_CANDIDATE && raft->members[id - 1].answered;
        if (id != raft->config.id && !done)
            raft_send(raft, id, message, output);
    }
}

uint32_t raft_fresh_members(const struct raft *raft, uint64_t now_ns, uint64_t window_ns,
                            uint64_t *ret_until)
{
    uint32_t fresh = 1;
    *ret_until = UINT64_MAX;
    for (uint32_t id = 1; id <= raft->config.nodes; id++) {
        uint64_t acked_ns = raft->members[id - 1].acked_ns;
        if (id == raft->config.id || now_ns - acked_ns >= window_ns)
            continue;
        fresh++;
        if (acked_ns + window_ns < *ret_until)
            *ret_until = acked_ns + window_ns;
    }
    return fresh;
}

/* Sections 4.2.3 and 9.6: a leader heard within the shortest election timeout is taken to be alive,
 * unless it is the leader itself that asks: then it leads no more. A leader hears itself only
 * through the majority that answers it. */
static bool leader_alive(const struct raft *raft, uint32_t asker, uint64_t now_ns)
{
    uint64_t window_ns = raft->config.knobs.election_timeout_min, until_ns;
    if (raft_broken(raft, BUG_STALE_LEADER))
        return raft->leader != 0;
    if (raft->leader == 0 || raft->leader == asker)
        return false;
    if (raft->role == ROLE_LEADER)
        return raft_fresh_members(raft, now_ns, window_ns, &until_ns) >= raft_majority(raft);
    return now_ns - raft->heard_ns < window_ns;
}

void raft_become_follower(struct raft *raft, uint32_t leader, const char *reason, uint64_t now_ns,
                          struct output *output)
{
    if (raft->role != ROLE_FOLLOWER) {
        raft_arm(raft, now_ns);
        if (raft_broken(raft, BUG_CLEAR_ON_STEP_DOWN))
            raft->durable.word[WORD_VOTE] = 0;
    }
    if (leader != 0 && leader != raft->leader && raft_broken(raft, BUG_CLEAR_ON_LEADER))
        raft->durable.word[WORD_VOTE] = 0;
    if (reason && (raft->role == ROLE_LEADER || leader != raft->leader))
        output->step_reason = reason;
    raft->role = ROLE_FOLLOWER;
    raft->leader = leader;
    raft->asking = raft->forced = false;
    raft->transfer_ns = 0;
}

/* Section 3.3: whoever learns of a larger term follows it. */
void raft_adopt_term(struct raft *raft, uint64_t term, uint64_t now_ns, struct output *output)
{
    raft_become_follower(raft, 0, "higher term", now_ns, output);
    raft->durable.word[WORD_TERM] = term;
    raft->durable.word[WORD_VOTE] = 0;
    persist(raft, output);
}

/* Section 3.4: one vote a term, durable before anybody hears of it (section 3.8). A vote given
 * again is made durable again: a crash may have kept the first record out of the history. */
static void cast_vote(struct raft *raft, uint32_t candidate, struct output *output)
{
    raft->durable.word[WORD_VOTE] = candidate;
    persist(raft, output);
    output_note(output, (struct note){.f = F_VOTE, .term = raft_term(raft), .peer = candidate});
}

void raft_lead(struct raft *raft, uint64_t now_ns)
{
    raft->role = ROLE_LEADER;
    raft->leader = raft->config.id;
    raft->transfer_ns = raft->check_ns = 0;
    for (uint32_t i = 0; i < raft->config.nodes; i++)
        raft->members[i].acked_ns = now_ns;
    if (!raft_broken(raft, BUG_LATE_HEARTBEAT))
        raft->deadline_ns = now_ns; /* the first heartbeat is due at once */
}

/* A grant in the term, or the round of pre-votes, that is open; each voter counts once. */
static void count(struct raft *raft, uint32_t voter, uint64_t now_ns, struct output *output)
{
    struct raft_member *member = &raft->members[voter - 1];
    if (member->granted && !raft_broken(raft, BUG_DUPLICATE_GRANTS))
        return;
    member->granted = true;
    if (++raft->grants < raft_majority(raft))
        return;
    if (raft->asking)
        raft_stand(raft, false, now_ns, output);
    else
        raft_lead(raft, now_ns);
}

/* Ask all who did not answer yet, and again until they do: a question may get lost. */
static void solicit(struct raft *raft, uint64_t now_ns, struct output *output)
{
    const struct knobs *knobs = &raft->config.knobs;
    raft->resend_ns =
        now_ns + random_between(&raft->random, knobs->heartbeat, knobs->election_timeout_min);
    if (raft->asking)
        raft_send_all(raft, (struct message){.kind = PREVOTE_REQUEST, .argument = {raft->round}},
                      output);
    else
        raft_send_all(raft, (struct message){.kind = VOTE_REQUEST, .argument = {raft->transfer}},
                      output);
}

/* Sections 3.4 and 9.6: ask for pre-votes, or raise the term, vote for oneself and ask for votes.
 */
void raft_stand(struct raft *raft, bool asking, uint64_t now_ns, struct output *output)
{
    if (!asking) {
        raft->durable.word[WORD_TERM]++;
        output_note(output, (struct note){.f = F_CAMPAIGN, .term = raft_term(raft)});
        cast_vote(raft, raft->config.id, output);
        if (raft_broken(raft, BUG_FORGET_SELF_VOTE))
            raft->durable.word[WORD_VOTE] = 0;
    }
    raft->role = ROLE_CANDIDATE;
    raft->asking = asking;
    raft->contested = false;
    for (uint32_t i = 0; i < raft->config.nodes; i++)
        raft->members[i].answered = raft->members[i].granted = false;
    if (!raft_broken(raft, BUG_STALE_TALLY))
        raft->grants = 0;
    if (asking)
        raft->round = now_ns;
    raft_arm(raft, now_ns);
    solicit(raft, now_ns, output);
    count(raft, raft->config.id, now_ns, output);
}

static void on_timeout(struct raft *raft, uint64_t now_ns, struct output *output)
{
    if (raft->role == ROLE_FOLLOWER && raft->leader != 0)
        output_note(output, (struct note){.f = F_SUSPECT, .term = raft_term(raft)});
    if (raft->leader != 0 && !raft_broken(raft, BUG_STALE_LEADER)) {
        raft->leader = 0;
        output->step_reason = "election timeout";
    }
    raft->transfer = false;
    if (raft_is_witness(raft))
        raft_arm(raft, now_ns);
    else
        raft_stand(raft, raft_enabled(raft, RAFT_PREVOTE), now_ns, output);
}

void raft_on_election_wake(struct raft *raft, uint64_t now_ns, struct output *output)
{
    if (now_ns >= raft->deadline_ns) {
        on_timeout(raft, now_ns, output);
    } else if (raft->role == ROLE_CANDIDATE && now_ns >= raft->resend_ns) {
        solicit(raft, now_ns, output);
        if (raft_broken(raft, BUG_SELF_VOTE_TWICE)) {
            raft->members[raft->config.id - 1].granted = false;
            count(raft, raft->config.id, now_ns, output);
        }
    }
}

/* Section 4.2.3: while the leader is heard, a vote request moves no term, unless the leader itself
 * sent the candidate. */
bool raft_disturbs(const struct raft *raft, const struct message *message, uint64_t now_ns)
{
    bool sticky = raft_enabled(raft, RAFT_STICKINESS) && !message->argument[0];
    return message->kind == VOTE_REQUEST && message->term > raft_term(raft) && sticky &&
           leader_alive(raft, message->source, now_ns);
}

void raft_on_prevote_request(struct raft *raft, const struct message *message, uint64_t now_ns,
                             struct output *output)
{
    bool alive = leader_alive(raft, message->source, now_ns);
    if (message->term < raft_term(raft) && raft_broken(raft, BUG_PREVOTE_MISMATCH))
        return;
    bool grant = !alive && message->term >= raft_term(raft);
    raft_send(raft, message->source,
              (struct message){.kind = PREVOTE_REPLY, .argument = {message->argument[0], grant}},
              output);
}

void raft_on_prevote_reply(struct raft *raft, const struct message *message, uint64_t now_ns,
                           struct output *output)
{
    bool granted = message->argument[1] != 0;
    if (message->term < raft_term(raft) && raft_broken(raft, BUG_PREVOTE_MISMATCH))
        return;
    if (raft->role != ROLE_CANDIDATE || message->argument[0] != raft->round || !granted)
        return;
    if (!raft->asking && !raft_broken(raft, BUG_PREVOTE_AS_VOTE))
        return;
    raft->members[message->source - 1].answered = true;
    count(raft, message->source, now_ns, output);
}

void raft_on_vote_request(struct raft *raft, const struct message *message, uint64_t now_ns,
                          struct output *output)
{
    uint64_t vote = raft->durable.word[WORD_VOTE];
    bool free = vote == 0 || vote == message->source || raft_broken(raft, BUG_VOTE_TWICE);
    bool grant = free && message->term == raft_term(raft);
    if (grant) {
        if (raft->asking)
            raft_become_follower(raft, 0, NULL, now_ns, output);
        cast_vote(raft, message->source, output);
        if (raft->role == ROLE_FOLLOWER)
            raft_arm(raft, now_ns);
    }
    raft_send(raft, message->source, (struct message){.kind = VOTE_REPLY, .argument = {grant}},
              output);
}

/* Somebody else stands too. With pre-vote the next attempt disturbs nobody, so it need not wait for
 * a whole timeout; without, the drawn one stays. */
static void hurry(struct raft *raft, uint64_t now_ns)
{
    const struct knobs *knobs = &raft->config.knobs;
    if (raft->contested || !raft_enabled(raft, RAFT_PREVOTE))
        return;
    raft->contested = true;
    uint64_t spread_ns = knobs->election_timeout_max - knobs->election_timeout_min;
    uint64_t anew_ns =
        now_ns + random_between(&raft->random, knobs->heartbeat, knobs->heartbeat + spread_ns);
    if (anew_ns < raft->deadline_ns)
        raft->deadline_ns = anew_ns;
}

void raft_on_vote_reply(struct raft *raft, const struct message *message, uint64_t now_ns,
                        struct output *output)
{
    bool current = message->term == raft_term(raft) || raft_broken(raft, BUG_STALE_GRANT);
    if (raft->role != ROLE_CANDIDATE || raft->asking || !current)
        return;
    raft->members[message->source - 1].answered = true;
    if (message->argument[0])
        count(raft, message->source, now_ns, output);
    else
        hurry(raft, now_ns);
}
