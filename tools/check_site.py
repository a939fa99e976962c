"""Check the built site: internal links and anchors resolve, and no page loads anything from the network.

python tools/check_site.py docs/_build/html
"""

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

REMOTE_IN_CSS = re.compile(r"""(@import|url\()\s*["']?(https?:)?//""")
LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src", "video": "src"}
LOADED_LINKS = {"stylesheet", "preload", "modulepreload", "icon", "preconnect", "dns-prefetch"}


@dataclass
class Page(HTMLParser):
    """What a page links to, what it loads, and its anchors."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    @classmethod
    def read(cls, path: Path) -> "Page":
        """Parse a file."""
        page = cls()
        page.feed(path.read_text(encoding="utf-8"))
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record what a tag refers to."""
        given = {name: value or "" for name, value in attrs}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADED and LOADED[tag] in given:
            self.loads.append(given[LOADED[tag]])
        if tag == "link" and LOADED_LINKS & set(given.get("rel", "").split()):
            self.loads.append(given.get("href", ""))


def problems(root: Path) -> list[str]:
    """Return a line for every dead link, and for everything that is loaded from elsewhere."""
    pages = {path: Page.read(path) for path in sorted(root.rglob("*.html")) if "_static" not in path.parts}
    found = []
    for path, page in pages.items():
        name = path.relative_to(root)
        found += [f"{name} loads {address}" for address in page.loads if _is_remote(address)]
        found += [f"{name} links to {link}" for link in (*page.links, *page.loads) if _is_dead(link, path, pages)]
    return found + [f"{path.relative_to(root)} imports from elsewhere" for path in _styles_with_imports(root)]


def _is_remote(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme in ("http", "https")


def _is_dead(link: str, path: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return False
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target not in pages:
        return not target.is_file()
    return bool(parts.fragment) and unquote(parts.fragment) not in pages[target].anchors


def _styles_with_imports(root: Path) -> list[Path]:
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in root.rglob("*.css")}
    return [path for path, text in texts.items() if REMOTE_IN_CSS.search(text)]


if __name__ == "__main__":
    lines = problems(Path(sys.argv[1]).resolve())
    sys.exit("\n".join(lines) if lines else 0)
