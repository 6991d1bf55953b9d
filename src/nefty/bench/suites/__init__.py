"""What is measured, as configuration files, and the command that runs them."""
