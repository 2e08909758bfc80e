"""Checks a page with axe-core, the rules of which are those of WCAG and of ARIA."""

from functools import cache
from pathlib import Path

from playwright.async_api import Page

SCRIPT = Path(__file__).parent.parent / "web/node_modules/axe-core/axe.min.js"
# xterm.js draws the characters of a terminal; their colours are the program's. The contents of previews are not ours.
OPTIONS = """{ exclude: [[".xterm"], ["iframe"]] }"""


@cache
def _script() -> str:
    return SCRIPT.read_text("utf-8")


async def serious(page: Page) -> list[str]:
    """Return the serious and critical violations on the page, with the elements that have them."""
    await page.evaluate(_script())
    return await page.evaluate(
        f"""async () => {{
          const {{ violations }} = await axe.run({OPTIONS}, {{
            resultTypes: ["violations"], iframes: false, rules: {{ "label-content-name-mismatch": {{ enabled: true }} }}
          }});
          return violations
            .filter(({{ impact }}) => impact === "serious" || impact === "critical")
            .flatMap(({{ id, nodes }}) => nodes.map(({{ html, any }}) =>
              `${{id}}: ${{html.slice(0, 200)}} ${{any[0]?.message ?? ""}}`));
        }}"""
    )
