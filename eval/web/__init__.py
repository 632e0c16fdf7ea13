"""The base of local pages: one guarded server, strict pages, nothing asked of other machines."""
