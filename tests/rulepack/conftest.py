import pytest
from probe_rule import Probe


@pytest.fixture
def probe(tmp_path):
    """A pack of one small rule, to be changed."""
    folder = tmp_path / "pack"
    folder.mkdir()
    return Probe(folder)
