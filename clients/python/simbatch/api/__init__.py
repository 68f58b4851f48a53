"""The HTTP interface of a coordinator: one transport on the standard library, and the meaning of its problems."""
