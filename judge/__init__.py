"""Query + candidates -> grades. No files, no metrics, no gates."""
