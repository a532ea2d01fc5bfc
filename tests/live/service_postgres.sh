#!/usr/bin/env bash
# The lease in a real PostgreSQL, which is broken like everybody else.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/helpers/shell.bash"
cd "$work" || exit 1

refuse 64 'postgres has not what lease asks for, a record that goes with its session \(embedded, etcd, zookeeper can carry it\)' \
    "$COUP" run -q -a lease --service postgres
if ! "$COUP" doctor --json | grep -q '"name":"postgres","state":"ok"'; then
    echo "no PostgreSQL here (Debian: postgresql)"
    [ "$failures" = 0 ] && exit 77
    finish
fi

# What a user's shell tells libpq is not meant for this server.
export PGHOST=127.0.0.1 PGPORT=1 PGSSLMODE=require PGUSER=stranger
# What is to befall it is not drawn: it takes a while to start again.
cat >broken.yaml <<'YAML'
name: broken
summary: PostgreSQL stands still, then dies, and so does the leader
algorithm: db-lease
nodes: 3
time: 3s
expect: valid
steps:
  - {at: 200ms, fault: service-pause, for: 600ms}
  - {at: 1s, fault: service-kill, for: 300ms}
  - {at: 2s, fault: kill, on: leader, for: 500ms}
YAML
expect 0 "$COUP" run --scenario broken.yaml --service postgres -o row
says '^  leader-without-grant +valid'
says '^  lease-exclusive +valid'
expect 0 "$COUP" show row/history.coup --f grant
says ' coordinator +info +grant +token=[0-9]+ holder=n[1-3] record=row'
expect 0 "$COUP" show row/history.coup --f fault
says 'kind=service-kill .*targets=coordinator .*outcome=installed'
says 'kind=service-pause .*targets=coordinator .*outcome=installed'
expect 0 "$COUP" convert row/history.coup --to jsonl
says '"service":"postgres [0-9.]+"'
grep -q 'ready to accept connections' row/logs/service.log || complain "the server's log is not kept"
[ ! -e row/state/coordinator/data ] || complain "the server's data is not thrown away"

# By the clients' clocks a clock that is ahead takes a row that is held. Seldom is the holder told
# before the taker: twice it is not.
cat >skew.yaml <<'YAML'
name: skew
summary: a client's clock that is ahead takes a held row
algorithm: "db-lease:clock=client"
nodes: 3
time: 3s
expect: "invalid:lease-exclusive"
steps:
  - {at: 300ms, fault: clock-step, on: followers, for: 1s, step: 5s, direction: forward}
  - {at: 1600ms, fault: clock-step, on: followers, for: 1s, step: 20s, direction: forward}
YAML
if "$COUP" doctor --json | grep -q '"name":"libfaketime","state":"ok"'; then
    expect 0 "$COUP" run --scenario skew.yaml --service postgres -o skew
fi
finish
