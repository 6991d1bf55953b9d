"""Pictures that stand alone, as PNG files."""
