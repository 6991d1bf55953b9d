"""What a recording tells about the inside of a part, and what it cannot."""
