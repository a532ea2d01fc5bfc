#!/usr/bin/env bash
# Benchmarks that need real processes: they run, count what they were asked for and judge it.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/helpers/shell.bash"
cd "$work" || exit 1

expect 0 "$COUP" bench failover -a raft:prevote=off,paxos -n 3 --trials 2 --faults kill,pause --every 800ms --seed 1
for run in "raft, 3 nodes, 2 losses of the leader by kill" "paxos, 3 nodes, 2 losses of the leader by pause"; do
    says "^$run, network [a-z]+, verdict valid"
done
[ "$(grep -cE '^  accepted write +[0-9]+ +[0-9.]+m?s ' "$work/out")" = 4 ] || complain "not four runs with accepted writes"
refuse 64 "'rate' does not take a leader away" "$COUP" bench failover --faults kill,rate
refuse 64 "''" "$COUP" bench failover --faults ""
refuse 64 "'nobody'" "$COUP" bench failover -a raft,nobody --trials 1

expect 0 "$COUP" bench start -n 3 --rounds 2
says '^  coup-node +3 processes +RSS +[1-9]'
says '^  command to first leader +median +[0-9.]+m?s '

expect 0 "$COUP" bench check -e 20000
says '^linearizable, unique +20000 operations of 10 clients +[0-9.]+[mu]?s CPU '
says '^linearizable, with cas +20000 '
says '^linearizable, 5 values +2001 '

expect 0 "$COUP" bench inject --rounds 5
says '^25 +312 +switch +5 '
finish
