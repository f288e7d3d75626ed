"""Drawings of the search page: charts, maps of links, and treemaps of sections."""
