"""Which pages does the owner want? Marks, what is learned from them, and generated rules."""
