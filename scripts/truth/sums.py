"""What all readers of `scripts/truth/` share: unions of intervals, and tables of sums."""

from __future__ import annotations

from collections import defaultdict

Interval = tuple[int, int]
#: Rows of a table by what they are about, each with its numbers by column.
Table = dict[str, dict[str, int]]
#: An event of a thread: the thread, start, end, name.
Span = tuple[object, int, int, str]


def union(intervals: list[Interval]) -> list[Interval]:
    """The intervals joined where they touch, in order."""
    joined: list[Interval] = []
    for start, end in sorted(intervals):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def covered(intervals: list[Interval]) -> int:
    """How long at least one of them lasted."""
    return sum(end - start for start, end in union(intervals))


def summed(rows: list[tuple[str, dict[str, int]]]) -> Table:
    """Sums of all numbers by key."""
    table: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for key, numbers in rows:
        for column, number in numbers.items():
            table[key][column] += number
    return {key: dict(numbers) for key, numbers in table.items()}


def busy(work: list[Interval]) -> dict[str, int]:
    """How long a device worked, and the gaps in between."""
    joined = union(work)
    total = sum(end - start for start, end in joined)
    return {"busy_ns": total, "idle_ns": joined[-1][1] - joined[0][0] - total, "gaps": len(joined) - 1}


class Node:
    """An event of a thread, and those directly within it."""

    def __init__(self, name: str, start: int, end: int) -> None:
        self.name, self.start, self.end = name, start, end
        self.children: list[Node] = []


def trees(spans: list[Span]) -> list[Node]:
    """The events of each thread that are within no other."""
    threads: dict[object, list[Node]] = defaultdict(list)
    for thread, start, end, name in spans:
        threads[thread].append(Node(name, start, end))
    roots = []
    for nodes in threads.values():
        open_ones: list[Node] = []
        for node in sorted(nodes, key=lambda one: (one.start, -one.end)):
            # What ends later than the one that it began in is beside it, as PyTorch has it.
            while open_ones and (node.start >= open_ones[-1].end or node.end > open_ones[-1].end):
                open_ones.pop()
            (open_ones[-1].children if open_ones else roots).append(node)
            open_ones.append(node)
    return roots


def averages(spans: list[Span]) -> Table:
    """PyTorch's `key_averages()`: a node that is all there is in one of its name is not counted (`_remove_dup_nodes`)."""
    found, waiting = [], trees(spans)
    while waiting:
        node = waiting.pop()
        while len(node.children) == 1 and node.children[0].name == node.name:
            node.children = node.children[0].children
        own = node.end - node.start - sum(child.end - child.start for child in node.children)
        found.append((node.name, {"calls": 1, "self_cpu_ns": own}))
        waiting += node.children
    return summed(found)
