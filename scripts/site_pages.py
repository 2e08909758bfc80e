"""An mkdocs hook that adds pages outside docs/, links, diagrams, the Python and method references, and the HTTP API.

The pages are written for readers of the repository, so their links point to files. On the site, a link to a file that
is also a page leads to that page. A link to any other file in the repository becomes plain text. A link to a missing
file makes the build fail.

By default, the theme would load the script that draws diagrams from another server. Pages with diagrams therefore load
it from this site, before the theme's script looks for it.

docs/methods.md is a single file for readers of the repository; on the site, each of its areas is a separate page. In
the Python reference, `<!-- exports: MODULE -->` is replaced with all public names of the module that no page names
explicitly, and `<!-- sync -->` with the classes of hawse.sync. The search excludes decisions, because readers search
for instructions, not reasons.
"""

import ast
import posixpath
import re
import runpy
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File
from pymdownx.slugs import slugify

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = ("ARCHITECTURE.md", "CHANGELOG.md", "SECURITY.md", "examples/README.md", "web/README.md")
MERMAID = "assets/mermaid.min.js"  # the path on the site; the file is created by scripts/docs_mermaid.sh
SAME = {"README.md": "README.md"}  # repository files that a page of the site replaces
LINK = re.compile(r"(?P<image>!?)\[(?P<label>(?:[^\[\]]|!?\[[^\]]*\]\([^)]*\)|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)")
EXPORTS = re.compile(r"^<!-- exports: ([\w. ]+) -->$", re.M)
SYNC = "<!-- sync -->"
NAMED = re.compile(r"^::: hawse\.[\w.]*?(\w+)$", re.M)
ANCHOR = re.compile(r"\]\(#([^)]+)\)")
CODE = re.compile(r"(^```.*?^```$|^ *```.*?^ *```$|`[^`\n]*`)", re.DOTALL | re.MULTILINE)

_anchor = partial(slugify(case="lower"), sep="-")  # the same as in mkdocs.yml


def on_config(config: Any) -> Any:
    """Add the areas of the method reference to the navigation."""
    for section in config.nav:
        for pages in section.values():
            for entry in pages:
                if entry == {"Methods": "methods.md"}:
                    areas = [{title: f"methods/{_anchor(title)}.md"} for title, _ in _areas()[1]]
                    entry["Methods"] = [{"Overview": "methods.md"}, *areas]
    return config


def on_files(files: Any, *, config: Any) -> Any:
    """Add the pages outside docs/ and the areas of the method reference to the site."""
    for name in OUTSIDE:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    files.append(File.generated(config, MERMAID, abs_src_path=str(ROOT / "build/docs/mermaid.min.js")))
    files.append(File.generated(config, "openapi.json", abs_src_path=str(ROOT / "build/docs/openapi.json")))
    _, areas, pages = _areas()
    for title, text in areas:
        linked = ANCHOR.sub(lambda match: f"]({pages[match[1]]}.md#{match[1]})", text)
        files.append(
            File.generated(config, f"methods/{_anchor(title)}.md", content=linked.replace("](wire.md", "](../wire.md"))
        )
    return files


def _areas() -> tuple[str, list[tuple[str, str]], dict[str, str]]:
    """Return the introduction of docs/methods.md, each area's title and text, and the page of each anchor.

    The headings in the texts are one level higher than in the file.
    """
    introduction, *parts = re.split(r"^## ", (ROOT / "docs" / "methods.md").read_text("utf-8"), flags=re.M)
    areas = [(part.partition("\n")[0], re.sub(r"^##(#+) ", r"\1# ", f"# {part}", flags=re.M)) for part in parts]
    pages = {anchor: _anchor(title) for title, text in areas for anchor in _anchors(text)}
    return introduction, areas, pages


def _anchors(text: str) -> list[str]:
    return [_anchor(heading) for heading in re.findall(r"^#+ (.+)$", text, re.M)]


def _methods() -> str:
    introduction, areas, pages = _areas()
    linked = ANCHOR.sub(lambda match: f"](methods/{pages[match[1]]}.md#{match[1]})", introduction)
    rows = []
    for title, text in areas:
        methods = re.findall(r"^## (\w+\.\w+)$", text, re.M)
        links = ", ".join(f"[{name}](methods/{_anchor(title)}.md#{_anchor(name)})" for name in methods)
        rows.append(f"| [{title}](methods/{_anchor(title)}.md) | {links} |")
    return "\n".join([linked, "| area | methods |", "|---|---|", *rows, ""])


def _reference(markdown: str) -> str:
    """Replace the markers in a reference page with the public names that they represent."""
    exports = runpy.run_path(str(ROOT / "hawse" / "__init__.py"))["EXPORTS"]
    pages = (ROOT / "docs" / "reference").glob("*.md")
    named = {name for page in pages for name in NAMED.findall(page.read_text("utf-8"))}

    def names(match: re.Match[str]) -> str:
        return "\n\n".join(
            f"::: {module}.{name}"
            for module, found in exports.items()
            if any(f"{module}.".startswith(f"{prefix}.") for prefix in match[1].split())
            for name in found.split()
            if name not in named
        )

    return EXPORTS.sub(names, markdown)


def _sync_classes() -> str:
    """Return the reference of the classes in `hawse.sync`, which is based on their stub."""
    body = ast.parse((ROOT / "hawse" / "sync" / "__init__.pyi").read_text("utf-8")).body
    return "\n\n".join(f"::: hawse.sync.{node.name}" for node in body if isinstance(node, ast.ClassDef))


def on_page_content(html: str, *, page: Any, config: Any, files: Any) -> str:
    """Load the script that draws diagrams if the page has diagrams."""
    if '<pre class="mermaid">' not in html:
        return html
    script = posixpath.relpath(MERMAID, posixpath.dirname(page.url) or ".")
    return f'<script src="{script}"></script>\n{html}'


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Rewrite the links of a page, except in code."""
    source = page.file.src_uri
    if source.startswith("methods/"):
        return markdown
    if source == "methods.md":
        return _methods()
    if source == "reference/sync.md":
        markdown = markdown.replace(SYNC, _sync_classes())
    elif source.startswith("reference/"):
        markdown = _reference(markdown)
    if source.startswith("decisions/0"):
        page.meta["search"] = {"exclude": True}
    folder = PurePosixPath(source if source in OUTSIDE else f"docs/{source}").parent
    parts = CODE.split(markdown)
    parts[::2] = [LINK.sub(lambda match: _link(match, folder, source, files), part) for part in parts[::2]]
    return "".join(parts)


def _link(match: re.Match[str], folder: PurePosixPath, source: str, files: Any) -> str:
    target, _, fragment = match["target"].partition("#")
    if not target or re.match(r"[a-z]+:", target):
        return match[0]
    wanted = posixpath.normpath(str(folder / target))
    if not (ROOT / wanted).exists():
        raise PluginError(f"{source} links to {target}, which does not exist")
    place = SAME.get(wanted) or (wanted if wanted in OUTSIDE else wanted.removeprefix("docs/"))
    if place == wanted and wanted not in OUTSIDE and wanted not in SAME:
        return match["label"]  # the file is not a page of the site
    if files.get_file_from_path(place) is None:
        place = posixpath.join(place, "README.md")
    if files.get_file_from_path(place) is None:
        return match["label"]
    if wanted in SAME:
        fragment = ""
    path = posixpath.relpath(place, posixpath.dirname(source) or ".")
    return f"{match['image']}[{match['label']}]({path}{'#' if fragment else ''}{fragment})"
