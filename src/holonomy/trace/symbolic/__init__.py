"""Expressions that a person reads: polynomials, Lagrange's equations, SymPy."""
