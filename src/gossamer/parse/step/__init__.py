"""The step `parse`: which pages are parsed, by which task, and what is left for later."""
