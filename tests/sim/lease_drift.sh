#!/usr/bin/env bash
# Leases do not overlap while clocks drift by no more than declared; they do beyond, and without a
# margin.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/../live/helpers/shell.bash"
LIMIT=120

lease() { # OPTIONS DRIFT EXPECTED
    expect 0 "$COUP" sim -a "quorum-lease:$1" -f isolate-leader,pause,delay -t 10s --every 1s \
        --physics "drift=$2" --seeds 300 -k -q -x "$3" -o "$work/runs-$1-$2"
}

lease drift=5% 5% valid
lease drift=1%,margin=10ms 45% invalid:lease-exclusive
lease margin=0 5% invalid:lease-exclusive

# What a seed draws stays within the bound, and reaches far into it.
expect 0 "$COUP" sim -a quorum-lease:drift=2% -f isolate-leader -t 2s --seeds 40 --keep all \
    -o "$work/drawn"
for history in "$work"/drawn/seed-*.coup; do
    expect 0 "$COUP" convert "$history" --to jsonl
    head -1 "$work/out" | sed -n 's/.*power-loss=[0-9.]*%,drift=\([0-9.]*\)%.*/\1/p'
done >"$work/drifts"
awk '{ drawn++; drifting += $1 > 0; far += $1 > 1; beyond += $1 > 2 }
     END { exit !(drawn == 40 && drifting >= 10 && far >= 3 && beyond == 0) }' "$work/drifts" ||
    complain "drifts drawn within 2%:" "$(sort -n "$work/drifts" | xargs)"
finish
