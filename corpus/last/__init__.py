"""The last parts that have been judged: what came out of each, and how it is stored once."""
