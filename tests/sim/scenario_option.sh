#!/usr/bin/env bash
# coup sim --scenario: what the file says, what options override, what contradicts it.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/../live/helpers/shell.bash"
cd "$work" || exit 1

# one TEXT: a scenario file of it beside the fixed first lines
one() {
    printf 'name: x\nalgorithm: raft\ntime: 1s\n%s\n' "$1" >one.yaml
}

expect 0 "$COUP" sim --scenario bully-split-3-3
says '^as expected: invalid:fencing-monotonic$'
says '^  repeat   [^ ]*coup sim --scenario bully-split-3-3 --seeds 1..1$'
expect 0 "$COUP" sim --scenario raft-leader-crash
says '^valid: 20 seeds'
says '^as expected: valid$'
expect 1 "$COUP" sim --scenario bully-split-3-3 --resource fenced -k
says '^not as expected: invalid:fencing-monotonic was expected$'
expect 0 "$COUP" sim --scenario bully-split-3-3 --resource fenced --expect valid
expect 0 "$COUP" sim --scenario raft-leader-crash --seeds 4..5 -n 7 -t 6s -w 1 -c 1 --rate 5
says '^valid: 2 seeds'
expect 0 "$COUP" list scenarios
says '^bully-split-3-3  '
shipped=("$tests"/../scenarios/*.yaml)
[ "$(wc -l <out)" = $((${#shipped[@]} + 1)) ] || complain "not all scenarios are in the program"

one 'seed: 7'
expect 0 "$COUP" sim --scenario one.yaml --keep all -o kept
[ -s kept/seed-7.coup ] || complain "the seed of the file was not taken"
expect 0 "$COUP" check kept/seed-7.coup
says '^as expected: valid$'
one 'set: {heartbeat: 10ms, registers: 2}'
expect 0 "$COUP" sim --scenario "$work/one.yaml" --set registers=3 --seeds 1 --keep all -o both
expect 0 "$COUP" convert both/seed-1.coup --to jsonl
says '"heartbeat":"10ms".*"registers":"3"'

refuse 64 "unknown scenario 'no-such'" "$COUP" sim --scenario no-such
refuse 64 "no/such: No such file" "$COUP" sim --scenario no/such
for option in --faults=kill --every=1s --swarm=off; do
    refuse 64 "${option%=*} and --scenario exclude each other" \
        "$COUP" sim --scenario raft-leader-crash $option
done
refuse 64 "--faults and --scenario exclude" "$COUP" run --scenario raft-leader-crash -f kill
refuse 64 "step .*target .n3. is not one of" "$COUP" sim --scenario bully-split-3-3 -n 2
refuse 64 "step .*begins after the time is over" "$COUP" sim --scenario bully-split-3-3 -t 500ms
refuse 64 "--nodes with --scenario" "$COUP" sim --scenario raft-leader-crash -n 3..5
refuse 64 "--nodes with --scenario" "$COUP" sim --scenario raft-leader-crash -n 51
one 'physics: {latency-min: never}'
refuse 64 "one.yaml:4: physics: " "$COUP" sim --scenario one.yaml
one 'set: {heartbeat: 1s}'
refuse 64 "one.yaml:4: set: " "$COUP" run --scenario one.yaml
one 'expect: good'
refuse 64 "one.yaml:4: expect: 'good'" "$COUP" sim --scenario one.yaml
one 'resource: open'
refuse 64 "one.yaml:4: resource: 'open'" "$COUP" run --scenario one.yaml
one 'steps: [{at: 1ms, fault: message-drop, from: n2, to: n1, kind: vote, count: 1}]'
refuse 64 "one.yaml:4: step: message-drop: .*'vote' is not one of any, vote-request" "$COUP" sim --scenario one.yaml
one 'steps: [{at: 1ms, fault: message-drop, from: n2, to: n1, kind: promise}]'
refuse 64 "one.yaml:4: steps: message-drop: raft sends no 'promise' .accepted: any, vote-request, vote-reply" \
    "$COUP" run --scenario one.yaml
expect 2 "$COUP" sim --scenario one.yaml -a paxos --seeds 1
says 'message-drop was asked for and installed, but never touched anything'
sed -i 's/raft/raff/' one.yaml
refuse 64 "one.yaml:2: algorithm: unknown algorithm 'raff'" "$COUP" sim --scenario one.yaml
finish
