"""`python -m gossamer` is the command `gossamer`."""

from gossamer.cli import main

if __name__ == "__main__":  # not in the child processes, which import this module, too
    main()
