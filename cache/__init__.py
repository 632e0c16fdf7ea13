"""Grades that were paid for are never paid for again: a store, and a judge that asks it first.

Knows judges, knows no metric."""
