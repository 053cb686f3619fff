"""dowbench reads the tool definitions an LLM agent is given and reports shapes that can run up the bill."""

__version__ = "0.1.0"
__url__ = "https://github.com/dowbench/dowbench"
