"""Classical thermography: a method per file, pixel by pixel, without a volume."""
