"""A function as a graph of scalar operations."""
