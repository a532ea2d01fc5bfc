#!/usr/bin/env bash
# A history alone is enough to run its run again: exactly in the simulator, by chance elsewhere.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/../live/helpers/shell.bash"
cd "$work" || exit 1

expect 0 "$COUP" sim -a raft --seeds 6..8 --keep all -o good -q
for history in good/*.coup; do
    expect 0 "$COUP" replay "$history"
    says '^run 1 +reproduced +valid$'
    says '^  every belief is the same$'
done

# A violation comes back, from JSON lines too, and in other seeds of the same schedule.
expect 1 "$COUP" sim -a raft:bug=vote-twice --faults kill,partition --seeds 50 -o bad -q
bad=$(echo bad/*.coup)
expect 0 "$COUP" replay "$bad"
says '^run 1 +reproduced +invalid \(.*vote-once'
says '^  every belief is the same$'
expect 0 "$COUP" convert "$bad" --to jsonl -o bad.jsonl
expect 0 "$COUP" replay --targets recorded --times 2 bad.jsonl
says '^2/2 reproduced$'

# So do faults on the coordination service, and on single messages after events.
for scenario in service-session-dropped queue-adopts-a-dead-record raft-vote-cleared-on-step-down; do
    expect 0 "$COUP" sim --scenario "$scenario" --seeds 3 --keep all -q -o "$scenario"
    expect 0 "$COUP" replay --targets recorded "$scenario"/*.coup
    says '^run 1 +reproduced +invalid'
    says '^  every belief is the same$'
done

# Without the bug nothing of it is left; the history still tells what was.
sed '1s/,bug=vote-twice//' bad.jsonl >mended.jsonl
expect 1 "$COUP" replay mended.jsonl
says '^run 1 +not reproduced +valid$'
says '^  parts at belief [0-9]+ of [0-9]+: then n[0-9]'
says '^0/1 reproduced$'

# A history of another version is run as far as it can be, and what differs is said.
sed '1s/"version":"[^"]*"/"version":"9.9"/' bad.jsonl >other.jsonl
expect 0 "$COUP" replay other.jsonl
says '^  version then 9\.9, now [0-9]'
sed '1s/"algorithm":"raft"/"algorithm":"raft9"/' bad.jsonl >unknown.jsonl
refuse 64 "unknown.jsonl: .*'raft9'" "$COUP" replay unknown.jsonl
sed '1s/fault=[a-z-]*/fault=meteor/' bad.jsonl >meteor.jsonl
refuse 64 "meteor.jsonl: planned fault [0-9]+: .*'meteor'" "$COUP" replay meteor.jsonl
sed '1s/"nodes":5/"nodes":0/' bad.jsonl >empty.jsonl
refuse 64 'empty.jsonl: it has no nodes' "$COUP" replay empty.jsonl
sed '1s/"nodes":5/"nodes":1000/' bad.jsonl >many.jsonl
refuse 64 'many.jsonl: ' "$COUP" replay --world real many.jsonl
refuse 64 'none' "$COUP" replay none
refuse 64 'HISTORY' "$COUP" replay

# What a damaged history does not tell is no verdict.
head -c 1500 "$bad" >cut.coup
expect 2 "$COUP" replay cut.coup
says '^  damaged: cut off at byte 1500'
finish
