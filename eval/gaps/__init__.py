"""Unrated documents: where they are, and filling them with a judge."""
