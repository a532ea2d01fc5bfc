#!/usr/bin/env bash
# The fewest events that still show a violation: few, the same witness, and a history.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/../live/helpers/shell.bash"
cd "$work" || exit 1

# minimal CHECK EVENTS ALGORITHM: EVENTS are the most that may be left.
minimal() {
    local check=$1 most=$2 whole=$work/whole small=$work/small.coup
    rm -rf "$whole" "$small"
    expect 0 "$COUP" sim -a "$3" --seeds 1..300 -q --checks "$check" -x "invalid:$check" -o "$whole"
    expect 1 "$COUP" check --checks "$check" --json "$whole"/*.coup
    jq -c '.checks[0] | [.verdict, .reason]' "$work/out" >before
    expect 1 "$COUP" check --checks "$check" --minimal "$small" "$whole"/*.coup
    grep -qE "^$small: $check is still violated by [0-9]+ of [0-9]+ events \(judge" "$work/err" ||
        complain "$3: no count" "$(cat "$work/err")"
    expect 0 "$COUP" show "$small"
    [ "$(wc -l <"$work/out")" -le "$most" ] || complain "$3: more than $most events" "$(cat "$work/out")"
    expect 1 "$COUP" check --checks "$check" --json "$small"
    jq -c '.checks[0] | [.verdict, .reason]' "$work/out" >after
    sed -E 's/ \(and [0-9]+ more\)//' before | diff - <(sed -E 's/ \(and [0-9]+ more\)//' after) >/dev/null ||
        complain "$3: another violation" "$(cat before after)"
}
minimal vote-once 2 raft:prevote=off,bug=vote-twice
minimal majority-support 3 raft:bug=no-majority
minimal persist-before-send 2 raft:bug=reply-before-persist
minimal single-leader-per-term 2 bully:bug=reuse-epoch
minimal lease-exclusive 4 quorum-lease:bug=count-ticks
minimal recovers 8 raft:bug=stale-leader-refusal

expect 0 "$COUP" sim --seeds 1 --faults kill -q --keep all -o good
refuse 64 'good/seed-1.coup: no check is violated' \
    "$COUP" check --minimal other.coup --checks vote-once good/seed-1.coup
refuse 64 'small.coup exists' "$COUP" check --minimal small.coup whole/*.coup
refuse 64 'takes one history' "$COUP" check --minimal other.coup good/seed-1.coup good/seed-1.coup
refuse 64 '/nowhere/small.coup' "$COUP" check --minimal /nowhere/small.coup whole/*.coup
finish
