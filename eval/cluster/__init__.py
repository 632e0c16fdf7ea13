"""Grading on a Ray cluster: the driver keeps the cache, the workers keep nothing."""
