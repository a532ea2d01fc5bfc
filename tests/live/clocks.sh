#!/usr/bin/env bash
# Clocks of real nodes, bent: they read as asked, survive their process, never run back where they
# must not, and break just the leases that declared too little.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/helpers/shell.bash"
"$COUP" doctor --json >"$work/machine"
jq -e '[.machine[] | select(.name == "namespaces" or .name == "libfaketime") | .state == "ok"] | all' \
    "$work/machine" >/dev/null || exit 77
LIMIT=60

# holds FILTER: is true of the list of the last run's events, their values among their keys.
holds() {
    jq -es "map(. + (.value | objects // {})) | $1" "$work/run/history.jsonl" >/dev/null ||
        complain "not so: $1" "$(grep -E '"(fault|heal)"' "$work/run/history.jsonl" | cut -c 1-300 | head -n 20)"
}

run_it() {
    rm -rf "$work/run"
    expect 0 "$COUP" run "$@" -q -o "$work/run"
    "$COUP" convert "$work/run/history.coup" --to jsonl -o "$work/run/history.jsonl"
}

run_scenario() {
    printf 'name: test\nsummary: test\n%s\n' "$1" >"$work/test.yaml"
    run_it --scenario "$work/test.yaml"
}

# A step either way, read back; kept when the process dies; set right by the heal of each.
run_scenario 'algorithm: raft
nodes: 3
time: 4s
expect: valid
steps:
  - {at: 100ms, fault: clock-step, on: n2, step: 100s, for: 3s}
  - {at: 200ms, fault: clock-step, on: n3, step: 1h, direction: back, for: 3500ms}
  - {at: 500ms, fault: kill, on: n2, for: 300ms}
  - {at: 1500ms, fault: clock-step, on: n2, step: 7s, for: 500ms}'
holds 'any(.[]; .f == "fault" and (.proof // "" | startswith("n2 reads wall +100.0")))'
holds 'any(.[]; .f == "fault" and (.proof // "" | test("n3 reads wall -(3600.0|3599.9)")))'
holds 'any(.[]; .f == "fault" and (.proof // "" | startswith("n2 reads wall +107.0")))'
holds '[.[] | select(.f == "heal" and .kind == "clock-step")] | length == 3 and all(.outcome == "healed")'
holds '[.[] | select(.f == "heal" and .kind == "clock-step") | .proof] | sort | join(" ") |
    test("^n2 reads wall .0.00.* n2 reads wall .100.00.* n3 reads wall .0.00")'
# True time is out of reach: a minute or an hour would show.
holds '[.[] | .time // 0] | max < 60000000000'

# Rates up and down, over a restart that has time to end: own time goes on, whatever is done to it.
run_scenario 'algorithm: raft
nodes: 3
time: 5s
expect: valid
steps:
  - {at: 100ms, fault: clock-rate, on: n1+n2, drift: 100%, for: 1s}
  - {at: 600ms, fault: clock-rate, on: n2, drift: 40%, direction: slow, for: 3500ms}
  - {at: 1500ms, fault: kill, on: n2, for: 200ms}
  - {at: 3s, fault: clock-rate, on: n2, drift: 40%, direction: slow, for: 500ms}'
holds '[.[] | select(.f == "fault" and .kind == "clock-rate")] | length == 3 and all(.outcome == "installed")'
# Both slow rates on n2 at once, the first of them since before it was killed.
holds 'any(.[]; .f == "fault" and (.proof // "" | test("n2 reads .* rate 0.5[01]")))'
holds '[.[] | select(.process == "n1" and .node_time) | .node_time] | . == sort'
holds '[.[] | select(.process == "n2" and .node_time) | .node_time] | . == sort'

# Leases hold while clocks drift by no more than declared, and overlap when they drift by more.
run_scenario 'algorithm: "quorum-lease:drift=5%"
nodes: 5
time: 9s
expect: valid
steps:
  - {at: 500ms, fault: clock-rate, on: leader, drift: 4%, direction: slow, for: 8s}
  - {at: 600ms, fault: clock-rate, on: "follower:2", drift: 4%, direction: fast, for: 8s}
  - {at: 2s, fault: isolate-leader, for: 1500ms}
  - {at: 5s, fault: isolate-leader, for: 1500ms}'
jq -e '.checks[] | select(.name == "lease-exclusive") | .verdict == "valid"' "$work/run/verdict.json" >/dev/null ||
    complain "lease-exclusive does not hold"
run_scenario 'algorithm: "quorum-lease:drift=5%"
nodes: 5
time: 8s
expect: "invalid:lease-exclusive"
steps:
  - {at: 500ms, fault: clock-rate, on: leader, drift: 100%, direction: slow, for: 7s}
  - {at: 2500ms, fault: isolate-leader, for: 2s}'
jq -e '.checks[] | select(.name == "lease-exclusive") | .witness | length == 2' "$work/run/verdict.json" >/dev/null ||
    complain "no witness of two holders"

# Both kinds in one run: each finds nodes made for it.
run_it -a raft -n 5 -t 6s --every 300ms --faults clock --seed 4
for kind in clock-step clock-rate clock-strobe; do
    holds "any(.[]; .f == \"fault\" and .kind == \"$kind\" and .outcome == \"installed\")"
done
# The service's clock, by its own reading: who leases by it leases twice.
run_it --scenario db-lease-service-clock-set-ahead
holds 'any(.[]; .f == "fault" and .kind == "service-clock" and .outcome == "installed" and
               (.proof | startswith("coordinator reads wall +3600.")))'
finish
