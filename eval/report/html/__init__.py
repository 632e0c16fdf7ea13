"""One-file HTML pages: a strict base page, tables, and charts as inline SVG. Pure.

`page.render` fills a template, `tables.Table` is the one form of a table, `svg.Chart` the one form
of a chart. A page opens nothing from outside and is whole without its script.
"""
