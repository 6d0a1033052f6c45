"""The other side: a mail server and three HTTP services, each run as `python -m …` in a process of
its own, so that what the tasks meet is a real network with real refusals and delays.

They import no Django. Each prints `listening on host:port` once it can be reached, and keeps what
it did in a file that tells afterwards how often an effect took place.
"""
