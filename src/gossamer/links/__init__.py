"""Who links to whom, and what is that worth?"""
