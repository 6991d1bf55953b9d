"""How sure a reconstruction is: the same recording refitted with other noise and other facts."""
