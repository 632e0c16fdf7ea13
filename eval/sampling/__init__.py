"""Which pairs people should label: pooled, stratified, in blind order, on a sheet."""
