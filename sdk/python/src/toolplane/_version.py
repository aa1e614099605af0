"""The version of this package, in one place: the build, the `User-Agent` and `toolplane.__version__` all read it."""

__version__ = "0.1.0"
