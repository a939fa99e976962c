"""The gallery shows figures that a block ends with, as a notebook does; `manyview.report` makes them without pyplot."""

from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

LAST = "___"  # where sphinx-gallery keeps the value that a block ended with; blocks that end otherwise leave it there
SHOWN = "___shown"


def figure_scraper(block, block_vars, gallery_conf) -> str:
    """Save the figure that the block ended with, unless it was shown, or pyplot knows it and it is saved anyway."""
    names = block_vars["example_globals"]
    figure = names.get(LAST)
    known = [*map(plt.figure, plt.get_fignums()), names.get(SHOWN)]
    if not isinstance(figure, Figure) or figure in known:
        return ""
    names[SHOWN] = figure
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path, dpi=150)
    return figure_rst([path], gallery_conf["src_dir"])
