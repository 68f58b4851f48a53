"""The digest of the code in a folder by its definition, from `git ls-files`; independent of the runner. Prints the digest and the number of files."""

import hashlib
import os
import re
import subprocess
import sys


def git(folder, *args):
    return subprocess.run([b"git", b"-C", folder, *args], check=True, capture_output=True).stdout


LOG = re.compile(rb"(\A|/)([^/]*\.log|nohup\.out|slurm-[^/]*\.out)\Z")


def listed(folder):
    found = git(folder, b"ls-files", b"-z", b"--cached").split(b"\0")
    others = git(folder, b"ls-files", b"-z", b"--others", b"--exclude-standard").split(b"\0")
    return found + [path for path in others if not LOG.search(path)]


def files(folder, prefix=b""):
    found = set()
    for path in listed(folder):
        whole = os.path.join(folder, path.rstrip(b"/"))
        if not path or not os.path.lexists(whole):
            continue
        if os.path.isdir(whole) and not os.path.islink(whole):
            found |= files(whole, prefix + path.rstrip(b"/") + b"/")
        else:
            found.add(prefix + path)
    return found


def content(path):
    if os.path.islink(path) and not os.path.isfile(path):
        return os.readlink(path)
    with open(path, "rb") as file:
        return file.read()


root = os.fsencode(sys.argv[1])
digest = hashlib.sha256(b"simbatch-code/1\0")
paths = sorted(files(root))
for path in paths:
    digest.update(path + b"\0" + hashlib.sha256(content(os.path.join(root, path))).digest())
print(digest.hexdigest(), len(paths))
