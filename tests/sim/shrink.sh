#!/usr/bin/env bash
# A long run that violates becomes a short scenario that still does.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/../live/helpers/shell.bash"
cd "$work" || exit 1

expect 1 "$COUP" sim -a raft:bug=vote-twice --faults kill,partition --seeds 50 -o bad -q
bad=$(echo bad/*.coup)
expect 0 "$COUP" shrink "$bad" -o small.yaml
expect 0 "$COUP" sim --scenario small.yaml -q
says '^as expected: invalid:'
faults=$(grep -c '^  - {' small.yaml)
[ "$faults" -le 3 ] || complain "$faults faults are left"
expect 0 "$COUP" shrink --check vote-once "$bad"
says '^expect: "invalid:vote-once"$'

refuse 64 "'nonsense' is unknown" "$COUP" shrink --check nonsense "$bad"
expect 0 "$COUP" sim --seeds 1 --keep all -o good -q
refuse 64 'violates no check' "$COUP" shrink good/seed-1.coup
expect 0 "$COUP" convert "$bad" --to jsonl -o bad.jsonl
sed '1s/,bug=vote-twice//' bad.jsonl >mended.jsonl
refuse 64 'is not violated when it is run again' "$COUP" shrink mended.jsonl
refuse 64 '/nowhere/small.yaml' "$COUP" shrink "$bad" -o /nowhere/small.yaml
refuse 64 'small.yaml: File exists' "$COUP" shrink "$bad" -o small.yaml
head -c 1500 "$bad" >cut.coup
refuse 3 'cut.coup: it violates no check up to the damage: ' "$COUP" shrink cut.coup
# However short it could be, it is one that coup runs.
expect 1 "$COUP" sim -a raft:bug=no-majority -t 20s --seeds 1 --faults kill --checks majority-support -q -o short
expect 0 "$COUP" shrink short/seed-1.coup --check majority-support -o short.yaml
expect 0 "$COUP" sim --scenario short.yaml --seeds 1..3 -q -o shorter
finish
