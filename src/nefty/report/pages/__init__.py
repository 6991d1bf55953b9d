"""Whole pages, and the sections that they are made of."""
