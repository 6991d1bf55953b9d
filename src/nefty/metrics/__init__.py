"""How close a reconstruction is to the truth."""
