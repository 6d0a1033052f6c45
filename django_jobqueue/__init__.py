"""A PostgreSQL job queue for Django with a failure contract."""

__version__ = "0.1.0.dev0"
