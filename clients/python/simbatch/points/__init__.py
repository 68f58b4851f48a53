"""Points that come from outside a study: rows as optimisers have them, and the loop around an external algorithm."""
