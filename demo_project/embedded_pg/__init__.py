"""A Django database engine that brings its own PostgreSQL.

``ENGINE = "demo_project.embedded_pg"`` starts a server on the first connection and stops it when
the last process that used it is gone. It is meant for development, tests and the demo: whoever may
read the socket folder is a superuser.

Reading order: ``base`` (Django's side) → ``server`` (start, stop, reset) → ``binaries`` (where the
programs come from), ``places`` (folders, and the account that owns them), ``locks``, ``postmaster``
(the running process) → ``keeper`` (the process that stops the server).

**Who stops the server.** Not its users: any of them may be killed. Each user holds a shared lock on
``users.lock``; the kernel drops it with the process, however that ends. The first user spawns a
keeper, which waits for the exclusive lock, lingers 2 seconds for the next command, and stops the
server.

**Lock order.** A starter takes ``setup.lock``, then ``users.lock`` shared, starts the server, and
hands ``keeper.lock`` to a new keeper if nobody holds it. A keeper holds ``keeper.lock`` for life
and takes ``users.lock`` exclusively to stop the server; it frees ``keeper.lock`` first, so that a
starter that gets in next finds no keeper and spawns one. A reset holds ``setup.lock``, sees that
nobody holds ``users.lock``, waits for the keeper's end, and removes all three; who waited for one
finds that its file is another one by now, and begins anew.

**Where things are.** ``.jobqueue/`` in the checkout. PostgreSQL refuses to run as root, so root's
server runs as ``postgres`` or ``nobody``, which may not be able to reach the checkout: its folder
is ``/var/tmp/django-jobqueue-<hash>``, and ``project.txt`` in it names the checkout.

Two variables change this: ``EMBEDDED_PG_HOME`` (the folder) and ``EMBEDDED_PG_BIN`` (the folder of
``initdb``). Everything but ``base`` uses the standard library only.
"""
