"""What there is to be seen of jobs that have waited."""

from django_jobqueue.models import Job


def inserts(queries):
    """Count the INSERTs among queries."""
    return sum("INSERT INTO" in query["sql"] for query in queries)


def ids():
    """Return the ids of the jobs that are committed, in order, as results have them."""
    return [*map(str, Job.objects.order_by("pk").values_list("pk", flat=True))]
