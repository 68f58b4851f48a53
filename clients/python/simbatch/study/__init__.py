"""A study as Python objects: distributions, requirements, policy, and the submission made of them."""
