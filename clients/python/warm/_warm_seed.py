"""The random numbers of a run: the global generators of `random` and of numpy begin with its seed, each in its own way."""

import sys

NUMPY = "numpy.random"


class _AtImport:
    """A finder of modules that seeds numpy's generator in a run that is the first to import it. Ends with this import."""

    def __init__(self):
        self.words = None

    def find_spec(self, name, path=None, target=None):
        if name != NUMPY:
            return None
        sys.meta_path.remove(self)
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None else None
            if spec is not None:
                _then(spec.loader, self._seed)
                return spec
        return None

    def _seed(self, module):
        module.seed(self.words)


_AT_IMPORT = _AtImport()


def _then(loader, call):
    """Calls `call(module)` once the loader has executed its module."""
    execute = loader.exec_module

    def exec_module(module):
        del loader.exec_module
        execute(module)
        call(module)

    loader.exec_module = exec_module


def seed(seed):
    """Seeds both for a run; numpy's at its import, where it is not imported yet."""
    import random

    random.seed(seed)
    words = [seed & 0xFFFFFFFF, seed >> 32, 1]
    numpy_random = sys.modules.get(NUMPY)
    if numpy_random is not None:
        numpy_random.seed(words)
        return
    _AT_IMPORT.words = words
    if _AT_IMPORT not in sys.meta_path:
        sys.meta_path.insert(0, _AT_IMPORT)
