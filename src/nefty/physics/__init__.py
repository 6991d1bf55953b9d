"""The forward model of heat conduction in a slab, and its derivatives."""
