"""Shortens generated cases that differ, all at once: `python -m tests.screens.shrink CASES [FIRST [KIND…]]`.

It prints one short case for each kind of difference, so that a cause is seen.
"""

import re
import sys
from collections.abc import Sequence

from tests.screens.cases import Cut, Resize, seen
from tests.screens.generated import Case, make_case, run

_TOKEN = re.compile(
    rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]|[\xc0-\xff][\x80-\xbf]*|.", re.DOTALL
)

Step = bytes | tuple[int, int] | None  # output, a new size, or the cut


def steps_of(case: Case, cut: Cut) -> list[Step]:
    """Return what happens in a case with one of its cuts, in order."""
    steps: list[Step] = []
    places = sorted([(each.at, n, each[1:]) for n, each in enumerate(case.resizes)] + [(cut.at, cut.resized - 0.5, None)])
    at = 0
    for to, _, step in places:
        steps += _TOKEN.findall(case.data[at:to])
        steps.append(step)
        at = to
    return steps + _TOKEN.findall(case.data[at:])


def case_of(name: str, size: tuple[int, int], steps: Sequence[Step]) -> Case:
    """Return the case in which these steps happen."""
    data, resizes, cuts = b"", list[Resize](), list[Cut]()
    for step in steps:
        if isinstance(step, bytes):
            data += step
        elif step is None:
            cuts.append(Cut(len(data), len(resizes)))
        else:
            resizes.append(Resize(len(data), *step))
    return Case(name, *size, data, resizes, cuts)


class Shrinking:
    """One case while it is shortened."""

    def __init__(self, case: Case, cut: Cut, kinds: set[str]) -> None:
        self.name, self.size, self.kinds = case.name, (case.cols, case.rows), kinds
        self.steps = steps_of(case, cut)
        self.chunk = max(1, len(self.steps) // 2)
        self.done = False

    def shorter(self) -> list[list[Step]]:
        """Return the case without each part of the present length."""
        starts = range(0, len(self.steps), self.chunk)
        every = (self.steps[:at] + self.steps[at + self.chunk :] for at in starts)
        return [steps for steps in every if None in steps]

    def take(self, works: list[list[Step]]) -> None:
        if works:
            self.steps = min(works, key=len)
            self.chunk = min(self.chunk, max(1, len(self.steps) // 2))
        elif self.chunk == 1:
            self.done = True
        else:
            self.chunk = self.chunk // 2


def differing(cases: list[Case]) -> list[set[str]]:
    """Return the kinds of differences of each case, which has one cut."""
    return [
        {kind for cut in outcome["cuts"] for at in ("there", "end") for kind in seen(cut[at])} for outcome in run(cases)
    ]


def shrink(found: list[Shrinking]) -> None:
    """Shorten all cases until no step can be left out."""
    while running := [each for each in found if not each.done]:
        tried = [(each, steps) for each in running for steps in each.shorter()]
        kinds = differing([case_of(each.name, each.size, steps) for each, steps in tried])
        for each in running:
            works = [s for (of, s), k in zip(tried, kinds, strict=True) if of is each and k & each.kinds]
            if len(works) > 1 and each.chunk < len(each.steps):
                works += _together(each, works)
            each.take(works)


def _together(each: Shrinking, works: list[list[Step]]) -> list[list[Step]]:
    """Return what is left if all parts are left out that can be left out one by one, if that differs too."""
    starts = range(0, len(each.steps), each.chunk)
    gone = {at for at in starts if each.steps[:at] + each.steps[at + each.chunk :] in works}
    tried = []
    kept = sorted(gone)
    for share in (1, 2, 4):
        drop = set(kept[: max(1, len(kept) // share)])
        tried.append([s for at in starts if at not in drop for s in each.steps[at : at + each.chunk]])
    tried = [steps for steps in tried if None in steps]
    kinds = differing([case_of(each.name, each.size, steps) for steps in tried])
    return [steps for steps, k in zip(tried, kinds, strict=True) if k & each.kinds]


def main(count: int, first: int, names: tuple[str, ...]) -> None:
    cases = [make_case(number, names) for number in range(first, first + count)]
    found = []
    for case, outcome in zip(cases, run(cases), strict=True):
        for cut, place in zip(outcome["cuts"], case.cuts, strict=True):
            if kinds := {*seen(cut["there"])} or {*seen(cut["end"])}:
                found.append(Shrinking(case, place, kinds))
                break
    print(f"{len(found)} of {len(cases)} differ", flush=True)
    for at in range(0, len(found), 16):
        group = found[at : at + 16]
        shrink(group)
        for each, outcome in zip(group, run([case_of(g.name, g.size, g.steps) for g in group]), strict=True):
            print(f"{each.name} {each.size[0]}x{each.size[1]}:", *map(_shown, joined(each.steps)))
            cut = outcome["cuts"][0]
            for place_name in ("there", "end"):
                for kind, what in seen(cut[place_name]).items():
                    print(f"    {place_name} {kind} {what['count']}: {what['example'][:160]}")
        sys.stdout.flush()


def joined(steps: list[Step]) -> list[Step]:
    out: list[Step] = []
    for step in steps:
        if out and isinstance(step, bytes) and isinstance(out[-1], bytes):
            out[-1] += step
        else:
            out.append(step)
    return out


def _shown(step: Step) -> str:
    if step is None:
        return "CUT"
    return repr(step.decode()) if isinstance(step, bytes) else f"{step[0]}x{step[1]}"


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:] if each.isdigit()]
    kinds = tuple(each for each in sys.argv[1:] if not each.isdigit())
    main(numbers[0] if numbers else 100, numbers[1] if numbers[1:] else 0, kinds or ("shell", "program"))
