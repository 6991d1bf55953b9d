"""One recording, one method, one outcome in a file; and many of them on a cluster."""
