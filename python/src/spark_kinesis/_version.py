"""The version of the package and of the jar; the build of the jar reads it from here."""

__version__ = "0.1.0"
