"""The demo without a browser: a fixed mix of work through the real doors, and a count of what came.

- `database` gives the run a database of its own
- `visitor` fills in forms, uploads photos, calls the webhook, over HTTP
- `mix` is what is asked for
- `figures` counts what happened, and knows what must have happened
- `run` is the order of events
"""
