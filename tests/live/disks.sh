#!/usr/bin/env bash
# Disks of real nodes fail: a node that fsyncs survives it, one that does not is found out by a power
# loss, and nothing of it shows on the machine.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/helpers/shell.bash"
"$COUP" doctor >"$work/doctor" 2>&1 || { echo "skipped: no sandbox here" && exit 77; }
cd "$work" || exit 1

kinds='power-loss|slow-fsync|disk-full|io-error|disk-stall'

# Where they cannot fail: the fault named is skipped and says why, all does not mean it.
mkdir bin
cp "$COUP" "$(dirname "$COUP")"/coup-* bin/
rm -f bin/coup-disk
expect 0 bin/coup doctor
says '^fuse: coup-disk is not built'
says '^power-loss +disk +missing +coup-disk is not built.* scripts/setup'
expect 2 bin/coup run -q -n 3 -t 500ms --faults power-loss --seed 1 -o none
says '^  power-loss +[0-9]+ +0 +[1-9]'
expect 0 bin/coup show none/history.coup --f fault
says 'reason="coup-disk is not built.*scripts/setup.*outcome=skipped'
run bin/coup run -q -n 3 -t 300ms --faults all --seed 1 -o some
says '^  (kill|crash-loop|term-stop|kill-during-write) '
! grep -qE "^  ($kinds) " "$work/out" || complain "all means disks" "$(<"$work/out")"

if ! grep -q '^fuse *ok' "$work/doctor"; then
    [ "$failures" = 0 ] || finish
    echo "skipped: no FUSE here" && grep -A1 '^fuse: ' "$work/doctor"
    exit 77
fi
mounts=$(wc -l </proc/self/mounts)

# Every kind lands, and leaves the promises whole. The state is kept where it always is.
for attempt in 1 2; do # a busy machine may not run us long enough to tell
    run "$COUP" run -q -n 5 -t 6s --faults disk --every 450ms --seed 2 -o sound.$attempt
    [ "$code" = 2 ] || break
done
[ "$code" = 0 ] || complain "exit $code of a sound raft" "$(head -20 "$work/out")" "$(<"$work/err")"
for kind in ${kinds//|/ }; do
    says "^  $kind +[0-9]+ +[1-9]"
done
for node in 1 2 3 4 5; do
    [ -s "sound.$attempt/state/n$node/node-$node.state" ] || complain "no state of n$node is kept"
done
[ "$(wc -l </proc/self/mounts)" = "$mounts" ] || complain "a mount is left"

# Not synced: lost with the power, kept through a kill.
timeout 30 "$COUP" run -q -a raft:bug=no-fsync -n 3 -t 3s --faults kill --every 300ms --seed 1 -o killed >killed.out 2>&1 &
killed_pid=$!
for seed in 1 2 3; do
    run "$COUP" run -q -a raft:bug=no-fsync -n 3 -t 5s --faults power-loss --every 250ms --seed "$seed" -o "unsynced.$seed"
    [ "$code" != 1 ] || break
done
[ "$code" = 1 ] || complain "exit $code: a power loss did not find a missing fsync" "$(head -20 "$work/out")"
says '^  (vote-once|term-monotonic|single-leader-per-term|unique-token) +invalid'
wait "$killed_pid" || complain "exit $?: a kill lost something" "$(head -20 killed.out)"

# Who serves the disks must not end: the run says so and ends, whoever waits for a disk.
mkdir whole
cp "$COUP" "$(dirname "$COUP")"/coup-* whole/
timeout 20 whole/coup run -q -n 5 -t 10s --faults disk-stall --every 200ms --seed 1 -o orphaned >out 2>err &
run_pid=$!
deadline=$((SECONDS + 10))
until disk=$(pgrep -f "^$work/whole/coup-disk ") || [ "$SECONDS" -ge "$deadline" ]; do
    sleep 0.05
done
sleep 1 # among faults
kill -KILL "$disk"
wait "$run_pid"
code=$? checked=$((checked + 1))
[ "$code" = 3 ] && grep -q 'coup-disk ended (signal 9)' err || complain "exit $code without its disks" "$(<err)"

# All means disks too, where they are.
run "$COUP" run -q -n 3 -t 300ms --faults all --seed 1 -o all
says "^  ($kinds) "
finish
