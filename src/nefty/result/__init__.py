"""What comes out: the volume, its defects, its fit, its files."""
