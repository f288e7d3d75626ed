"""Search processes, on this machine or on others, and the client that sends them requests.

wire.py       requests and replies as frames of bytes
server.py     a process that answers one request at a time; `gossamer node` is one
replica.py    the client's view of one process: its connections, and whether it is healthy
group.py      processes that hold the same shards: sends a request to one, on failure to another
tls.py        certificates of servers and nodes

On this machine:

cluster.py    sends questions to processes that all hold the whole index
children.py   starts, watches and restarts them; child.py is their program

On other machines:

nodes.py      runs the broker over nodes that hold a part each, under a deadline
members.py    who is there? Resolves the names of nodes, and collects their reports
cover.py      which nodes together answer from one state of the index, with all of its shards
follower.py   a node works out its place among the others, opens its shards, and drops older ones
rolling.py    when a node may open a newer index, and drop an older one
"""
