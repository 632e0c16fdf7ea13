"""Adapters to real models. Each imports its SDK when it is made, not before."""
