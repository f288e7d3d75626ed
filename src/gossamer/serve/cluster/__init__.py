"""Search processes, on this machine or on others, and the client that sends them requests.

wire.py       requests and replies as frames of bytes
server.py     a process that answers from some shards; listen.py runs it for `gossamer node`
replica.py    the client's view of one process: its connections, and whether it is healthy
group.py      processes that hold the same shards: sends a request to one, on failure to another
cluster.py    all groups: runs the broker over them, under a deadline
children.py   starts, watches and restarts processes on this machine; child.py is their program
"""
