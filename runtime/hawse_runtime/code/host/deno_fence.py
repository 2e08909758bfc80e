"""Finds the end of a run's output from Deno's kernel, which sends some output after reporting the end of the run.

Deno answers a request and reports `idle` while values and printed text are still in transit, and labels both with the
latest request. After each run, the host therefore sends a second request, the *fence*, whose code sends one mark as a
value and one as printed text. All output before the marks belongs to the run, whatever its label. For measurements, see
docs/decisions/0102.
"""

import json
import secrets

KERNEL = "deno"
TYPE = "application/x-hawse-fence"  # type of the mark on the display channel
_SYMBOL = 'globalThis[Symbol.for("hawse.fence")]'

# Code to run once, before any client's code. It keeps references to functions that client code might replace.
SETUP = f"""{{
  const {{ broadcast }} = Deno.jupyter, print = console.log.bind(console);
  const pass = async (mark) => {{
    print(mark);
    await broadcast("display_data", {{ data: {{ "{TYPE}": mark }}, metadata: {{}}, transient: {{}} }});
  }};
  Object.defineProperty(globalThis, Symbol.for("hawse.fence"), {{ value: pass }});
}}"""


class Fence:
    """The fence after a run."""

    def __init__(self) -> None:
        self._mark = secrets.token_hex(16)
        self._missing = {"stream", "display_data"}

    @property
    def source(self) -> str:
        """Source code that sends the marks. It evaluates to undefined, so Deno displays no value."""
        return f'await {_SYMBOL}("{self._mark}")'

    @property
    def passed(self) -> bool:
        """Whether both marks have arrived, which means that no more output can come from the run."""
        return not self._missing

    def without_mark(self, kind: str, content: bytes) -> bytes | None:
        """Return the content of a message of type `kind` without the mark, or None if nothing is left."""
        if kind not in self._missing or self._mark.encode() not in content:
            return content
        self._missing.discard(kind)
        if kind == "display_data":
            return None
        parsed = json.loads(content)
        parsed["text"] = parsed["text"].replace(f"{self._mark}\n", "")
        return json.dumps(parsed).encode() if parsed["text"] else None
