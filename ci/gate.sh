#!/bin/sh
# The gate: judges a capture in continuous integration. What GitHub's action and GitLab's job run, and what runs anywhere.
#
#   CAPTURE     the run folder or capture to judge
#   REPORTS     folder for findings.sarif, junit.xml and summary.md       [default: ridgeline-reports]
#   FAIL_ON     level of findings from which the gate fails: error, warning, info, never  [default: error]
#   ACCEPTED    findings that are accepted, as `ridgeline check --write-baseline` writes them; may be absent
#   RIDGELINE   the program                                               [default: ridgeline]
#
# Ends with 1 where findings at that level are new, with 2 where the capture cannot be read.
set -u
: "${CAPTURE:?expected the capture to judge in CAPTURE}"
reports=${REPORTS:-ridgeline-reports}
ridgeline=${RIDGELINE:-ridgeline}
mkdir -p "$reports" || exit 2

check() {
    if [ -n "${ACCEPTED:-}" ] && [ -f "$ACCEPTED" ]; then
        "$ridgeline" check "$CAPTURE" --baseline "$ACCEPTED" "$@"
    else
        "$ridgeline" check "$CAPTURE" "$@"
    fi
}

# The reports never fail by what they say: the last line decides.
for report in sarif:findings.sarif junit:junit.xml markdown:summary.md; do
    check --fail-on never -f "${report%%:*}" -o "$reports/${report#*:}" || exit 2
done
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    cat "$reports/summary.md" >> "$GITHUB_STEP_SUMMARY"
    check --fail-on never -f github || exit 2
fi
check --fail-on "${FAIL_ON:-error}" -f concise
