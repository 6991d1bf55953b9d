"""What was found: which cells, which regions, how deep, how large, and what speaks for each."""
