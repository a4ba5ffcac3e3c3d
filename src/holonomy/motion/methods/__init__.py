"""One file per method, and what they share."""
