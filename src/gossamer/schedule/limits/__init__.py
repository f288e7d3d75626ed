"""How many new URLs may a round add, and which task fetches each host?"""
