#!/usr/bin/env bash
# Raft under every fault there is, clusters of every small size: never accused, and every fault
# lands somewhere.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/../live/helpers/shell.bash"
LIMIT=250

expect 0 "$COUP" sim -a raft -n 1..7 -f all --every 1s -t 10s --seeds 400 -o "$work/raft"
says '^valid: 400 seeds'
grep -q "never landed in any" "$work/out" && complain "a fault never landed" "$(cat "$work/out")"
expect 0 "$COUP" sim -a raft:prevote=off,checkquorum=off -f kill,partition -t 10s --seeds 40 \
    --checks single-leader-per-term,vote-once,majority-support,fencing-monotonic
expect 0 "$COUP" sim --resource unfenced -f pause -t 10s --seeds 60 -x invalid:fencing-monotonic \
    -o "$work/unfenced"

# Why nothing is known; what was expected is told first, what else broke after it.
expect 2 "$COUP" sim --checks lease-exclusive --seeds 5 -t 1s
says '^  unknown in 5: no check was owed and tested, so nothing was judged$'
expect 0 "$COUP" sim -a bully -f partition -t 10s --seeds 30 --keep-going \
    -x invalid:fencing-monotonic -o "$work/bully"
says '^seed [0-9]+: fencing-monotonic: '
says '^  also invalid .*single-leader-per-term'
finish
