"""The pages. Each answers at once: it writes to the shop's tables, asks for jobs, and redirects."""
