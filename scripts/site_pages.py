"""A hook of mkdocs: pages outside docs/, links that work in the site, diagrams, and the description of the HTTP API.

The pages are written for readers of the repository: their links lead to files. In the site, a link to a file that is a
page leads to that page, and a link to another file of the repository becomes plain text. A link to a file that does not
exist fails the build.

The theme would get the script that draws diagrams from another server. A page with diagrams has it from this site,
before the script of the theme looks for it.
"""

import posixpath
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = ("ARCHITECTURE.md", "CHANGELOG.md", "SECURITY.md", "examples/README.md", "web/README.md")
MERMAID = "assets/mermaid.min.js"  # in the site; scripts/docs_mermaid.sh makes it
SAME = {"README.md": "README.md"}  # files of the repository that a page of the site stands for
LINK = re.compile(r"(?P<image>!?)\[(?P<label>(?:[^\[\]]|!?\[[^\]]*\]\([^)]*\)|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)")
CODE = re.compile(r"(^```.*?^```$|^ *```.*?^ *```$|`[^`\n]*`)", re.DOTALL | re.MULTILINE)


def on_files(files: Any, *, config: Any) -> Any:
    """Add the pages outside docs/ to the site, at the same path as in the repository."""
    for name in OUTSIDE:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    files.append(File.generated(config, MERMAID, abs_src_path=str(ROOT / "build/docs/mermaid.min.js")))
    files.append(File.generated(config, "openapi.json", abs_src_path=str(ROOT / "build/docs/openapi.json")))
    return files


def on_page_content(html: str, *, page: Any, config: Any, files: Any) -> str:
    """Load the script that draws diagrams in a page that has one."""
    if '<pre class="mermaid">' not in html:
        return html
    script = posixpath.relpath(MERMAID, posixpath.dirname(page.url) or ".")
    return f'<script src="{script}"></script>\n{html}'


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Rewrite the links of a page, except those in code."""
    source = page.file.src_uri
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
        raise PluginError(f"{source} has a link to {target}, which does not exist")
    place = SAME.get(wanted) or (wanted if wanted in OUTSIDE else wanted.removeprefix("docs/"))
    if place == wanted and wanted not in OUTSIDE and wanted not in SAME:
        return match["label"]  # a file of the repository that is not in the site
    if files.get_file_from_path(place) is None:
        place = posixpath.join(place, "README.md")
    if files.get_file_from_path(place) is None:
        return match["label"]
    if wanted in SAME:
        fragment = ""
    path = posixpath.relpath(place, posixpath.dirname(source) or ".")
    return f"{match['image']}[{match['label']}]({path}{'#' if fragment else ''}{fragment})"
