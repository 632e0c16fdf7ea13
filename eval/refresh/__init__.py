"""Stale judgments: which they are and why, graded anew, and what that did to the list."""
