"""``python -m dowbench``."""

from dowbench.cli import main

if __name__ == "__main__":
    main()
