"""From frames to a volume."""
