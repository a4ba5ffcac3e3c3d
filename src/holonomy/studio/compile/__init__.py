"""Compiling a lab's structures in processes of their own."""
