"""The Pendulum lab."""
