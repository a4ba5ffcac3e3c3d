"""From a jaxpr to scalar operations and the statements around them."""
