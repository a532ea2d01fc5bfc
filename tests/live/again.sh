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
expect 0 "$COUP" shrink --trials 1 --budget 6s -o small.yaml bad
grep -q '^expect: "invalid:' small.yaml || complain "no expectation in the scenario"
interrupt 7 "$COUP" shrink --trials 1 --budget 60s bad
grep -qE '\(interrupted\): faults ' "$work/err" || complain "shrink says nothing of its interruption" "$(cat "$work/err")"
says '^expect: "invalid:'

# Stopped at the first violation: nothing happens after it, and all may be looked at while it is held.
expect 1 "$COUP" run -a raft:prevote=off,bug=vote-twice -t 60s --faults kill,delay --every 500ms --seed 3 --stop-on-violation -q -o frozen
says '^INVALID  interrupted after .* of 1m; vote-once: '
expect 0 "$COUP" show frozen --f note,phase
says 'frozen at the first violation'
mkfifo keys
"$COUP" run -a raft:prevote=off,bug=vote-twice -t 60s --faults kill,delay --every 500ms --seed 3 --hold -o "$work/held" <keys >held.out 2>held.err &
run=$!
exec 3>keys
for ((i = 0; i < 200; i++)); do
    grep -q 'press Enter to end' held.err && break
    sleep 0.1
done
nodes=$(pgrep -f "^coup-node .*state=$work/held/" | wc -l)
moving=$(pgrep -f "^coup-node .*state=$work/held/" -r R,S,D | wc -l)
[ "$nodes" -gt 2 ] && [ "$moving" = 0 ] || complain "held: $nodes nodes, $moving of them not stopped" "$(cat held.err)"
sleep 5 # longer than any liveness may take
echo >&3
wait "$run"
code=$?
[ "$code" = 1 ] || complain "held: exit $code, not 1" "$(cat held.err)"
expect 1 "$COUP" check --json held # what stood still while somebody looked is held against nobody
jq -e '[.checks[] | select(.verdict == "invalid") | .name] == ["vote-once"]' "$work/out" >/dev/null ||
    complain "held: more than the vote is invalid" "$(jq -c '[.checks[] | select(.verdict == "invalid")]' "$work/out")"
exec 3>&-
finish
