"""Fixtures for every test. What tests import stands in ``workbench``: a name that no other folder's conftest takes."""

from workbench import dowbench, folder, probe

__all__ = ["dowbench", "folder", "probe"]
