"""The messages between Python and the viewer."""
