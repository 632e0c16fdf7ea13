"""Golden sets: a frozen set of queries with grades and expectations, and what is done with it."""
