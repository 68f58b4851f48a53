#!/bin/sh
# Answers `--version` as an old Python does.
echo "Python 2.7.18"
