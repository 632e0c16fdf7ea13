"""Exact neighbours of vectors, and the recall of a search measured against them."""
