"""Replays a golden set against a search: live engines, any Python callable, the embedded engine."""
