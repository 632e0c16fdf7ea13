"""The example notebook: every cell runs, and draws."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError


@pytest.fixture
def path(root: Path) -> Path:
    return root / "examples" / "notebook" / "review.ipynb"


def run(path: Path, folder: Path, *, first: str | None = None) -> nbformat.NotebookNode:
    notebook = nbformat.read(path, as_version=4)
    if first is not None:
        notebook.cells.insert(0, nbformat.v4.new_code_cell(first))
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}})
    return client.execute()


def test_it_is_kept_without_outputs(path):
    cells = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    assert cells
    assert all(c.outputs == [] and c.execution_count is None for c in cells)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_every_cell_runs_and_the_plots_are_drawn(path, tmp_path):
    done = run(path, tmp_path)
    outputs = [o for c in done.cells if c.cell_type == "code" for o in c.outputs]
    said = "".join(o.text for o in outputs if o.output_type == "stream" and o.name == "stdout")
    assert [o.text for o in outputs if o.get("name") == "stderr"] == []
    assert sum("image/png" in o.get("data", {}) for o in outputs) == 4
    assert "REFUSE - " in said
    assert "NEEDS-WORK - " in said or "BLOCK - " in said


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_planted_fault_is_found(path, tmp_path):
    with pytest.raises(CellExecutionError, match="planted"):
        run(path, tmp_path, first="raise RuntimeError('planted')")
