# Sourced by the shell tests of tests/live: $COUP is the program. Every command runs under a time
# limit, so that a hang is a failure. A test ends by `finish`.
set -uo pipefail
: "${COUP:?the path of coup}"
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0 checked=0

complain() {
    echo "FAILED: $1"
    shift
    [ $# = 0 ] || printf '    %s\n' "$@"
    failures=$((failures + 1))
}

# run COMMAND...: sets $code, leaves standard output in $work/out and standard error in $work/err.
run() {
    timeout --kill-after=5 "${LIMIT:-30}" "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    checked=$((checked + 1))
    [ "$code" != 124 ] && [ "$code" != 137 ] || complain "hang: $*"
}

# expect CODE COMMAND...
expect() {
    local want=$1
    shift
    run "$@"
    [ "$code" = "$want" ] || complain "exit $code, not $want: $*" "$(head -c 2000 "$work/err")"
}

# refuse CODE PATTERN COMMAND...: that exit code, nothing on standard output, exactly one line on
# standard error, and the line matches.
refuse() {
    local want=$1 pattern=$2
    shift 2
    expect "$want" "$@"
    [ ! -s "$work/out" ] || complain "output of a refused command: $*" "$(head -c 500 "$work/out")"
    [ "$(wc -l <"$work/err")" = 1 ] || complain "not one line: $*" "$(head -c 2000 "$work/err")"
    grep -qE -- "$pattern" "$work/err" || complain "no '$pattern': $*" "$(head -c 2000 "$work/err")"
}

# says PATTERN: the last command's standard output has a line that matches.
says() {
    grep -qE -- "$1" "$work/out" || complain "output without '$1'" "$(head -c 2000 "$work/out")"
}

finish() {
    echo "$checked commands, $failures failures"
    [ "$failures" = 0 ]
    exit
}
