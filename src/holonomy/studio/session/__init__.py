"""One live simulation: its clock, history, requests and exports."""
