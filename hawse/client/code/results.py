"""Results of running code: MIME bundles, text, errors, and the end of the run."""

import base64
import binascii
import json
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from hawse.api.code import CodeError, RunStatus
from hawse.api.types import Exit
from hawse.client.base.results import represent


@dataclass(frozen=True)
class RichResult:
    """One object in several representations.

    Attributes:
        kind: `value` for the last expression, `display` for an object displayed by the code, `update` for a new state
            of an earlier display with the same `display_id`.
        data: Values keyed by MIME type: text, JSON values, or bytes for binary values over 64 KiB. The properties
            decode them.
        metadata: Metadata for the values, keyed by MIME type.
        display_id: The id that updates refer to; None if the object cannot be updated.
        execution_count: For results of kind `value`: the number of the run.
        omitted: MIME types of values that were too large to send or are no longer kept.
    """

    kind: Literal["value", "display", "update"]
    data: dict[str, Any]
    metadata: dict[str, Any] = field(default_factory=dict)
    display_id: str | None = None
    execution_count: int | None = None
    omitted: tuple[str, ...] = ()
    __repr__ = represent

    @property
    def text(self) -> str | None:
        """The plain text."""
        return self._text("text/plain")

    @property
    def html(self) -> str | None:
        """The HTML text."""
        return self._text("text/html")

    @property
    def markdown(self) -> str | None:
        """The Markdown text."""
        return self._text("text/markdown")

    @property
    def latex(self) -> str | None:
        """The LaTeX text."""
        return self._text("text/latex")

    @property
    def svg(self) -> str | None:
        """The SVG image, as text."""
        return self._text("image/svg+xml")

    @property
    def javascript(self) -> str | None:
        """The JavaScript source."""
        return self._text("application/javascript")

    @property
    def png(self) -> bytes | None:
        """The PNG image."""
        return self.bytes("image/png")

    @property
    def jpeg(self) -> bytes | None:
        """The JPEG image."""
        return self.bytes("image/jpeg")

    @property
    def pdf(self) -> bytes | None:
        """The PDF document."""
        return self.bytes("application/pdf")

    @property
    def json(self) -> Any:
        """The JSON value."""
        return self.data.get("application/json")

    @property
    def plotly(self) -> Any:
        """The Plotly figure, as JSON."""
        return self.data.get("application/vnd.plotly.v1+json")

    @property
    def vega(self) -> Any:
        """The Vega or Vega-Lite chart, as JSON."""
        return next((value for kind, value in self.data.items() if kind.startswith("application/vnd.vega")), None)

    def bytes(self, kind: str) -> bytes | None:
        """Return the decoded value of a binary MIME type; None if the value is missing or not valid base64."""
        value = self.data.get(kind)
        if isinstance(value, str):
            try:
                return base64.b64decode(value)
            except (binascii.Error, ValueError):
                return None
        return value if isinstance(value, bytes) else None

    def _text(self, kind: str) -> str | None:
        value = self.data.get(kind)
        return value if isinstance(value, str) else None


def large_value(form: str, data: bytes) -> Any:
    """Convert a value that was sent as bytes to the form it has in `RichResult.data`. Raises `ValueError` if the value
    is invalid.
    """
    if form == "base64":
        return data
    return data.decode() if form == "text" else json.loads(data)


# ---- items of a run's stream, in order


@dataclass(frozen=True)
class CodeStdout:
    """Bytes printed by the code. `offset` is the first byte's offset."""

    offset: int
    data: bytes
    __repr__ = represent


@dataclass(frozen=True)
class CodeStderr:
    """Bytes printed by the code to stderr. `offset` is the first byte's offset."""

    offset: int
    data: bytes
    __repr__ = represent


@dataclass(frozen=True)
class CodeCleared:
    """The code clears the previous output, immediately or, with `wait`, when the next output arrives."""

    wait: bool


@dataclass(frozen=True)
class CodeRaised:
    """The code has failed."""

    error: CodeError


@dataclass(frozen=True)
class CodeInput:
    """The code is waiting for a line of input. See `CodeRunStream.answer`."""

    request: int
    prompt: str
    password: bool


@dataclass(frozen=True)
class CodeLost:
    """Output is missing because it was read too slowly. `missing` is the number of missing bytes, including the encoded
    size of missing events.
    """

    stream: str
    missing: int


@dataclass(frozen=True)
class CodeEnd:
    """The end of a run. The fields are described in `hawse.api.code.CodeRunResult`."""

    status: RunStatus
    run: str
    execution_count: int | None
    error: CodeError | None
    killed: bool
    exit: Exit | None
    duration: float

    @property
    def ok(self) -> bool:
        """Whether the code succeeded."""
        return self.status == "ok"


CodeEvent = CodeStdout | CodeStderr | RichResult | CodeCleared | CodeRaised | CodeInput | CodeLost | CodeEnd


@dataclass(frozen=True)
class CodeResult(CodeEnd):
    """A run that has ended, with its output.

    Attributes:
        stdout: Its output to stdout, up to the call's limit.
        stderr: Its output to stderr, up to the limit.
        results: The final values and displays, as in a notebook, with updates applied and cleared results removed.
        truncated: Whether output is missing because it exceeded a limit or was read too slowly.
    """

    stdout: bytes = b""
    stderr: bytes = b""
    results: tuple[RichResult, ...] = ()
    truncated: bool = False
    __repr__ = represent

    @property
    def value(self) -> RichResult | None:
        """The value of the last expression, if any."""
        return next((rich for rich in reversed(self.results) if rich.kind == "value"), None)

    @property
    def text(self) -> str | None:
        """The value of the last expression as plain text, if any."""
        return None if self.value is None else self.value.text


class ResultCollector:
    """Collects a run's events into a `CodeResult`."""

    def __init__(self, limit: int) -> None:
        """`limit` is the number of bytes to keep from the start of stdout and stderr."""
        self._limit = limit
        self._stdout = bytearray()
        self._stderr = bytearray()
        self._results: list[RichResult] = []
        self._clear_next = False
        self._truncated = False

    def add(self, event: CodeEvent) -> None:
        """Add an event other than `CodeEnd`, which is passed to `result`."""
        if isinstance(event, (CodeStdout, CodeStderr, RichResult)) and self._clear_next:
            self._clear_next = False
            self._results.clear()
        match event:
            case CodeStdout(data=data):
                self._keep(self._stdout, data)
            case CodeStderr(data=data):
                self._keep(self._stderr, data)
            case RichResult(kind="update"):
                self._update(event)
            case RichResult():
                self._results.append(event)
            case CodeCleared(wait=True):
                self._clear_next = True
            case CodeCleared():
                self._results.clear()
            case CodeLost():
                self._truncated = True

    def result(self, end: CodeEnd) -> CodeResult:
        """Return the run's result."""
        return CodeResult(
            status=end.status,
            run=end.run,
            execution_count=end.execution_count,
            error=end.error,
            killed=end.killed,
            exit=end.exit,
            duration=end.duration,
            stdout=bytes(self._stdout),
            stderr=bytes(self._stderr),
            results=tuple(self._results),
            truncated=self._truncated,
        )

    def _keep(self, kept: bytearray, data: bytes) -> None:
        room = self._limit - len(kept)
        kept += data[:room]
        self._truncated |= len(data) > room

    def _update(self, update: RichResult) -> None:
        for index, earlier in enumerate(self._results):
            if update.display_id is not None and earlier.display_id == update.display_id:
                self._results[index] = replace(
                    earlier, data=update.data, metadata=update.metadata, omitted=update.omitted
                )
