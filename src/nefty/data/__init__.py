"""What a recording is, and how it is read, checked and prepared."""
