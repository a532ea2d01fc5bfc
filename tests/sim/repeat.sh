#!/usr/bin/env bash
# One seed is one history, byte for byte, however many processes work; what fails can be repeated
# with the command that is printed.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/../live/helpers/shell.bash"
LIMIT=120

expect 0 "$COUP" sim --seeds 1..12 -t 5s --keep all -j 1 -o "$work/one"
expect 0 "$COUP" sim --seeds 1..12 -t 5s --keep all -j 3 -o "$work/two"
diff -r "$work/one" "$work/two" >/dev/null || complain "two sweeps of the same seeds differ"
[ "$(find "$work/one" -name 'seed-*.coup' | wc -l)" = 12 ] || complain "not all histories kept"

# Stops at the first failing seed, keeps its history, and that history is judged alike.
expect 1 "$COUP" sim -a raft:bug=vote-twice -f kill,partition -t 10s --seeds 40 -o "$work/bug"
says '^seed [0-9]+: '
says '^invalid: [0-9]+ seeds \([0-9]+ valid, 1 invalid'
command=$(sed -n 's/^  repeat  *[^ ]*coup //p' "$work/out")
history=$(sed -n 's/^  history  *//p' "$work/out")
expect 1 "$COUP" check "$history"
# shellcheck disable=SC2086 # the printed command is words
expect 1 "$COUP" $command -o "$work/again"
cmp -s "$history" "$work/again/$(basename "$history")" || complain "repeated, another history"

# Going on, expectations, JSON.
expect 1 "$COUP" sim -a raft:bug=vote-twice -f kill,partition -t 10s --seeds 40 -k -o "$work/all"
[ "$(find "$work/all" -name 'seed-*.coup' | wc -l)" -gt 1 ] || complain "--keep-going stopped"
expect 0 "$COUP" sim -a raft:bug=vote-twice -f kill,partition -t 10s --seeds 40 -x invalid:vote-once \
    -q --json -o "$work/json"
says '^\{"verdict":"invalid","seeds":[0-9]+,.*"check":".*"command":"[^ ]*coup sim '
expect 1 "$COUP" sim -t 2s -f none --seeds 3 -x invalid
expect 0 "$COUP" sim -t 5s --seeds 5 -x valid -f none
expect 0 "$COUP" sim -t 5s --seeds 5 -n 1..7 -w 0 --swarm off --trace -f kill

# A violation of another check than the expected one does not end the search.
expect 0 "$COUP" sim -a raft:bug=prevote-term-mismatch -f kill,pause,partition,link --seeds 500 -x invalid:recovers
says '^as expected: invalid:recovers$'

# Ended by a signal it shows what is done, and never says valid of what it did not run.
timeout -s INT 2 "$COUP" sim --seeds 1000000 -q >"$work/out" 2>"$work/err"
[ $? = 124 ] || complain "not ended by the signal"
says '^unknown: [0-9]+ seeds \([0-9]+ valid, 0 invalid'
says '^  interrupted after [0-9]+ of 1000000 seeds$'
finish
