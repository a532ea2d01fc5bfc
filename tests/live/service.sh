#!/usr/bin/env bash
# Elections by the embedded coordination service, with real processes: the service is broken like
# everybody else, and holds what it answered.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/helpers/shell.bash"
cd "$work" || exit 1

for algorithm in lease queue db-lease; do
    expect 0 "$COUP" run -a "$algorithm" -n 3 -t 6s --every 700ms --faults service-kill,service-pause,degraded-service --seed 4 -o "$algorithm"
    says '^  leader-without-grant +valid'
    says '^  lease-exclusive +valid'
    expect 0 "$COUP" show "$algorithm/history.coup" --f grant
    says ' coordinator +info +grant +token=[0-9]+ holder=n[1-3] record='
    expect 0 "$COUP" show "$algorithm/history.coup" --f fault
    says 'kind=service-kill .*targets=coordinator .*outcome=installed'
    expect 0 "$COUP" show "$algorithm/history.coup" --f spawn
    says ' coordinator +info +spawn +pid=[0-9]+ incarnation=2'
done

# A dropped session is a lease that ends early: the holder still believes in it.
cat >drop.yaml <<'YAML'
name: dropped
summary: the service forgets the leader's session
algorithm: lease
nodes: 3
time: 8s
expect: "invalid:lease-exclusive"
steps:
  - {at: 1s, fault: service-session-drop, on: leader, for: 100ms}
  - {at: 3s, fault: service-session-drop, on: leader, for: 100ms}
  - {at: 5s, fault: service-session-drop, on: leader, for: 100ms}
YAML
expect 0 "$COUP" run --scenario drop.yaml

# A service that does not even start is our failure, not a verdict; who asks none does without it.
mkdir bin
cp "$(dirname "$COUP")"/coup* bin
printf '#!/bin/sh\nexit 1\n' >bin/coup-coordinator
refuse 3 'coordinator ended with status 1' bin/coup run -q -a lease -n 3 -t 500ms --faults none -o stub
rm bin/coup-coordinator
refuse 3 'coup-coordinator: No such file' bin/coup run -q -a lease -n 3 -t 500ms --faults none -o gone
expect 0 bin/coup run -q -a raft -n 3 -t 500ms --faults none -o without
finish
