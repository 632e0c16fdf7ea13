"""Which types of change a diff of search configuration holds."""
