#!/usr/bin/env bash
# Every planted bug is caught, with seeds to spare, and no honest algorithm is accused.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/../live/helpers/shell.bash"
LIMIT=250

expect 0 "$COUP" selftest --seeds 100
says '^passed: 0 of [0-9]+ cases failed'
# What an honest algorithm had to bear is said: without a majority behind it single crashes, else all.
says '^ring +none +all +100 +100 +[^ ]+ +single-crashes +not accused'
says '^ring:quorum=on +none +all +100 +100 +[^ ]+ +all +not accused'

# A bug that needs more than a third of its budget may escape after the next change of the draws.
awk '$NF == "caught" {
         algorithm = $1
         sub(/:.*/, "", algorithm)
         bugs[algorithm]++
         all++
         if (3 * $4 > $5 && $4 > 1)
             print algorithm ":" $2 " needs " $4 " of " $5 " seeds"
     }
     END {
         for (algorithm in bugs)
             if (bugs[algorithm] < 3)
                 print algorithm " has only " bugs[algorithm] " planted bugs"
         if (all < 40)
             print "only " all " planted bugs"
     }' "$work/out" >"$work/findings"
while read -r finding; do complain "$finding"; done <"$work/findings"
finish
