"""What of relgate is set up in a folder, what is missing, what is wrong, and what to run next."""
