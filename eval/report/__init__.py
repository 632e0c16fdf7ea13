"""What a review says, one module an output."""
