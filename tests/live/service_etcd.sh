#!/usr/bin/env bash
# Elections by a real etcd, which is broken like everybody else.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/helpers/shell.bash"
cd "$work" || exit 1

# Without etcd only what is said about that can be tested.
mkdir stub
expect_refusals() {
    refuse 3 '^coup run: --service: etcd is not installed: .*apt-get install -y etcd-server' \
        env PATH=/nonexistent "$COUP" run -q -a lease -n 3 -t 500ms --faults none --service etcd -o none
    printf '#!/bin/sh\necho "etcd Version: 3.3.9"\n' >stub/etcd
    chmod +x stub/etcd
    refuse 3 'is etcd 3.3.9, too old: 3.4 is the first' \
        env PATH="$PWD/stub:$PATH" "$COUP" run -q -a lease -n 3 -t 500ms --faults none --service etcd -o old
    printf '#!/bin/sh\n[ "$1" = --version ] && echo "etcd Version: 3.4.99" && exit\necho no disk; exit 7\n' >stub/etcd
    refuse 3 'coordinator ended with status 3: coup-keeper: etcd ended with status 7: no disk; history so far: dead/history.coup' \
        env PATH="$PWD/stub:$PATH" "$COUP" run -q -a lease -n 3 -t 500ms --faults none --service etcd -o dead
    expect 2 "$COUP" check dead/history.coup
    refuse 64 "etcd has not what db-lease asks for" "$COUP" run -q -a db-lease --service etcd
    refuse 64 "'nosuch' is unknown \(accepted: embedded, etcd" "$COUP" run -q -a lease --service nosuch
}
expect_refusals
if ! command -v etcd >/dev/null; then
    echo "no etcd here (Debian: etcd-server)"
    [ "$failures" = 0 ] && exit 77
    finish
fi

# A proxy of the user's is none of the service's.
export http_proxy=http://127.0.0.1:9 ETCD_NAME=stranger
# What is to befall it is not drawn: it takes a while to start again.
cat >broken.yaml <<'YAML'
name: broken
summary: etcd answers late, stands still, then dies
algorithm: queue
nodes: 3
time: 3s
expect: valid
steps:
  - {at: 100ms, fault: degraded-service, for: 500ms, delay: 100ms}
  - {at: 800ms, fault: service-pause, for: 600ms}
  - {at: 1600ms, fault: service-kill, for: 300ms}
YAML
expect 0 "$COUP" run --scenario broken.yaml --service etcd -o queue
says '^  leader-without-grant +valid'
says '^  lease-exclusive +valid'
expect 0 "$COUP" show queue/history.coup --f grant
says ' coordinator +info +grant +token=[0-9]+ holder=n[1-3] record=queue/'
expect 0 "$COUP" show queue/history.coup --f fault
says 'kind=service-kill .*targets=coordinator .*outcome=installed'
says 'kind=service-pause .*targets=coordinator .*outcome=installed'
expect 0 "$COUP" convert queue/history.coup --to jsonl
says '"service":"etcd [0-9.]+"'
grep -q 'ready to serve client requests' queue/logs/service.log || complain "etcd's log is not kept"
[ ! -e queue/state/coordinator/data ] || complain "etcd's data is not thrown away"

# What a dropped session breaks, with the row and by the clients' clocks as well.
cat >drop.yaml <<'YAML'
name: dropped
summary: the service forgets the leader's session
algorithm: lease
nodes: 3
time: 2s
expect: "invalid:lease-exclusive"
steps:
  - {at: 300ms, fault: service-session-drop, on: leader, for: 100ms}
  - {at: 1s, fault: service-session-drop, on: leader, for: 100ms}
YAML
expect 0 "$COUP" run --scenario drop.yaml --service etcd -o drop
expect 0 "$COUP" replay drop/history.coup
says '1/1 reproduced'
expect 0 "$COUP" run -a db-lease:clock=client -n 3 -t 1s --faults kill --every 300ms --service etcd -o row
finish
