"""Arrays that stay arrays: what each element is, said once for all of them, and written out as loops."""
