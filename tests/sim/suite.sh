#!/usr/bin/env bash
# A suite from the command line: what it leaves, how it is stopped and goes on, and what it refuses.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/../live/helpers/shell.bash"
cd "$work" || exit 1

cat >small.yaml <<'EOF'
name: a <small> "suite" & more
keep-every: 20
defaults: {time: 5s, seeds: 1..60}
cells:
  - {algorithm: [raft, paxos], faults: [kill, none]}
  - {algorithm: "raft:bug=vote-twice", faults: "kill,partition", expect: "invalid:vote-once", at-least: 3}
EOF
expect 0 "$COUP" suite small.yaml -o small
says '^passed +raft faults=kill +sim +valid +6?0 of 60|^passed +raft faults=kill '
says '^passed: 5 cells, 300 runs'
[ "$(find small/histories -name '*.coup' | wc -l)" -ge 13 ] || complain 'every 20th passing run is kept'
kept=$(find small/histories -path '*001*' -name 'seed-21.coup')
run "$COUP" check "$kept" --json
grep -q '"verdict":"valid"' out || complain 'a kept history is not what it was kept for'

# The XML is read by a real parser, where there is one.
if command -v python3 >/dev/null; then
    python3 - <<'EOF' || complain 'junit.xml'
import json, xml.etree.ElementTree as xml
suite = xml.parse("small/junit.xml").getroot().find("testsuite")
assert suite.get("name") == 'a <small> "suite" & more', suite.get("name")
assert suite.get("tests") == "5" and suite.get("failures") == "0"
assert len(suite.findall("testcase")) == 5
results = json.load(open("small/results.json"))
assert results["outcome"] == "passed" and len(results["cells"]) == 5
assert sum(cell["runs"] for cell in results["cells"]) == 300
EOF
fi
grep -q '^| passed | paxos faults=none | sim | valid | 60 of 60 |' small/summary.md || complain summary.md

# What fails: the exit code, the reason, the history, and the command that repeats it.
cat >bad.yaml <<'EOF'
name: bad
cells:
  - {name: unfenced, faults: pause, resource: unfenced, seeds: 40}
  - {name: never, faults: none, seeds: 40, expect: "invalid:vote-once"}
  - {name: nothing to see, algorithm: raft, nodes: 1, faults: partition, seeds: 5}
EOF
expect 1 "$COUP" suite bad.yaml -o bad
says '^FAILED unfenced: .*, valid was expected$'
says '^FAILED never: 40 valid, .*invalid:vote-once in at least 1 was expected, in 0 it was so$'
says '^undecided +nothing to see'
history=$(sed -n 's/^    history  //p' out | head -n 1)
repeat=$(sed -n 's/^    repeat   //p' out | head -n 1)
run "$COUP" check "$history"
[ "$code" = 1 ] || complain "the kept history is not invalid: $history"
run bash -c "$repeat"
[ "$code" = 1 ] || complain "does not repeat: $repeat"
grep -q '<failure message=' bad/junit.xml && grep -q '<error message=' bad/junit.xml || complain 'junit.xml of a bad suite'
expect 1 "$COUP" suite bad.yaml --fail-fast -j 1 -o fast
says '2 not run, .*stopped at the first failure'
expect 2 "$COUP" suite bad.yaml --only 'nothing to' -o undecided

# Shards do all, each its part.
for i in 1 2 3; do
    expect 0 "$COUP" suite small.yaml --shard $i/3 -o shard$i --json
    grep -o '"name":"[^"]*"' out >>shards
done
[ "$(sort shards | uniq -c | grep -c '^ *1 ')" = 5 ] || complain 'shards overlap or leave cells out' "$(cat shards)"

# Put together they are the whole.
counts() {
    sed 's/"took_ns":[0-9]*//g; s/"folder":"[^"]*"//; s/"history":"[^"]*"//g' "$1/results.json"
}
expect 2 "$COUP" suite --merge shard1 shard3 -o part
says '^not run '
expect 0 "$COUP" suite --merge shard3 shard1 shard2 shard1 -o all --trend trend.jsonl
[ "$(counts all)" = "$(counts small)" ] || complain 'shards are not the whole' "$(diff <(counts all) <(counts small))"
history=$(grep -o '"history":"/[^"]*"' all/results.json | head -n 1 | cut -d '"' -f 4)
[ -e "$history" ] || complain "a history of a shard is lost: $history"

# Side by side: other seeds are chance, other timeouts are not.
sed 's/seeds: 1..60/seeds: 61..120/' small.yaml >later.yaml
sed 's/time: 5s/time: 5s, set: {election-timeout-max: 900ms}/' small.yaml >slower.yaml
expect 0 "$COUP" suite later.yaml -o later --compare all --trend trend.jsonl
says '^compared: 5 cells in both, 0 moved by more than chance, 0 new, 0 gone$'
run "$COUP" suite slower.yaml --only faults=kill -o slower --compare all
says '^moved  raft faults=kill: failover median .* before '
says '0 new, 3 gone$'
[ "$(grep -c '^{"time":"2.*"p99":' trend.jsonl)" = 2 ] || complain 'no trend' "$(cat trend.jsonl)"
refuse 64 'compare: nowhere/journal.jsonl: No such file' "$COUP" suite small.yaml --compare nowhere -o none
[ ! -e none ] || complain 'began before it knew what to compare with'
refuse 64 'needs the folders of shards' "$COUP" suite --merge -o none
refuse 64 'of another suite' "$COUP" suite --merge shard1 later -o mixed
refuse 64 'one suite at a time' "$COUP" suite small.yaml bad.yaml

# Killed half-way, it goes on and comes to the same totals.
cat >long.yaml <<'EOF'
name: long
cells:
  - {algorithm: [raft, paxos, zab], faults: all, seeds: 200, time: 15s}
EOF
totals() {
    sed 's/"took_ns":[0-9]*//g; s/"folder":"[^"]*"//' "$1/results.json"
}
expect 0 "$COUP" suite long.yaml -o whole
"$COUP" suite long.yaml -o killed -q >/dev/null 2>&1 &
disown
pid=$!
lines=0
for _ in $(seq 300); do
    lines=$(cat killed/journal.jsonl 2>/dev/null | wc -l)
    [ "$lines" -lt 6 ] || break
    sleep 0.02
done
kill -9 $pid
[ "$lines" -ge 6 ] && [ "$lines" -lt 25 ] || complain "not killed half-way: $lines lines"
[ ! -e killed/junit.xml ] || complain 'was done before it was killed'
printf '{"cell":0,"first":1,"la' >>killed/journal.jsonl # as if killed in the middle of a line
expect 0 "$COUP" suite --resume killed
[ "$(totals whole)" = "$(totals killed)" ] || complain 'other totals' "$(diff <(totals whole) <(totals killed))"
[ "$(wc -l <killed/journal.jsonl)" = 25 ] || complain 'work was done twice'
expect 0 "$COUP" suite --resume killed
says '^passed: 3 cells, 600 runs'

# A budget ends it, and it can go on afterwards.
expect 2 "$COUP" suite long.yaml --budget 1ms -o short
says 'out of time'
expect 0 "$COUP" suite --resume short
[ "$(totals whole)" = "$(totals short)" ] || complain 'other totals after a budget'

# Refused, with place and reason, before anything is run.
printf 'name: x\ncells:\n  - {faults: kill}\n  - {fault: kill}\n' >typo.yaml
refuse 64 "^coup suite: typo.yaml:4: unknown key 'fault' \(accepted: name, " "$COUP" suite typo.yaml
printf 'name: x\ncells:\n  - {faults: kill}\n  - name: y\n    faults: [kill, fire]\n' >fire.yaml
refuse 64 "^coup suite: fire.yaml:5: faults: unknown fault 'fire'" "$COUP" suite fire.yaml
refuse 64 "shard: '5/4' must be I/N" "$COUP" suite small.yaml --shard 5/4
refuse 64 'shard 6/6 has no cell' "$COUP" suite small.yaml --shard 6/6
refuse 64 "only 'nowhere' matches none of the 5 cells" "$COUP" suite small.yaml --only nowhere
refuse 64 "unknown suite 'nightmare' \(accepted: demo, nightly, smoke" "$COUP" suite nightmare
refuse 64 'names no suite' "$COUP" suite
refuse 64 'none.yaml: No such file' "$COUP" suite none.yaml
refuse 64 'small exists and is not an empty folder' "$COUP" suite small.yaml -o small
refuse 64 'nowhere/journal.jsonl: No such file' "$COUP" suite --resume nowhere
sed 's/seeds: 200/seeds: 201/' -i killed/suite.yaml
refuse 64 'its journal is of another suite' "$COUP" suite --resume killed
sed 's/"coup_suite":1/"coup_suite":2/' -i short/journal.jsonl
refuse 64 'of a newer coup' "$COUP" suite --resume short
mkdir junk && echo junk >junk/journal.jsonl
refuse 64 "not a suite's journal" "$COUP" suite --resume junk
finish
