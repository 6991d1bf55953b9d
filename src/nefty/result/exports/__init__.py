"""A reconstruction as files for other programs, and at a glance in a notebook."""
