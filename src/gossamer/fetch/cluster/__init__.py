"""What fetch tasks need on a cluster, where tasks outlive their driver and may run twice."""
