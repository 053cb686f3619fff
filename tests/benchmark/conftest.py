"""Fixtures of the benchmark's tests."""

from hostile import here, out, plan, whole

__all__ = ["here", "out", "plan", "whole"]
