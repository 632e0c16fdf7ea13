"""One-file HTML pages: parts (tables, facts, charts), and the page that shows them. Pure.

A page is data: `parts.Page` of sections of parts. `page.render` is the one way from there to text.
It opens nothing from outside and is whole without its script.
"""
