"""A slab of one material in closed form: every formula of it, once."""
