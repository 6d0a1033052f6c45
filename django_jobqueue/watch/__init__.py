"""What the queue looks like from outside: figures for people, dashboards and alerts.

Everything here reads, on Django's connection and PostgreSQL's clock, and stays cheap however much history there is: it
looks at live rows through their partial indexes, at no more than so many of them, under a short statement_timeout. A
figure that met its bound says so; it is never silently wrong.
"""
