"""What the shop remembers. Each effect has a unique constraint, which makes it happen once.

Rows that asked for a job keep its id in `job_id`: it is known before the transaction commits. It is
text, as a task result's id is, and no foreign key: finished jobs are pruned, orders are not.
"""

from demo_project.shop.models.delivery import Delivery
from demo_project.shop.models.invoice import Charge, Invoice
from demo_project.shop.models.lead import Lead
from demo_project.shop.models.photo import Photo, Thumbnail
from demo_project.shop.models.sales import Order, OrderLine, Product
from demo_project.shop.models.weekly_report import WeeklyReport

__all__ = [
    "Charge",
    "Delivery",
    "Invoice",
    "Lead",
    "Order",
    "OrderLine",
    "Photo",
    "Product",
    "Thumbnail",
    "WeeklyReport",
]
