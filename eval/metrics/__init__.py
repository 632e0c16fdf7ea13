"""Ranking metrics over grades in rank order, vectorised."""
