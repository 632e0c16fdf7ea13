"""Runs: what a search returned, one module a file format."""
