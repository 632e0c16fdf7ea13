"""Two published tables of grades, and queries drawn around one."""

from __future__ import annotations

import numpy as np

__all__ = ["DL19", "DL20", "tables_of_queries"]

# human 0-3 by GPT-4o 0-3 on TREC DL 2019 and 2020; header of a public script
DL19 = np.array(
    [[3654, 1135, 262, 107], [384, 772, 295, 150], [152, 496, 481, 675], [140, 122, 117, 318]]
)
DL20 = np.array(
    [[5913, 1391, 306, 170], [472, 870, 354, 244], [99, 326, 295, 300], [95, 107, 100, 344]]
)


def tables_of_queries(rng: np.random.Generator, n_queries: int, pairs_each: int) -> np.ndarray:
    """Queries that differ: each mixes the DL19 table with a lenient or a strict judge."""
    share = DL19 / DL19.sum()
    lenient, strict = np.zeros((4, 4)), np.zeros((4, 4))
    lenient[:, 3], strict[:, 0] = share.sum(axis=1), share.sum(axis=1)
    mix = rng.beta(1, 4, n_queries)[:, None, None]
    own = np.where(rng.random(n_queries)[:, None, None] < 0.5, lenient, strict)
    cells = ((1 - mix) * share + mix * own).reshape(n_queries, 16)
    return rng.multinomial(pairs_each, cells).reshape(n_queries, 4, 4)
