"""Commands on what can be detected: probability of detection, and what would have been seen."""
