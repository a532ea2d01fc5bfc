#!/usr/bin/env bash
# The command line as a user meets it: saved histories in, verdicts, lists and other forms out.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/helpers/shell.bash"
stale=$tests/live/data/stale_write.jsonl

# Help and version.
expect 0 "$COUP" --version
says '^coup [0-9]+\.[0-9]+\.[0-9]+ \(.+\)$'
expect 0 "$COUP" --help
for command in check show convert replay shrink sim list doctor selftest bench; do
    grep -qE "^  $command " "$work/out" || complain "coup --help does not list $command"
done
for command in check show convert replay shrink sim list doctor selftest bench "bench history"; do
    # shellcheck disable=SC2086 # two words on purpose
    expect 0 "$COUP" $command --help
    says "^Usage: coup $command"
done
expect 0 "$COUP" --manual
diff -u "$tests/../docs/coup.1.md" "$work/out" || complain "docs/coup.1.md is not what coup prints: coup --manual >docs/coup.1.md"

# Lists: every one as a table and as JSON.
for list in algorithms faults checks knobs bugs; do
    expect 0 "$COUP" list "$list"
    says '^NAME '
    expect 0 "$COUP" list "$list" --json
    jq -e --arg list "$list" '.[$list] | length > 0 and all(.name != "")' "$work/out" >/dev/null ||
        complain "list $list --json"
done

# One history, in both forms: the same verdict, the witness as lines.
for form in jsonl coup; do
    history=$work/stale.$form
    expect 0 "$COUP" convert "$stale" --to "$form" -o "$history"
    expect 1 "$COUP" check "$history" --checks fencing-monotonic
    says '^INVALID  fencing-monotonic: '
    says ' accept +token=1 holder=n1 '
    says "coup show $history"
    expect 1 "$COUP" check --json "$history"
    jq -e --arg history "$history" '.verdict == "invalid" and .history == $history and
        (.checks[] | select(.name == "fencing-monotonic") | .witness | index(8) != null)' \
        "$work/out" >/dev/null || complain "check --json $history"
done
for form in perfetto edn csv; do
    expect 0 "$COUP" convert "$stale" --to "$form"
done
says '^lost_ns,old_leader'
expect 2 "$COUP" convert <(head -n -1 "$stale") --to csv
expect 0 "$COUP" convert "$work/stale.coup" --to jsonl
# A knob that came later is added with its default; nothing else may change.
head -n 1 "$stale" | jq -c 'del(.knobs)' >"$work/before"
head -n 1 "$work/out" | jq -c 'del(.knobs)' | diff "$work/before" - &&
    diff <(tail -n +2 "$stale") <(tail -n +2 "$work/out") ||
    complain "there and back again changed the history"
expect 0 "$COUP" check --checks single-leader-per-term,term-monotonic "$stale"
expect 0 "$COUP" check --checks single-leader-per-term --checks term-monotonic "$stale"

# Several histories: the worst exit code wins, and a violation outranks everything.
head -n -1 "$stale" >"$work/torn.jsonl"
expect 2 "$COUP" check --checks term-monotonic "$work/torn.jsonl" "$stale"
expect 1 "$COUP" check "$work/torn.jsonl" "$stale" "$work/none"
says "^$work/torn.jsonl: INVALID  "
says "^$stale: INVALID  "
expect 64 "$COUP" check --checks term-monotonic "$work/torn.jsonl" "$work/none"

# Histories of other tools, and our own in their form.
printf '0\t:invoke\t:write\t1\n0\t:ok\t:write\t1\n1\t:invoke\t:read\tnil\n1\t:ok\t:read\t2\n' >"$work/history.txt"
expect 1 "$COUP" check --model register "$work/history.txt"
says "^INVALID  linearizable: register: process 1's read of 2 \(line 3 to 4\) found 2, which nobody wrote"
says '^    line 4: 1 :ok :read 2$'
says '^  history  .*/history.txt, Jepsen.s history.txt, 4 entries$'
says '^  model    register, initially nil, a read of nil is not known, a failed cas did not take place$'
expect 1 "$COUP" check --model register --json "$work/history.txt"
jq -e '.verdict == "invalid" and .checks[0].name == "linearizable" and .checks[0].witness == [2, 3] and
    .checks[0].lines == [3, 4] and .stats.model == "register" and .events == 4' "$work/out" >/dev/null ||
    complain "check --model --json" "$(cat "$work/out")"
expect 0 "$COUP" check --model register --initial 2 --nil value --fail refused <(tail -n 2 "$work/history.txt")
says '^VALID  1 check held over 1 operation$'
expect 0 "$COUP" check --model register <(head -n 1 "$work/history.txt")
says '^VALID  no operation ended, so nothing can be out of order$'
expect 0 "$COUP" sim -a raft --seeds 3..3 -n 3 -t 5s --faults none --keep all -o "$work/kept" -q
"$COUP" convert "$work/kept/seed-3.coup" --to edn >"$work/kept.edn"
expect 0 "$COUP" check --model register "$work/kept.edn"
expect 0 "$COUP" list models
says '^fenced-lock '

# Show: filters.
expect 0 "$COUP" show "$stale"
[ "$(wc -l <"$work/out")" = 10 ] || complain "show has $(wc -l <"$work/out") lines, not 10"
expect 0 "$COUP" show "$stale" --f lead
[ "$(wc -l <"$work/out")" = 2 ] || complain "show --f lead"
refuse 64 'no n9 in this run \(its nodes are n1 to n3\)' "$COUP" show "$stale" -p n9
expect 0 "$COUP" show "$stale" --from 1000s
grep -q "no event matches" "$work/err" || complain "show of nothing says nothing"
expect 0 "$COUP" show "$stale" -p resource,n2 --from 100ms --to 111ms
[ "$(wc -l <"$work/out")" = 3 ] || complain "show by process and time"
expect 2 "$COUP" show "$work/torn.jsonl"
[ "$(wc -l <"$work/out")" = 10 ] || complain "show of a torn history"
[ "$(wc -l <"$work/err")" = 1 ] || complain "show names the damage in one line"

# Nothing is overwritten.
cp "$work/stale.coup" "$work/before"
for form in jsonl coup; do
    refuse 64 'exists' "$COUP" convert "$stale" --to "$form" -o "$work/stale.coup"
done
cmp "$work/before" "$work/stale.coup" || complain "convert overwrote a file"

# A reader that goes away ends it quietly; a full disk does not.
for i in $(seq 2000); do
    echo "{\"index\":$((i + 8)),\"time\":$((i + 800000000)),\"process\":\"n1\",\"type\":\"info\",\"f\":\"note\",\"value\":{\"text\":\"filler, so that the history is longer than a pipe\"}}"
done >"$work/filler"
{ head -n 10 "$stale"; cat "$work/filler"; } >"$work/long.jsonl"
for command in "show $work/long.jsonl" "convert --to jsonl $work/long.jsonl" "list faults" "--help"; do
    # shellcheck disable=SC2086 # words on purpose
    timeout 30 "$COUP" $command 2>"$work/err" | head -n 0
    code=${PIPESTATUS[0]}
    [ ! -s "$work/err" ] || complain "coup $command | head: $(cat "$work/err")"
    [ "$code" -le 2 ] || complain "coup $command | head: exit $code"
    # shellcheck disable=SC2086
    timeout 30 "$COUP" $command >/dev/full 2>"$work/err"
    code=$?
    [ "$code" = 3 ] || complain "coup $command >/dev/full: exit $code"
    grep -q 'No space left on device' "$work/err" || complain "coup $command >/dev/full: $(cat "$work/err")"
done

# Closed from the start: missing output is noticed, and no file takes its place.
timeout 30 "$COUP" list knobs >&- 2>"$work/err"
code=$?
[ "$code" = 3 ] || complain "list knobs >&-: exit $code"
timeout 30 "$COUP" convert "$stale" --to coup -o "$work/closed.coup" <&- >&- 2>&-
code=$?
[ "$code" = 0 ] || complain "convert with nothing open: exit $code"
cmp "$work/stale.coup" "$work/closed.coup" || complain "convert with nothing open wrote another file"

# No colour in a pipe, nor with NO_COLOR on a terminal.
for variable in TERM=xterm NO_COLOR=1; do
    if command -v script >/dev/null; then
        env TERM=xterm "$variable" script -qec "$COUP list knobs" /dev/null >"$work/out" 2>&1 </dev/null
        [ "$variable" = TERM=xterm ] && { grep -q $'\033' "$work/out" || complain "no colour on a terminal"; }
        [ "$variable" = NO_COLOR=1 ] && { ! grep -q $'\033' "$work/out" || complain "colour in spite of NO_COLOR"; }
    fi
done
expect 1 "$COUP" check "$stale"
! grep -q $'\033' "$work/out" || complain "colour in a pipe"

# The doctor: always an answer, and each gap with what fixes it.
run "$COUP" doctor
[ "$code" = 0 ] || [ "$code" = 3 ] || complain "doctor: exit $code"
run "$COUP" doctor --json
jq -e '(.possible | type == "boolean") and (.machine | all(.state == "ok" or .problem != ""))' \
    "$work/out" >/dev/null || complain "doctor --json"
jq -e '(.faults | length > 30) and (.faults | all(.state == "available" or (.problem != "" and .fix != "")))' \
    "$work/out" >/dev/null || complain "doctor --json: faults"
jq -r '.faults[] | .name + " " + (if .state == "available" then "yes" else "no" end)' "$work/out" >"$work/doctors"
expect 0 "$COUP" list faults --json
jq -r '.faults[] | .name + " " + .here' "$work/out" | diff - "$work/doctors" >/dev/null ||
    complain "list faults and doctor disagree"
finish
