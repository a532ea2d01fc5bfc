#!/usr/bin/env bash
# Real runs in a suite: side by side, kept or not, interrupted and gone on with.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/helpers/shell.bash"
cd "$work" || exit 1
"$COUP" doctor --json | grep -q '"name":"namespaces","state":"ok"' || exit 77
LIMIT=120

cat >real.yaml <<'EOF'
name: real
keep-every: 2
cells:
  - {name: r, world: real, algorithm: [raft, paxos], nodes: 3, faults: kill, every: 500ms, time: 2s, seeds: 1, repeats: 3}
EOF
"$COUP" suite real.yaml -o real -j 2 >first 2>&1 &
pid=$!
for _ in $(seq 600); do
    [ "$(cat real/journal.jsonl 2>/dev/null | wc -l)" -lt 3 ] || break
    sleep 0.1
done
kill -INT $pid
wait $pid
[ $? = 2 ] || complain 'an interrupted suite is not undecided' "$(cat first)"
grep -q ', interrupted; real$' first || complain 'does not say that it was interrupted' "$(cat first)"
expect 0 "$COUP" suite --resume real
says '^passed: 2 cells, 6 runs'
[ "$(find real/histories -name history.coup | wc -l)" = 4 ] || complain 'every second passing run is kept' "$(find real)"
for history in real/histories/*/seed-1-1/history.coup; do
    expect 0 "$COUP" check "$history" --json
done
finish
