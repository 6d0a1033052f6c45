"""How the shop speaks to others: one module for each HTTP service, over one small client."""
