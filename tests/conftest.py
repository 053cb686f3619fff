"""Fixtures for every test. What tests import stands in ``workbench``: a name that no other folder's conftest takes."""

from hypothesis import HealthCheck, settings
from workbench import dowbench, folder, probe

__all__ = ["dowbench", "folder", "probe"]

# How long an example takes depends on what else the machine does: no test fails for it.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
