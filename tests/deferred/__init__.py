"""A queue on another alias than the rows: the id is known at the call, and the commit of the rows decides."""
