"""The program `simbatch` on this machine: finding it, asking it, and a coordinator with runners in a folder."""
