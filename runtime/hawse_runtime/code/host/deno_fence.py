"""Finds the end of a run's output in Deno's kernel, which sends some of it after it has reported the end.

Deno answers a request, and reports `idle`, while values and printed text are still on their way, and labels both with
the latest request. So each run is followed by a second request, a *fence*: it sends a mark on both ways. What comes
before the marks belongs to the run, whatever request it names. docs/decisions/0102 has the measurements.
"""

import json
import secrets

KERNEL = "deno"
TYPE = "application/x-hawse-fence"  # of the mark among the displays
_SYMBOL = 'globalThis[Symbol.for("hawse.fence")]'

# Run once, before all code of clients. It keeps the functions that it needs: code may replace them later.
SETUP = f"""{{
  const {{ broadcast }} = Deno.jupyter, print = console.log.bind(console);
  const pass = async (mark) => {{
    print(mark);
    await broadcast("display_data", {{ data: {{ "{TYPE}": mark }}, metadata: {{}}, transient: {{}} }});
  }};
  Object.defineProperty(globalThis, Symbol.for("hawse.fence"), {{ value: pass }});
}}"""


class Fence:
    """The fence of one run."""

    def __init__(self) -> None:
        self._mark = secrets.token_hex(16)
        self._missing = {"stream", "display_data"}

    @property
    def source(self) -> str:
        """The code that sends the marks. Its value is undefined, so that Deno shows none."""
        return f'await {_SYMBOL}("{self._mark}")'

    @property
    def passed(self) -> bool:
        """Whether both marks have come: the run sends nothing more."""
        return not self._missing

    def without_mark(self, kind: str, content: bytes) -> bytes | None:
        """Return the content of a message of that type without a mark; None if nothing else is in it."""
        if kind not in self._missing or self._mark.encode() not in content:
            return content
        self._missing.discard(kind)
        if kind == "display_data":
            return None
        parsed = json.loads(content)
        parsed["text"] = parsed["text"].replace(f"{self._mark}\n", "")
        return json.dumps(parsed).encode() if parsed["text"] else None
