"""Configuration of the site, built by `make docs`: offline, with warnings as errors."""

import os
import sys
from pathlib import Path

from manyview import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the gallery's pictures should not depend on the machine

project, author = "manyview", "The manyview developers"
copyright = "the manyview developers"
version = release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "commands",
    "docstring_links",
    "mathml",
]
exclude_patterns = ["_build", "_ext", "gallery/**/*.py.md5", "gallery/*.ipynb"]
templates_path = ["_templates"]
default_role = "py:obj"  # `OCBR` in a docstring links to OCBR; what is not documented stays code

# The Markdown pages
highlight_language = "none"  # blocks that do not name a language are commands or output
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]  # the gallery's sort key is an object

# The reference, from the docstrings
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

html_math_renderer = "mathml"  # no script, no network

# The gallery
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "backreferences_dir": "api/used_in",
    "doc_module": ("manyview",),
    "inspect_global_variables": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": 60,
    "show_signature": False,
    "image_scrapers": ("matplotlib", "figures.figure_scraper"),
    "ignore_repr_types": r"matplotlib\.",
    "image_srcset": ["2x"],
    "write_computation_times": False,
    "plot_gallery": "True",
}

html_theme = "pydata_sphinx_theme"
html_title = "manyview"
html_static_path = ["_static", "images"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "manyview"},
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "first-hour": []}
