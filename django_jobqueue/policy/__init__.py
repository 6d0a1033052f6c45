"""What should happen next, as pure functions.

This room thinks and does nothing else: no database, no clock, no randomness, no settings, no logging. Values go in,
values come out; jitter is an argument. So every rule of the failure contract can be read and tested here, without a
server.

Reading order:

- `lifecycle`  the states of a job and of a dead letter, and the only legal moves between them
- `outcomes`   what an attempt can end in; a crash is an outcome like any other
- `backoff`    how long to wait before the next attempt
- `retry`      `decide(outcome, …)`: outcome in, decision out
- `fingerprint`  the same for deaths of a kind
- `why`        what stands in the way of a job that does not run
"""
