"""The judge without a language model: lexical features and a classifier."""
