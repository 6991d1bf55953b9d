"""What is done to a recording before it is reconstructed, step by step."""
