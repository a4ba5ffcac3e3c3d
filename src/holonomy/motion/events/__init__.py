"""Events: where a function of the state passes through zero."""
