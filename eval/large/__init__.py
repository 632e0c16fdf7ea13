"""Lists and runs larger than memory: Parquet files, scored part by part."""
