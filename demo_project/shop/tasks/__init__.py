"""The chores of the shop, one module each. Django's workers find them through this package.

Every task can run twice with the effect of once, and each says at its top why: the queue delivers
at least once, so a task that trusted it to deliver exactly once would charge a card twice on the
day a worker loses its power between the charge and the note of it.
"""

from demo_project.shop.tasks.billing import charge_invoice
from demo_project.shop.tasks.leads import pass_on_lead
from demo_project.shop.tasks.mail import send_mail
from demo_project.shop.tasks.pictures import make_thumbnails
from demo_project.shop.tasks.poison import kill_own_process
from demo_project.shop.tasks.reports import build_weekly_report

__all__ = [
    "build_weekly_report",
    "charge_invoice",
    "kill_own_process",
    "make_thumbnails",
    "pass_on_lead",
    "send_mail",
]
