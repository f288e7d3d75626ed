"""The child process that parses pages, and the limits that the kernel holds it to."""
