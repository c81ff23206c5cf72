"""The one place of the version; the build of the jar reads it too."""

__version__ = "0.1.0"
