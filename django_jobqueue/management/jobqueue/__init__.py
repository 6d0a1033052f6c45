"""`manage.py jobqueue …`: one module a subject, each with its parsers and what they run.

Nothing here changes a row by itself: `operations` does, as for the admin and for code. A new subject is a module with
`add_parsers(subjects)`, and its place in `commands/jobqueue.py`.

Exit codes: 0 done; 1 refused, not found, or the database cannot be used; 2 the command line makes no sense. With --json
the only thing on the standard output is one JSON document, errors included: {"error": {"code": …, "message": …}}.
"""
