"""Plates with flat-bottom holes in files, as data of a suite."""
