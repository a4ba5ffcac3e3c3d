"""A finished motion: its states, result, certificate and files."""
