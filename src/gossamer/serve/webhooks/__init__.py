"""`gossamer follow`: new pages that match a query are posted to a URL, as Standard Webhooks 1.0.

    follower.py   which changes match, in their order, and what is posted about each
    delivery.py   one attempt to post, within a deadline
    signing.py    secrets and signatures
    kept_place.py the file with the place up to which everything was delivered

Where it may post: the URL is the word of whoever starts the command, and never comes from a page,
so any address is allowed, also one on this machine or in its network. Redirects are not followed,
since the receiver would then choose the address.
"""
