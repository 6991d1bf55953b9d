"""One file for each family of formats that recordings come in."""
