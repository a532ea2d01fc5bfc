#!/usr/bin/env bash
# Everything a user can get wrong: one line that names it, the right exit code, never a hang.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/helpers/shell.bash"
stale=$tests/live/data/stale_write.jsonl
coup=$work/history.coup
expect 0 "$COUP" convert "$stale" --to coup -o "$coup"

# Words.
refuse 64 "missing COMMAND .*check" "$COUP"
refuse 64 "unknown COMMAND 'chek' \(accepted: .*check" "$COUP" chek
refuse 64 "unknown COMMAND '' \(accepted: " "$COUP" ''
refuse 64 "unknown option '--frob' \(accepted: .*--version" "$COUP" --frob
refuse 64 "unknown option '-x'" "$COUP" list -x
refuse 64 "missing argument .*HISTORY" "$COUP" check
refuse 64 "stray argument 'b'" "$COUP" show a b
refuse 64 "stray argument 'x'" "$COUP" doctor x
refuse 64 "unknown list 'dogs' \(accepted: algorithms" "$COUP" list dogs
refuse 64 "unknown list '\?\?'" "$COUP" list $'\n\033'
refuse 64 "missing BENCHMARK \(accepted: history" "$COUP" bench
refuse 64 "unknown check 'no-such' \(accepted: single-leader" "$COUP" check --checks no-such "$coup"
refuse 64 "unknown check ''" "$COUP" check --checks '' "$coup"
refuse 64 "--checks needs a value" "$COUP" check "$coup" --checks
refuse 64 "--from: '5' is not a duration \(accepted: " "$COUP" show "$coup" --from 5
refuse 64 "--to: '-1s' is not a duration" "$COUP" show "$coup" --to=-1s
refuse 64 "--from 3s is after --to 2s" "$COUP" show "$coup" --from 3s --to 2s
refuse 64 "--f: unknown 'led' \(accepted: lead" "$COUP" show "$coup" --f led
refuse 64 "--process: unknown 'node1' \(accepted: n1" "$COUP" show "$coup" --process node1
refuse 64 "missing --to FORM \(accepted: jsonl, coup, csv, edn, perfetto\)" "$COUP" convert "$coup"
refuse 64 "--to: 'xml' is unknown \(accepted: jsonl, coup, csv, edn, perfetto\)" "$COUP" convert "$coup" --to xml
refuse 64 "needs --output" "$COUP" convert "$coup" --to coup
refuse 64 "/none/x" "$COUP" convert "$coup" --to jsonl -o "$work/none/x"
refuse 64 "/none/x" "$COUP" convert "$coup" --to coup -o "$work/none/x"
refuse 64 "must be between 1 and" "$COUP" bench history --events 0

# Histories of other tools.
echo '{:process 0 :type :invoke :f :frob}' >"$work/frob.edn"
echo '[{:process 0 :type :invoke :f :read' >"$work/cut.edn"
: >"$work/empty.edn"
refuse 64 "frob.edn: line 1: :f :frob is no operation of model mutex \(accepted: :acquire, :release\)" \
    "$COUP" check --model mutex "$work/frob.edn"
refuse 64 "cut.edn: line 1: a bracket that nothing closes" "$COUP" check --model register "$work/cut.edn"
refuse 64 "empty.edn: is empty" "$COUP" check --model register "$work/empty.edn"
refuse 64 "unknown model 'queue' \(accepted: register, " "$COUP" check --model queue "$work/frob.edn"
refuse 64 "history of coup's own, which needs no --model" "$COUP" check --model register "$coup"
refuse 64 "history of coup's own, which needs no --model" "$COUP" check --model register "$stale"
refuse 64 "frob.edn: looks like a history of another tool.*--model" "$COUP" check "$work/frob.edn"
refuse 64 "--initial needs --model" "$COUP" check --initial 0 "$coup"
refuse 64 "--checks and --model exclude each other" "$COUP" check --model kv --checks linearizable "$coup"
refuse 64 "--fail says nothing to model kv" "$COUP" check --model kv --fail refused "$work/frob.edn"
refuse 64 "--nil: 'never' is unknown \(accepted: value, unknown\)" "$COUP" check --model kv --nil never "$coup"
refuse 64 "frob.edn: initial value: line 1: a bracket that nothing closes" \
    "$COUP" check --model register --initial '[' "$work/frob.edn"
refuse 64 "/none.edn" "$COUP" check --model register "$work/none.edn"

# Files that are no history.
: >"$work/empty"
mkdir "$work/folder"
head -c 3000 /dev/zero >"$work/zeros"
head -c 3000 "$COUP" >"$work/program"
echo 'hello' >"$work/text"
echo '{"a":1}' >"$work/object"
printf '{"format":99}\n' >"$work/future"
for command in "check" "show" "convert --to jsonl"; do
    for name in empty folder zeros program text object future missing; do
        # shellcheck disable=SC2086 # words on purpose
        refuse 64 "$work/$name" "$COUP" $command "$work/$name"
    done
done

# Cut off at every byte, or with a flipped bit: a verdict of what came before or a line that refuses
# the file, never a violation made up. One command judges them all.
size=$(stat -c %s "$coup")
mkdir "$work/damaged"
for ((at = 0; at < size; at++)); do
    head -c "$at" "$coup" >"$work/damaged/cut.$at"
done
for ((at = 0; at < size; at += 11)); do
    byte=$(od -An -tu1 -j "$at" -N 1 "$coup")
    # shellcheck disable=SC2059 # the byte is the format
    { head -c "$at" "$coup"; printf "\\x$(printf %x $((byte ^ 32)))"; tail -c +$((at + 2)) "$coup"; } >"$work/damaged/flip.$at"
done
files=$(find "$work/damaged" -type f | wc -l)
run "$COUP" check --json --checks term-monotonic,vote-once "$work"/damaged/*
[ "$code" = 64 ] || complain "damaged histories: exit $code, not 64"
judged=$(wc -l <"$work/out") refused=$(wc -l <"$work/err")
[ "$((judged + refused))" = "$files" ] || complain "$judged judged, $refused refused of $files"
[ "$(jq -r 'select(.verdict != "unknown" or .damage == "") | .history' "$work/out")" = "" ] ||
    complain "damage unseen: $(jq -r 'select(.verdict != "unknown" or .damage == "") | .history' "$work/out")"
for at in $(seq 0 97 "$((size - 1))"); do
    run "$COUP" show "$work/damaged/cut.$at"
    [ "$code" = 2 ] || [ "$code" = 64 ] || complain "show of a history cut at $at: exit $code"
    [ "$(wc -l <"$work/err")" = 1 ] || complain "show of a history cut at $at: not one line"
done
finish
