"""People grade pairs on a local page: blind, resumable, every answer on disk at once."""
