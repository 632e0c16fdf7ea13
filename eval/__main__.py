"""`python -m relgate.eval` is the `relgate` command."""

from relgate.eval.cli import main

if __name__ == "__main__":
    main()
