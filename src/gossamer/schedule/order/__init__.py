"""Which of the pages that are due come first? Scores, the cutoff, and sections of sites."""
