"""Judgment lists: the columnar type, and one module a file format."""
