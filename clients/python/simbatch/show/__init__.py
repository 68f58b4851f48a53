"""How studies and answers look: plain text, and HTML without scripts for notebooks."""
