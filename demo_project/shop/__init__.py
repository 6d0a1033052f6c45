"""A small print shop whose chores are jobs: five kinds of work, each with the effect of once.

- mail: order confirmations through SMTP. Safe by `Delivery`, one row per mail, locked while sent.
- pictures: thumbnails of uploaded photos. Safe by `Thumbnail`, unique per photo, size and format.
- billing: an invoice charged at a payment provider. Safe by the provider's Idempotency-Key, and by
  `Charge`, one per invoice.
- leads: a webhook, enriched and passed on. Safe by `Lead`, unique per source and external id.
- reports: the week as CSV. Safe by `WeeklyReport`, one per week.

Read a chore in this order: the page or command that asks for it (`views`, `management`), what is
written in the same transaction (`checkout.py`, `intake.py`), the task (`tasks`), and the other side
(`services`: real servers, each a process of its own). A payload holds ids, never an address, a card
or a text: what a job knows can be read by whoever may read jobs.
"""
