"""Contact laws: impacts, resting contact and friction."""
