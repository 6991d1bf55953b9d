"""Files that are either whole or not there: HDF5, run folders that resume, locks."""
