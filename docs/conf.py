"""The site: ``make docs`` builds it from the pages in this folder and from the docstrings."""

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode

import ncgnn

project = "ncgnn"
release = version = ncgnn.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

html_theme = "furo"
html_title = f"ncgnn {release}"
html_copy_source = False
html_show_copyright = False
html_math_renderer = "mathml"  # what browsers draw themselves: formulas need no network

myst_heading_anchors = 4  # links to headings as GitHub has them
highlight_language = "none"

autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
napoleon_use_rtype = False

nitpicky = True  # a docstring that refers to a name which has no entry is a mistake
nitpick_ignore_regex = [
    ("py:.*", r"(?!ncgnn\b).*"),
    ("py:class", r"ncgnn\.models\.base\.(model\.S|prepared\.T)"),
]  # S and T are type variables

_DEFINED = ("class", "exception", "function", "data")


def find_public_name(app: Sphinx, env: Any, node: nodes.Element, content: nodes.TextElement) -> nodes.Element | None:
    """Annotations name the module that defines a class; its entry has the name under which it is public."""
    name = node.get("reftarget", "").rpartition(".")[2]
    if node.get("refdomain") != "py" or not name:
        return None
    objects = env.get_domain("py").objects
    public = [full for full, entry in objects.items() if full.endswith(f".{name}") and entry.objtype in _DEFINED]
    if len(public) != 1:
        return None
    entry = objects[public[0]]
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, [content], public[0])


def draw_formula(translator: Any, node: nodes.Element) -> None:
    translator.body.append(tex2mathml(node.astext(), as_block=isinstance(node, nodes.math_block)))
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    app.add_lexer("csv", TextLexer)
    app.add_html_math_renderer("mathml", (draw_formula, None), (draw_formula, None))
    app.connect("missing-reference", find_public_name)
