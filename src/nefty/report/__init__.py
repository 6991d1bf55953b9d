"""Figures and pages, written once and used everywhere."""
