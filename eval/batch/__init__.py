"""A provider's batches as the way to a model: jobs on disk, requests out, answers in."""
