"""The equations of a system as a person reads them."""
