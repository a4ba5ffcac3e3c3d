"""The Linkage lab."""
