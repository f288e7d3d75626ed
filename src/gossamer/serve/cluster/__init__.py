"""Nodes in processes of their own, on this machine or on others, and how they are asked.

wire.py       requests and replies as frames of bytes
server.py     a process that answers for some shards; listen.py runs it for `gossamer node`
replica.py    one such process, as seen from here: its connections, and whether it is well
group.py      processes that hold the same shards: one is asked, another where it fails
cluster.py    all groups, under a deadline: what drives the broker
children.py   processes on this machine, started, watched and started again; child.py is one
"""
