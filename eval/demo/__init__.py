"""The bundled example: a made-up shop, its engine, its labels by rule, and the story."""
