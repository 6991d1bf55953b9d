"""What the unknown is made of: voxels, or a neural field."""
