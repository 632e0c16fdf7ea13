"""Measured golden sets held against a committed baseline: budgets, alarms, noise, history."""
