"""Files as cameras and their programs write them; each is read by a short reader of our own."""
