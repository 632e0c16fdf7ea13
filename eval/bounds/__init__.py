"""What the grades that nobody gave could still change: exact bounds, and rules under them."""
