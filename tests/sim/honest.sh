#!/usr/bin/env bash
# Honest algorithms in the runs that once accused them: long rounds of a ring that has to skip,
# thin links that are healed, a group of one that is gone before it has merged.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/../live/helpers/shell.bash"
LIMIT=120
ALL=kill,pause,partition,link,clock,disk,operator # what all meant then: other kinds change every draw

expect 0 "$COUP" sim -a ring:quorum=on -f "$ALL" --seeds 1..160 -o "$work/ring"
expect 0 "$COUP" sim -a invitation -f kill --seeds 880..910 -o "$work/invitation"
expect 0 "$COUP" sim -a quorum-lease -f "$ALL" --seeds 4591..4591 -o "$work/lease"

# A node that only writes what all agree on is made to write all the same: no run is without a kill.
for algorithm in bully ring:quorum=on invitation zab; do
    expect 0 "$COUP" sim -a "$algorithm" -f kill-during-write --seeds 1..12 --json \
        -o "$work/write-$algorithm"
    says '"vacuous":0'
done
finish
