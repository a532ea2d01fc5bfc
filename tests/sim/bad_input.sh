#!/usr/bin/env bash
# What cannot be simulated is refused in one line.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/../live/helpers/shell.bash"

refuse 64 "unknown algorithm 'raff'" "$COUP" sim -a raff
refuse 64 "unknown .*'no-such'" "$COUP" sim -f no-such
refuse 64 "'0' must be between 1 and" "$COUP" sim -n 0
refuse 64 "must be between 1 and" "$COUP" sim -n 3..20000
refuse 64 "first must not be above" "$COUP" sim -n 5..3
refuse 64 "--nodes 'x'" "$COUP" sim -n x
refuse 64 "first must not be above" "$COUP" sim --seeds 5..3
refuse 64 "--seeds 'a..b'" "$COUP" sim --seeds a..b
refuse 64 "--seeds '0': " "$COUP" sim --seeds 0
refuse 64 "faults need at most 50" "$COUP" sim -n 51 --seeds 1
refuse 64 "5 witnesses of 5 nodes" "$COUP" sim -n 5 -w 5 --seeds 1
refuse 64 "unknown knob 'x'" "$COUP" sim --set x=1
refuse 64 "2 x heartbeat" "$COUP" sim --set heartbeat=200ms
refuse 64 "unknown physics 'x'" "$COUP" sim --physics x=1
refuse 64 "latency-max \(1ms\) must be >= latency-min \(2ms\)" \
    "$COUP" sim --physics latency-min=2ms,latency-max=1ms
refuse 64 "unknown check 'x'" "$COUP" sim --checks x --seeds 1
refuse 64 "--expect: 'x'" "$COUP" sim -x x
refuse 64 "--jobs" "$COUP" sim -j 0
refuse 64 "/dev/null/x" "$COUP" sim --seeds 1 --keep all -o /dev/null/x -t 1s
mkdir "$work/full"
touch "$work/full/file"
refuse 64 "$work/full" "$COUP" sim --seeds 1 --keep all -o "$work/full" -t 1s
refuse 64 "stray argument 'x'" "$COUP" sim x
refuse 64 "--jobs" "$COUP" selftest -j 1000
# What the algorithm has nothing for is not asked of it; as part of a group it is left out.
refuse 64 'transfer means nothing to bully: it cannot hand leadership on' "$COUP" sim -a bully -f kill,transfer
refuse 64 'service means nothing to raft: it asks no coordination service' "$COUP" sim -a raft -f service
refuse 64 'service-kill means nothing to raft' "$COUP" run -a raft -f service-kill
refuse 64 'disk means nothing to lease: it makes nothing durable' "$COUP" sim -a lease -f disk
refuse 64 'kill-during-write means nothing to queue' "$COUP" sim -a queue -f pause,kill-during-write
expect 0 "$COUP" sim -a lease -f kill,operator --seeds 1..3 -q
finish
