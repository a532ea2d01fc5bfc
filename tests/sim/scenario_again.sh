#!/usr/bin/env bash
# coup show --scenario: a kept history as a scenario repeats the run, event by event, whether its
# faults were drawn, written down or waited for something.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/../live/helpers/shell.bash"
cd "$work" || exit 1

# repeats HISTORY: the scenario that it becomes gives the same events and the same outcome. Faults
# are numbered by their times, and only those that waited say when and by whom: that differs.
repeats() {
    local seed=${1##*seed-} want=0
    run "$COUP" check "$1"
    [ "$code" = 2 ] && want=2
    expect 0 "$COUP" show --scenario "$1"
    cp out again.yaml
    expect $want "$COUP" sim --scenario again.yaml --keep all -o again
    "$COUP" show "$1" | sed -E '/nemesis/s/ id=[0-9]+|,at=[0-9]+[mnu]?s,by=n[0-9]+//g' >first
    "$COUP" show "again/seed-$seed" | sed -E '/nemesis/s/ id=[0-9]+|,at=[0-9]+[mnu]?s,by=n[0-9]+//g' >second
    cmp -s first second || complain "another run: $1" "$(diff first second | head -4)" "$(<again.yaml)"
    rm -rf again
}

run "$COUP" sim --seeds 1..5 --keep all -k -t 8s -n 3..7 -f all -o drawn --every 500ms
run "$COUP" sim -a raft:bug=forget-vote --seeds 1..200 -f kill -o bug
run "$COUP" sim -a quorum-lease --seeds 1..2 --keep all -k -t 8s -w 1 -o lease
cat >waits.yaml <<'EOF'
name: waits
algorithm: raft
time: 6s
steps:
  - {at: 500ms, fault: kill, on: leader, for: 500ms}
  - {after: {f: lead, delay: 300ms}, fault: pause, on: actor, for: 1s, repeat: 2, every: 1500ms}
  - {after: {f: campaign, nth: 2}, fault: isolate-one, on: actor, for: 300ms}
  - {after: 'vote:3', fault: loss, loss: 50%, on: 'random:2', for: 300ms}
  - {after: reject, fault: pause, on: actor, for: 1s}
EOF
run "$COUP" sim --scenario waits.yaml --seeds 1..3 --keep all -k -o waits
count=0
for history in drawn/*.coup bug/*.coup lease/*.coup waits/*.coup; do
    repeats "$history"
    count=$((count + 1))
done
[ $count = 11 ] || complain "$count histories"
expect 0 "$COUP" show --scenario bug/seed-*.coup
says '^expect: "invalid:[a-z-]*"$'
expect 0 "$COUP" show --scenario waits/seed-1.coup
[ "$(grep -c after: out)" = 1 ] || complain "only what never came may be left" "$(<out)"
refuse 64 "--f does not go with it" "$COUP" show --scenario -f lead waits/seed-1.coup
head -c 3000 waits/seed-1.coup >torn.coup
expect 2 "$COUP" show --scenario torn.coup
says '^algorithm: "raft:'
finish
