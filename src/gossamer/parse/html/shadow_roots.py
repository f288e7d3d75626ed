"""Declarative shadow DOM (§4.12.3 of HTML): what a page shows in place of an element's children.

A `template` with the attribute `shadowrootmode` becomes the shadow root of its parent, the host.
Browsers then show the template's content. The children of the host are shown where the content has
a `slot` for them, and not at all if it has none (§4.2.2 of the DOM standard). We put the elements
where they are shown, and walk once more, so that everything else need not know about it.

Bounds: MAX_ROOTS shadow roots per page. Each node is moved at most twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborHTMLParser, LexborNode

SHADOW_ROOT = "shadowrootmode"
MAX_ROOTS = 2_000

_MODES = frozenset(("closed", "open"))
_NAMES = "article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span"
_HOSTS = frozenset(_NAMES.split())
"""Elements that may have a shadow root, beside those whose name has a hyphen (`attachShadow`)."""


def show_shadow_roots(tree: LexborHTMLParser) -> None:
    """Put the content of shadow roots, and what their slots take, into the tree."""
    if tree.root is None:
        return
    pending = tree.root.template_fragments()[::-1]
    for _ in range(MAX_ROOTS):
        if not pending:
            return
        root = pending.pop()
        template = root.parent
        host = None if template is None else template.parent
        if template is None or host is None or not _is_root(template, host):
            continue
        pending += root.template_fragments()[::-1]
        _show(host, template, root)


def _is_root(template: LexborNode, host: LexborNode) -> bool:
    mode = (template.attributes.get(SHADOW_ROOT) or "").lower()
    return mode in _MODES and (host.tag in _HOSTS or "-" in (host.tag or ""))


def _show(host: LexborNode, template: LexborNode, root: LexborNode) -> None:
    slots: dict[str, LexborNode] = {}
    for each in root.css("slot"):
        slots.setdefault(each.attributes.get("name") or "", each)
    filled: set[str] = set()
    for child in list(_children(host)):
        if child.mem_id == template.mem_id:
            continue
        name = (child.attributes.get("slot") or "") if child.is_element_node else ""
        slot = slots.get(name)
        if slot is None or not (child.is_element_node or child.is_text_node):
            child.remove()
            continue
        if name not in filled:
            filled.add(name)
            for default in list(_children(slot)):
                default.remove()
        slot.insert_child(child, move=True)
    for node in list(_children(root)):
        host.insert_child(node, move=True)


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next
