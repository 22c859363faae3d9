"""One offline page: a model's predictions for a graph, and the reasons of each."""

from ncgnn.page.choice import Choice, choose
from ncgnn.page.overview import Measured
from ncgnn.page.view import NodeViews
from ncgnn.page.write import served_page, write_page

__all__ = ["Choice", "Measured", "NodeViews", "choose", "served_page", "write_page"]
