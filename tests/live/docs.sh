#!/usr/bin/env bash
# Every command that the docs show in a block "sh test" does what they say: it runs and ends well.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/helpers/shell.bash"
cd "$work" || exit 1
LIMIT=120
mkdir -p build
ln -s "$(dirname "$COUP")" build/bin

# commands FILE: the lines of its blocks.
commands() {
    awk '/^```sh test$/ { on = 1; next } /^```/ { on = 0 } on' "$1"
}

for file in "$tests"/../README.md "$tests"/../docs/*.md; do
    while read -r line; do
        run bash -c "$line"
        [ "$code" = 0 ] || complain "$(basename "$file"): exit $code: $line" "$(head -c 2000 "$work/err")" "$(head -n 5 "$work/out")"
    done < <(commands "$file")
done
[ "$checked" -ge 15 ] || complain "only $checked commands found"
finish
