#!/usr/bin/env bash
# Shipped scenarios on real processes come out as they say, one for each lesson: those that the
# simulator shows every time. Two at a time; where the machine does not run us long enough to tell
# (exit 2) once more.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/helpers/shell.bash"
"$COUP" doctor >"$work/doctor" 2>&1 || { echo "skipped: no sandbox here" && exit 77; }
cd "$work" || exit 1
LIMIT=50

lesson() {
    for attempt in 1 2; do
        timeout --kill-after=5 "$LIMIT" "$COUP" run -q --scenario "$1" -o "$1.$attempt" >"$1.out" 2>"$1.err"
        echo $? >"$1.code"
        [ "$(<"$1.code")" = 2 ] || break
    done
}

pairs=(
    "bully-split-3-3 bully-quorum-split-3-3"         # two leaders, or with a quorum one
    "stale-write-unfenced stale-write-fenced"        # it lands, or is refused
    "service-paused-holder-unfenced service-paused-holder-fenced"
    "db-lease-client-clock db-lease-db-clock raft-twin-of-a-follower" # whose clock decides; one id twice
    "raft-leader-in-minority quorum-lease-leader-cut-off"
    "raft-old-heartbeat-lowers-the-term queue-adopts-a-dead-record" # single messages, one rule over a restart
    "raft-new-leader-killed-at-once raft-voter-killed-after-its-grant" # steps that wait for events
)
for pair in "${pairs[@]}"; do
    for name in $pair; do
        lesson "$name" &
    done
    wait
    for name in $pair; do
        checked=$((checked + 1))
        [ "$(<"$name.code")" = 0 ] || complain "exit $(<"$name.code"): $name" "$(head -20 "$name.out")" "$(<"$name.err")"
        grep -q "^as expected: " "$name.out" || complain "not as expected: $name"
    done
done

# The freezer instead of a signal, where this machine has it; its groups go with the run.
if grep -qE '^cgroup2 +ok' "$work/doctor"; then
    expect 0 "$COUP" run -q --scenario raft-frozen-leader -o frozen
    expect 0 "$COUP" show frozen --f fault
    [ "$(grep -c 'its group is frozen' "$work/out")" = 2 ] || complain "not two frozen leaders" "$(cat "$work/out")"
    find /sys/fs/cgroup -type d -name "coup-$("$COUP" convert frozen --to jsonl | head -n 1 | jq -r .run | xargs printf %x)" 2>/dev/null |
        grep . && complain "a group is left"
fi
finish
