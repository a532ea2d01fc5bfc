#!/usr/bin/env bash
# What an election by a coordination service costs: no successor before the dead holder's lease is
# over at the service, and one waiter woken for each failover, or all of them.
set -euo pipefail
: "${COUP:?the path of coup}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# history SCENARIO: the events of its first seed, one line each, in $work/events
history() {
    "$COUP" sim --scenario "$1" --seeds 1..1 --keep all -o "$1" >"$1.out" 2>&1 || {
        cat "$1.out"
        exit 1
    }
    "$COUP" show "$1"/*.coup >events
}

# From the end of the holder's process to the next claim, in ms, the shortest there was. The last
# keepalive may have been a heartbeat old.
history service-holder-crash
shortest=$(awk '$4 == "info" && $5 == "exit" && /signal=9/ { died = $2 + 0 }
    $5 == "lead" && died { took = ($2 - died) * 1000; if (!least || took < least) least = took; died = 0 }
    END { printf "%d", least }' events)
[ "$shortest" -ge 445 ] && [ "$shortest" -le 800 ] || {
    echo "FAILED: a successor $shortest ms after the death of a holder of 500 ms"
    exit 1
}

# Campaigns for each claim of one that had waited.
woken() {
    history "$1"
    awk '$5 == "campaign" { woken++ } $5 == "lead" { claims++ }
        END { printf "%d %d", woken, claims - 1 }' events
}
read -r one failovers <<<"$(woken queue-predecessor-watch)"
[ "$failovers" -ge 3 ] && [ "$one" -le $((failovers + 1)) ] || {
    echo "FAILED: $one woken in $failovers failovers by predecessor watches"
    exit 1
}
read -r all failovers <<<"$(woken queue-herd)"
[ "$all" -ge $((3 * failovers)) ] || {
    echo "FAILED: $all woken in $failovers failovers by leader watches"
    exit 1
}
echo "shortest failover $shortest ms; woken by predecessor watches $one, by leader watches $all"

# Who is told of nobody ahead any more leads, also when the last one went before it was watched.
"$COUP" sim -a queue:watch=leader --faults all,service --seeds 1..60 -q >herd.out || {
    cat herd.out
    exit 1
}
