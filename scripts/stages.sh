#!/usr/bin/env bash
# stages.sh TARGET...: runs `make TARGET` for all targets, even after a failure, and prints a summary at the end.
# The exit code is 1 if a stage failed. A stage that calls stages.sh adds its rows to the same summary.
set -uo pipefail
cd "$(dirname "$0")/.."

outermost=
if [ -z "${STAGES_SUMMARY:-}" ]; then
    outermost=yes
    STAGES_SUMMARY=$(mktemp)
    export STAGES_SUMMARY
fi
log=$(mktemp)
trap 'rm -f "$log" ${outermost:+"$STAGES_SUMMARY" "$STAGES_SUMMARY.failures"}' EXIT

# Prints the last line that contains a tool's counts, such as "3496 passed in 412.33s", or else the last line of all,
# without colours.
outcome() {
    counts='[0-9]+ (passed|failed|error)|no issues found|Found [0-9]+ error|Checked [0-9]+|already formatted'
    counts="$counts|would be reformatted|All checks passed"
    plain=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | grep .)
    { grep -E "$counts" <<<"$plain" || echo "$plain"; } | tail -n 1 | sed 's/^[= ]*//; s/[= ]*$//' | cut -c 1-100
}

# Prints the names of the tests that failed and their errors, or else the last lines of the output. A log whose middle
# was cut still ends with them.
failures() {
    echo "  ---- $1"
    plain=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | grep .)
    lines='^(FAILED|ERROR|E   |tests/.*Error$|e2e/.*Error$| FAIL )|error:|Error:'
    lines="$lines|^Fatal Python error|^  File .* line [0-9]+ in " # the stack of a process that crashed
    { grep -E "$lines" <<<"$plain" || echo "$plain"; } |
        tail -n 40 | cut -c 1-240
}

failed=0
for target in "$@"; do
    echo "hawse: ---- $target"
    start=$SECONDS
    rows=$(wc -l <"$STAGES_SUMMARY")
    if make --no-print-directory "$target" </dev/null 2>&1 | tee "$log"; then result=passed; else result=FAILED failed=1; fi
    if [ "$(wc -l <"$STAGES_SUMMARY")" = "$rows" ]; then # a stage that calls stages.sh has written its rows
        printf '  %-14s %-7s %5d s  %s\n' "$target" "$result" $((SECONDS - start)) "$(outcome)" >>"$STAGES_SUMMARY"
        [ "$result" = passed ] || failures "$target" >>"$STAGES_SUMMARY.failures"
    fi
done

if [ -n "$outermost" ]; then
    echo "hawse: ---- results"
    cat "$STAGES_SUMMARY"
    [ "$failed" = 0 ] || cat "$STAGES_SUMMARY.failures"
    [ "$failed" = 0 ] && echo "hawse: all stages passed" || echo "hawse: a stage failed"
fi
exit "$failed"
