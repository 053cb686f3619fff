"""``python -m dowbench`` is the command ``dowbench``; the image starts it like this, in isolated mode."""

from dowbench.cli import main

if __name__ == "__main__":
    main()
