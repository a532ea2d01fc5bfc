#!/usr/bin/env bash
# Whole runs on real netem: a correct algorithm is never accused under any network fault, one that
# splits is caught. Slow clocks of the cluster, because the kernel may be a slow machine inside one.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/../live/helpers/shell.bash"
LIMIT=150
scenarios=$(dirname "$0")/../../scenarios
slow=election-timeout-min=1s,election-timeout-max=2s,heartbeat=200ms,request-timeout=2s

if ! "$COUP" doctor --json | grep -q '"name":"netem","state":"ok"'; then
    echo "skipped: no netem"
    exit 77
fi

# Nothing can be said of a run in which the machine was too slow for anybody: once more.
for attempt in 1 2 3; do
    rm -rf "$work/raft"
    run "$COUP" run -a raft -n 5 -t 10s --faults partition,link --every 1500ms --set "$slow" \
        --seed "$attempt" --expect valid -o "$work/raft"
    [ "$code" = 2 ] || break
done
[ "$code" = 0 ] || complain "raft: exit $code" "$(head -c 2000 "$work/out" "$work/err")"
says 'netem network'
expect 0 "$COUP" check "$work/raft/history.coup"
expect 0 "$COUP" show -f fault "$work/raft/history.coup"
says 'set within .* read back'
says 'outcome=installed'
expect 0 "$COUP" run --scenario "$scenarios/bully-split-3-3.yaml" --network netem --set "$slow" -t 8s \
    -o "$work/bully"
says 'INVALID'
finish
