#!/usr/bin/env bash
# Elections by a real ZooKeeper, which is broken like everybody else.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/helpers/shell.bash"
cd "$work" || exit 1

refuse 64 'zookeeper has not what db-lease asks for' "$COUP" run -q -a db-lease --service zookeeper
if ! "$COUP" doctor --json | grep -q '"name":"zookeeper","state":"ok"'; then
    echo "no ZooKeeper here (Debian: zookeeper)"
    [ "$failures" = 0 ] && exit 77
    finish
fi

expect 0 "$COUP" run -a lease -n 3 -t 1s --faults kill --every 300ms --seed 4 --service zookeeper -o lease
says '^  leader-without-grant +valid'
# It takes long to start again, so what is to befall it is not drawn.
cat >broken.yaml <<'YAML'
name: broken
summary: ZooKeeper stands still, then dies
algorithm: queue
nodes: 3
time: 4s
expect: valid
steps:
  - {at: 300ms, fault: service-pause, for: 800ms}
  - {at: 1500ms, fault: service-kill, for: 300ms}
YAML
expect 0 "$COUP" run --scenario broken.yaml --service zookeeper -o queue
says '^  leader-without-grant +valid'
says '^  lease-exclusive +valid'
expect 0 "$COUP" show queue/history.coup --f grant
says ' coordinator +info +grant +token=[0-9]+ holder=n[1-3] record=queue/'
expect 0 "$COUP" show queue/history.coup --f fault
says 'kind=service-kill .*targets=coordinator .*outcome=installed'
expect 0 "$COUP" convert queue/history.coup --to jsonl
says '"service":"zookeeper [0-9.]+"'
[ ! -e queue/state/coordinator/data ] || complain "its data is not thrown away"
finish
