"""How Sphinx builds the site: ``make docs``. It needs no network, and a warning is an error."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("PYTHONWARNINGS", "ignore")

from nefty import __version__  # noqa: E402

project = "nefty"
author = "The nefty developers"
copyright = "2026, the nefty developers"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "generated_pages",
    "repository_links",
]
exclude_patterns = [
    "_build",
    "_ext",
    "_templates",
    "gallery/*",
    "auto_examples/*.ipynb",
    "sg_execution_times.rst",
    "Thumbs.db",
    ".DS_Store",
]
suppress_warnings = ["config.cache"]  # sphinx-gallery's sorter cannot be pickled

# Markdown.
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# The reference: docstrings say units, axis order and equations; examples stand in the pages, and the tests run them.
autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 90
python_use_unqualified_type_names = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
add_module_names = False
toc_object_entries = False

# The gallery: every file is executed, in the order of the names.
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/\d\d_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 0,
    "capture_repr": (),  # what is printed is shown, what a last line returns is not
    "write_computation_times": False,  # its page would fetch scripts from the network
    "plot_gallery": os.environ.get("NEFTY_GALLERY", "1") != "0",
    "matplotlib_animations": False,
}

# The pages.
html_theme = "pydata_sphinx_theme"
html_title = "nefty"
html_static_path = ["_static"]
html_css_files = ["nefty.css"]
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"index": [], "changelog": []}
html_theme_options = {
    "logo": {"text": "nefty"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "show_prev_next": True,
}
copybutton_prompt_text = ">>> "
copybutton_exclude = ".linenos, .gp, .go"
