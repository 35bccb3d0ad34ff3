"""When a capture starts and stops: events in, actions out."""

from __future__ import annotations

import pytest
from ridgeline.schedule import Action, Schedule


def actions(config: dict, events: str) -> str:
    """Play `events` and write what the schedule answers: `>` start, `.` stop, `-` nothing.

    `r` ready, `(` and `)` a step, `[` and `]` the annotation `a`, `{` and `}` another, `c` a compilation, a digit that many seconds.
    """
    schedule, now, compiled, said = Schedule(config), 0.0, None, ""
    for event in events:
        match event:
            case "r":
                action = schedule.ready(now)
            case "(":
                action = schedule.step_begins()
            case ")":
                action = schedule.step_ends()
            case "[" | "{":
                action = schedule.annotation_begins("a" if event == "[" else "b")
            case "]" | "}":
                action = schedule.annotation_ends("a" if event == "]" else "b")
            case "c":
                action, compiled = Action.NOTHING, now
            case _:
                now += int(event)
                action = schedule.tick(now, compiled)
        if action is Action.START:
            schedule.started()
        elif action is Action.STOP:
            schedule.stopped()
        said += {Action.START: ">", Action.STOP: ".", Action.NOTHING: "-"}[action]
    return f"{said} {schedule.why_nothing() or ''}".strip()


WHOLE = {"window": {"kind": "whole"}}
STEPS = {"window": {"kind": "steps", "first": 1, "end": 3}}
FOLLOW = {"window": {"kind": "annotation", "name": "a"}, "max_windows": 2}


@pytest.mark.parametrize(
    ("config", "events", "want"),
    [
        (WHOLE, "r()9", ">---"),
        (WHOLE, "", "the program used no device"),
        (WHOLE | {"warm_up": {"kind": "time", "s": 3}}, "r222", "-->-"),
        (WHOLE | {"warm_up": {"kind": "time", "s": 3}}, "r2", "-- the program ended before the warm-up (time 3 s) was over"),
        (WHOLE | {"warm_up": {"kind": "quiet", "s": 3}}, "r2c2c22", "------>"),
        (STEPS, "r()()()()", "--->--.--"),
        (STEPS, "r((((", "-->-."),
        (
            STEPS,
            "r()",
            "--- expected steps 1..3, found 1; steps are StepTraceAnnotation ranges, or the calls of a jitted function named "
            "with --step-function",
        ),
        (FOLLOW, "r[]{}[][]", "->.-->.--"),
        (FOLLOW, "r[[]]", "->--."),
        (FOLLOW, "r{}]", "---- no annotation named 'a' began"),
        ({"window": {"kind": "none"}}, "r()[]9", "------"),
    ],
)
def test_schedule(config: dict, events: str, want: str) -> None:
    assert actions(config, events) == want
