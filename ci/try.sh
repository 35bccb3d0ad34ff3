#!/bin/sh
# The gate on a change: runs the program of a revision and of the tree in turn, in continuous integration. What GitHub's action and
# GitLab's job run, and what runs anywhere that has git.
#
#   PROGRAM     the program, as a line of a shell
#   BASELINE    the revision to compare with, such as origin/main; it must have been fetched     [default: origin/main]
#   FAIL_ON     a tree that is slower than the baseline by this part of the time fails            [default: 5%]
#   OPTIONS     more options of `ridgeline try`, such as `--check-output out.npy --budget 20m`; may be empty
#   REPORTS     folder for the captures of both sides and try.json                     [default: ridgeline-trial]
#   RIDGELINE   the program                                                            [default: ridgeline]
#
# Ends with 1 where the tree is slower by that much, or that cannot be judged, or it fails; with 2 where nothing could be tried.
set -u
: "${PROGRAM:?expected the program to try in PROGRAM}"
# OPTIONS are several words.
# shellcheck disable=SC2086
exec "${RIDGELINE:-ridgeline}" try --baseline "${BASELINE:-origin/main}" --fail-on-regression "${FAIL_ON:-5%}" ${OPTIONS:-} \
    -o "${REPORTS:-ridgeline-trial}" -- sh -c "$PROGRAM"
