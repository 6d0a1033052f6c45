"""What may be stored, and how it is made fit: no database, no settings.

- `storable_json`  arguments and results as JSON text that comes back as it went in, or a refusal
that names the place
- `storable_text`  error text made safe and short; exceptions of any kind described without ever
failing
- `secret_shapes`  what in a value looks like a secret: where, and why, never what
- `masking`        copies of values and texts that may be shown
- `keys`          what makes jobs one of a kind, or keeps them apart: made from their arguments
- `known_secrets`  the project's own, built from settings that are passed in
- `secret_reference` the name of a secret, stored in place of its value; `spilled` whether a value that was looked up
stands in what is about to be stored

Types that a hint names: `typed` (the arguments of a call), `forms` and `model_forms` (each type, as a `form`), and
`read_back` (whether what arrives is what was passed, where a class of the project's has a say in it).

The guard's rules have a module each: `secret_names` (keys), `token_shapes` (published formats), `assignments` (text
that names its secret), `random_words` (entropy), `literals` (one value in every form that text writes it in).

The rule for values: what a task receives is equal, and of the same type, to what was enqueued, on
every backend. What JSON or PostgreSQL would change on the way is refused at the call, where the
developer sees it. One exception, as in Django's own backends: a tuple arrives as a list. The order
of keys in a dict is not kept.
"""
