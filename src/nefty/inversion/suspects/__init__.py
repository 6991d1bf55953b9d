"""Which stated fact, if it were a little different, would explain what a reconstruction leaves."""
