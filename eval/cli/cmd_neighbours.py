"""`relgate neighbours`: exact neighbours by brute force."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from relgate.eval.cli.common import FILE, Output, output_options, progress

__all__ = ["command"]


@click.command("neighbours")
@click.option("--queries", type=FILE, required=True, help="Query vectors: .npy, Parquet or JSONL.")
@click.option("--documents", type=FILE, required=True, help="Document vectors, likewise.")
@click.option("--query-ids", type=FILE, help="For .npy: one id a line; row numbers by default.")
@click.option("--document-ids", type=FILE, help="Likewise for the documents.")
@click.option(
    "--distance",
    type=click.Choice(["cosine", "dot", "l2"]),
    required=True,
    help="As the index has it.",
)
@click.option("--k", type=click.IntRange(1, 10_000), default=10, help="Depth; 10 by default.")
@click.option("--sample", type=click.IntRange(1), help="So many queries, drawn by --seed.")
@click.option("--seed", type=int, default=0, help="Seed of the sample.")
@click.option("--out", type=FILE, required=True, help="The file of exact neighbours, JSONL.")
@output_options
def command(
    queries: Path,
    documents: Path,
    query_ids: Path | None,
    document_ids: Path | None,
    **flags: Any,  # noqa: ANN401 - click
) -> None:
    """Compute the exact nearest documents of queries, all documents looked at.

    What an index returned is then held against them: relgate review --exact FILE.
    """
    from relgate.eval.cli import load  # noqa: PLC0415 - numpy
    from relgate.eval.neighbours.exact import exact_neighbours  # noqa: PLC0415
    from relgate.eval.neighbours.files import write_exact  # noqa: PLC0415
    from relgate.eval.neighbours.sample import draw_rows  # noqa: PLC0415
    from relgate.eval.neighbours.vectors import read_vectors  # noqa: PLC0415

    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    out: Path = flags["out"]
    load.spare_inputs([out], [queries, documents, query_ids, document_ids])
    load.writable(out.parent)
    asked = read_vectors(queries, query_ids)
    among = read_vectors(documents, document_ids)
    rows = draw_rows(len(asked.ids), flags["sample"], flags["seed"])
    found = exact_neighbours(
        asked.values[rows],
        among.values,
        k=flags["k"],
        distance=flags["distance"],
        on_progress=progress(output, "documents compared"),
    )
    write_exact(out, asked, among, rows, found, distance=flags["distance"], k=flags["k"])
    ties = sum(len(near.rows) > flags["k"] for near in found)
    output.line(
        f"{len(rows):,} of {len(asked.ids):,} queries against {len(among.ids):,} documents by "
        f"{flags['distance']}, to depth {flags['k']}: {out}"
    )
    if ties:
        output.line(f"{ties:,} of them have documents that tie with the last; any of those counts")
    output.document(
        {
            "queries": len(asked.ids),
            "sampled": len(rows),
            "documents": len(among.ids),
            "distance": flags["distance"],
            "k": flags["k"],
            "seed": flags["seed"],
            "with_ties": ties,
            "out": str(out),
        }
    )
