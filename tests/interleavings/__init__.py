"""Two verbs at once, statement by statement, in every order that locks allow.

`stepping` lets two sides take one step at a time, `orders` walks through all orders, `deeds` says what a side does;
`workers` and `people` name who meets whom.
"""
