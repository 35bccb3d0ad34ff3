#!/bin/sh
# The gate on time: compares recordings with those of before, in continuous integration. What GitHub's action and GitLab's job run,
# and what runs anywhere.
#
#   BEFORE      a file of `ridgeline diff RUNS --write-summary`, a capture, or a folder of recordings
#   AFTER       the capture to judge, or a folder of recordings of it; three show how much runs differ
#   REPORTS     folder for summary.json, comparison.json, .md, .sarif, and junit.xml   [default: ridgeline-comparison]
#   FAIL_ON     slower by this part of the time fails                     [default: 5%]
#   RIDGELINE   the program                                               [default: ridgeline]
#
# Ends with 1 where it is slower by that much or that cannot be judged, with 2 where a side cannot be read. Where BEFORE is a file that
# is not there yet, it writes summary.json, which may become that file, says so, and ends with 0.
set -u
: "${BEFORE:?expected what to compare with in BEFORE}"
: "${AFTER:?expected the capture to judge in AFTER}"
reports=${REPORTS:-ridgeline-comparison}
ridgeline=${RIDGELINE:-ridgeline}
fail_on=${FAIL_ON:-5%}
mkdir -p "$reports" || exit 2

# Captures are read once; every report is made of their summary.
"$ridgeline" diff "$AFTER" --write-summary "$reports/summary.json" || exit 2
if [ ! -e "$BEFORE" ]; then
    echo "nothing to compare with yet: keep $reports/summary.json as $BEFORE"
    exit 0
fi

compare() {
    "$ridgeline" diff "$BEFORE" "$reports/summary.json" --fail-on-regression "$fail_on" "$@"
}

# The reports never fail by what they say: the last line decides.
for report in json:comparison.json markdown:comparison.md sarif:comparison.sarif junit:junit.xml; do
    compare -f "${report%%:*}" -o "$reports/${report#*:}"
    [ $? -le 1 ] || exit 2
done
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    cat "$reports/comparison.md" >> "$GITHUB_STEP_SUMMARY"
    compare -f github
    [ $? -le 1 ] || exit 2
fi
compare
