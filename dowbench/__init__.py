"""dowbench reads the tool definitions an LLM agent is given and reports shapes that can run up the bill."""

__version__ = "0.2.0"
__url__ = "https://github.com/dowbench/dowbench"

TYPE_CHECKING = False  # not from typing, which a file of the working directory could be: see __main__
if TYPE_CHECKING:
    from dowbench.loaders import load_tools
    from dowbench.scan import scan_paths, scan_tools

__all__ = ["__url__", "__version__", "load_tools", "scan_paths", "scan_tools"]


def __getattr__(name: str) -> object:
    # Imported on first use: the benchmark and the command line's other commands need none of it.
    if name in ("scan_paths", "scan_tools"):
        from dowbench import scan

        return getattr(scan, name)
    if name == "load_tools":
        from dowbench.loaders import load_tools

        return load_tools
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
