#!/usr/bin/env bash
# What the length of a lease costs and buys: longer ones are longer in failing over, and seldom end
# by a pause.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/../live/helpers/shell.bash"

expect 0 "$COUP" bench lease -a lease,queue,db-lease:clock=client,quorum-lease --lease 200ms,2s --trials 40
[ "$(wc -l <"$work/out")" = 9 ] || complain "not eight rows" "$(cat "$work/out")"
for algorithm in lease queue db-lease:clock=client quorum-lease; do
    # The failover is about the lease; false expiries are 40 e^-0.8 = 18 by the distribution, and none.
    grep -qE "^$algorithm +200ms +40.0ms +4[0-9] +[12][0-9]{2}ms .* (8|9|1[0-9]|2[0-8]) of 40 " "$work/out" ||
        complain "$algorithm, 200ms" "$(cat "$work/out")"
    grep -qE "^$algorithm +2.00s +400ms +4[0-9] +(1.9[0-9]|2.[0-2][0-9])s .* [01] of 40 " "$work/out" ||
        complain "$algorithm, 2s" "$(cat "$work/out")"
done
refuse 64 "raft has no lease" "$COUP" bench lease -a lease,raft
refuse 64 "'10' is not a duration" "$COUP" bench lease --lease 1s,10
refuse 64 "'' is not a duration" "$COUP" bench lease --lease 1s,
refuse 64 "margin' is given twice" "$COUP" bench lease -a lease:margin=0
finish
