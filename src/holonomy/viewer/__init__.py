"""What notebooks, exported pages and the studio share: the viewer's messages and what it is told about a system."""
