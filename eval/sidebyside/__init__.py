"""People's preference between two runs, seen side by side and blind: a check beside the gate."""
