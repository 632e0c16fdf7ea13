"""One pure function a rule, and the table of them."""
