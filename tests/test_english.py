"""The prose of the project sounds written, not translated: patterns of another language's syntax have budgets.

A budget is the number of matches in an area. It only goes down: after a rewrite, set it to the number that
`python -m tests.test_english` prints. With paths of files and folders, the command lists their matches.
"""

import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.packages import ROOT, tracked

SUFFIXES: Final = (".py", ".ts", ".tsx", ".md", ".html", ".sh")

PATTERNS: Final = {
    # "What a page has for several viewers": write a noun, "Features for several viewers"
    "what": re.compile(r"(?:^|[.:;(#*>|\"'-]\s*)What\b(?!'s)(?![^.?]*\?)"),
    # "that of the backup": repeat the noun, or use a genitive
    "that of": re.compile(r"\b(?:that|those) of\b"),
    # "the time at which": "when", "where", or two sentences
    "at which": re.compile(r"\b(?:at|by|with|in|on|from|for|of|to|after|until|through|under|over) which\b"),
    # "a connection of its own": "its own connection", "a separate connection"
    "of its own": re.compile(r"\bof (?:its|their|his|her|your|our) own\b"),
    # "is made": created, opened, built
    "is made": re.compile(r"\b(?:is|are|was|were|be|been) made\b"),
    # "go on": continue, keep running
    "go on": re.compile(r"\b(?:go|goes|going|went) on\b"),
}

AREAS: Final = {
    "product": ("gateway/*.py", "runtime/*.py", "hawse/*.py"),
    "page": ("web/src/*.ts", "web/src/*.tsx", "web/*.html"),
    "docs": ("docs/*.md", "*.md", "examples/*"),
    "tests": ("tests/*.py", "e2e/*.py", "bench/*.py", "scripts/*", "web/test/*.ts"),
}

BUDGETS: Final = {
    "product": {"what": 1, "that of": 1, "at which": 0, "of its own": 0, "is made": 0, "go on": 0},
    "page": {"what": 1, "that of": 0, "at which": 0, "of its own": 0, "is made": 0, "go on": 0},
    "docs": {"what": 1, "that of": 0, "at which": 2, "of its own": 0, "is made": 0, "go on": 0},
    "tests": {"what": 29, "that of": 17, "at which": 28, "of its own": 12, "is made": 8, "go on": 8},
}

_SCRIPT_TEXT: Final = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|[^`\\])*`", re.DOTALL)
_MARKDOWN_CODE: Final = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_TEXT_TOKENS: Final = {tokenize.COMMENT, tokenize.STRING} | {
    getattr(tokenize, name) for name in ("FSTRING_MIDDLE",) if hasattr(tokenize, name)
}


def _python_prose(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in _TEXT_TOKENS:
            yield from enumerate(token.string.split("\n"), token.start[0])


def _script_prose(source: str) -> Iterator[tuple[int, str]]:
    for found in _SCRIPT_TEXT.finditer(source):
        yield from enumerate(found[0].split("\n"), source.count("\n", 0, found.start()) + 1)


def _markdown_prose(source: str) -> Iterator[tuple[int, str]]:
    blank = _MARKDOWN_CODE.sub(lambda found: "\n" * found[0].count("\n"), source)
    yield from enumerate(blank.split("\n"), 1)


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the comments, strings and text of a file with their line numbers."""
    source = path.read_text()
    match path.suffix:
        case ".py":
            return _python_prose(source)
        case ".ts" | ".tsx":
            return _script_prose(source)
        case _:
            return _markdown_prose(source)


def matches(path: Path) -> Iterator[tuple[str, int, str]]:
    """Yield the pattern, line number and line of each match in a file."""
    for number, line in prose(path):
        for name, pattern in PATTERNS.items():
            for _ in pattern.finditer(line):
                yield name, number, line.strip()


def files(*patterns: str) -> list[Path]:
    """Return the tracked files with prose that match patterns of `git ls-files`."""
    return [path for path in tracked(*patterns) if path.suffix in SUFFIXES and path != Path(__file__)]


def count(area: str) -> Counter[str]:
    """Count the matches of each pattern in an area."""
    return Counter(name for path in files(*AREAS[area]) for name, _, _ in matches(path))


@pytest.mark.parametrize("area", AREAS)
def test_patterns_of_another_language_stay_within_their_budgets(area: str) -> None:
    above = {name: n for name, n in count(area).items() if n > BUDGETS[area][name]}
    assert not above, f"above the budget of {BUDGETS[area]}; run `python -m tests.test_english {AREAS[area][0]}`"


def main(arguments: list[str]) -> None:
    if arguments:
        for path in files(*arguments):
            for name, number, line in matches(path):
                print(f"{path.relative_to(ROOT)}:{number}: {name}: {line}")
        return
    for area, patterns in AREAS.items():
        lines = sum(path.read_text().count("\n") for path in files(*patterns))
        counted = count(area)
        rates = ", ".join(f"{name} {counted[name] * 1000 / lines:.2f}" for name in PATTERNS)
        print(f'    "{area}": { {name: counted[name] for name in PATTERNS} },  # {lines} lines: {rates}')


if __name__ == "__main__":
    main(sys.argv[1:])
