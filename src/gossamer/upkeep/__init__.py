"""What may be forgotten? Rows that newer ones replace, and records of the archive."""
