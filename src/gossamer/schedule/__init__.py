"""What is fetched next, and when? Each module here is a step that changes `pages`."""
