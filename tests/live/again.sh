#!/usr/bin/env bash
# Real runs once more: replayed, shrunk, and what a signal leaves of that.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/helpers/shell.bash"
cd "$work" || exit 1
LIMIT=60

expect 0 "$COUP" run -n 3 -t 2s --faults kill --seed 1 -q -o run
expect 0 "$COUP" replay --times 2 run
says '^2/2 reproduced$'
[ "$(grep -c '^  history coup-runs/' "$work/out")" = 2 ] || complain "not two new histories"

# interrupt SECONDS COMMAND...: SIGINT after that time must end it soon.
interrupt() {
    local seconds=$1
    shift
    timeout -s INT -k 8 "$seconds" "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$? checked=$((checked + 1))
    [ "$code" = 124 ] || complain "exit $code, not ended by SIGINT: $*" "$(cat "$work/err")"
}
interrupt 2 "$COUP" replay --times 20 run
says '^[01]/[01] reproduced when it was interrupted$'

# A violation of every run: shrunk within a budget, and a signal in the second run keeps what
# the first has shown.
expect 1 "$COUP" run -a raft:bug=no-majority -n 3 -t 4s --faults kill,pause --every 1s --seed 3 -q -o bad
expect 0 "$COUP" shrink --trials 1 --budget 12s -o small.yaml bad
grep -q '^expect: "invalid:' small.yaml || complain "no expectation in the scenario"
interrupt 7 "$COUP" shrink --trials 1 --budget 60s bad
grep -qE '\(interrupted\): faults ' "$work/err" || complain "shrink says nothing of its interruption" "$(cat "$work/err")"
says '^expect: "invalid:'
finish
