"""The variables of a program between the runs of one process: global variables, closures, attributes, and the content of containers.

A variable that refers to another object than before the first run is set again. Content that has changed stays, and is reported: the
process has to end. Found are the objects of the program itself, as deep as variables, attributes and containers lead to them.
"""

import collections
import types

# Members of containers that are compared one by one; further containers are compared by their length.
MOST_MEMBERS = 4000
# The same for the bytes of arrays.
MOST_BYTES = 1 << 16
SEQUENCES = (list, collections.deque)
MAPPINGS = (dict, collections.defaultdict, collections.OrderedDict, collections.Counter)
COMPARED = (set, bytearray)
CONSTANTS = (int, float, complex, str, bytes, bool, type(None))
EMPTY = object()


class Variables:
    """`scopes`: the dictionaries of the program's modules; `roots`: further objects of the program. Compares with their state now."""

    def __init__(self, scopes, roots=()):
        self.names = {it.get("__name__") for it in scopes} | {"__main__"}
        self.own = {id(it) for it in scopes}
        self.seen = set()
        self.spaces = []
        self.cells = []
        self.contents = []
        self.members = MOST_MEMBERS
        self.bytes = MOST_BYTES
        pending = collections.deque((None, it) for it in scopes)
        pending.extend((getattr(it, "__name__", type(it).__name__), it) for it in roots)
        while pending:
            label, it = pending.popleft()
            if id(it) not in self.seen:
                self.seen.add(id(it))
                self._add(label, it, pending)

    def look(self):
        """(names of variables that were set again, names of variables whose content has changed)."""
        restored, left = [], []
        for space in self.spaces:
            if not space.is_same():
                space.restore(restored, left)
        for name, cell, value in self.cells:
            if content(cell) is not value:
                restored.append(name)
                if value is EMPTY:
                    del cell.cell_contents
                else:
                    cell.cell_contents = value
        left += [name for name, is_same in self.contents if not is_same()]
        return list(dict.fromkeys(restored)), list(dict.fromkeys(left))

    def _add(self, label, it, pending):
        kind = type(it)
        if id(it) in self.own:
            self.spaces.append(_Space(it, "", _assign))
            pending.extend((name, value) for name, value in it.items() if not name.startswith("__"))
        elif kind is types.FunctionType:
            if id(it.__globals__) in self.own:
                self._add_function(label, it, pending)
        elif kind is types.MethodType:
            pending.extend((label, value) for value in (it.__func__, it.__self__))
        elif kind in (staticmethod, classmethod):
            pending.append((label, it.__func__))
        elif isinstance(it, property):
            pending.extend((label, value) for value in (it.fget, it.fset))
        elif kind is tuple:
            pending.extend((label, value) for value in it)
        elif kind in SEQUENCES or kind in MAPPINGS or kind in COMPARED:
            self._add_content(label, it, pending)
        elif kind.__module__ == "numpy" and kind.__name__ == "ndarray":
            self._add_array(label, it)
        elif isinstance(it, type):
            if it.__module__ in self.names:
                self._add_space(label, _ClassSpace(it, label), pending)
        elif kind.__module__ in self.names and isinstance(getattr(it, "__dict__", None), dict):
            self._add_space(label, _Space(it.__dict__, label + ".", _assign), pending)
            pending.append((label, kind))

    def _add_space(self, label, space, pending):
        self.spaces.append(space)
        pending.extend(("%s.%s" % (label, name), value) for name, value in space.values.items())

    def _add_function(self, label, function, pending):
        self._add_space(label, _Space(function.__dict__, label + ".", _assign), pending)
        for cell, name in zip(function.__closure__ or (), function.__code__.co_freevars):
            if id(cell) not in self.seen:
                self.seen.add(id(cell))
                value = content(cell)
                self.cells.append((name, cell, value))
                pending.append((name, value))
        pending.extend((label, value) for value in function.__defaults__ or ())
        pending.extend((label, value) for value in (function.__kwdefaults__ or {}).values())

    def _add_content(self, label, it, pending):
        if len(it) > self.members:
            length = len(it)
            self.contents.append((label, lambda: len(it) == length))
            return
        self.members -= len(it)
        if type(it) in COMPARED:
            copy = it.copy()
            self.contents.append((label, lambda: it == copy))
            return
        if type(it) in MAPPINGS:
            names = list(it)
            values = list(it.values())
            is_same = _same_values(it.values, values)
            self.contents.append((label, lambda: list(it) == names and is_same()))
        else:
            values = list(it)
            self.contents.append((label, _same_values(lambda: it, values)))
        pending.extend((label, value) for value in values)

    def _add_array(self, label, array):
        if array.dtype.hasobject or array.nbytes > self.bytes:
            return
        self.bytes -= array.nbytes
        copy = array.tobytes()
        self.contents.append((label, lambda: array.tobytes() == copy))


class _Space:
    """The names of one dictionary and the objects that they refer to."""

    def __init__(self, variables, prefix, assign):
        self.variables = variables
        self.prefix = prefix
        self.assign = assign
        self.values = dict(variables)
        self.names = list(self.values)
        self.ids = list(map(id, self.values.values()))

    def is_same(self):
        variables = self.variables
        return (not variables and not self.ids) or (list(map(id, variables.values())) == self.ids and list(variables) == self.names)

    def restore(self, restored, left):
        variables, values = self.variables, self.values
        changed = [it for it in variables if it not in values or variables[it] is not values[it]]
        changed += [it for it in values if it not in variables]
        for name in changed:
            try:
                self.assign(variables, name, values.get(name, EMPTY))
            except Exception:
                left.append(self.prefix + name)
        # The order of names is not a change, but the next look compares it.
        self.names, self.ids = list(variables), list(map(id, variables.values()))
        restored += [self.prefix + it for it in changed if not it.startswith("__")]


class _ClassSpace(_Space):
    """The attributes of a class of the program."""

    def __init__(self, kind, label):
        self.kind = kind
        super().__init__(self._now(), label + ".", self._set)

    def is_same(self):
        self.variables = self._now()
        return super().is_same()

    def restore(self, restored, left):
        super().restore(restored, left)
        self.variables = self._now()
        self.names, self.ids = list(self.variables), list(map(id, self.variables.values()))

    def _now(self):
        return {name: it for name, it in vars(self.kind).items() if not name.startswith("__")}

    def _set(self, _, name, value):
        if value is EMPTY:
            delattr(self.kind, name)
        else:
            setattr(self.kind, name, value)


def _assign(variables, name, value):
    if value is EMPTY:
        del variables[name]
    else:
        variables[name] = value


def _same_values(now, values):
    """A function that says whether `now()` gives the same objects as `values`, or equal constants."""
    ids = list(map(id, values))

    def is_same():
        if list(map(id, now())) == ids:
            return True
        found = list(now())
        return len(found) == len(values) and all(map(_is_equal, found, values))

    return is_same


def _is_equal(one, other):
    return one is other or (type(one) is type(other) and type(one) in CONSTANTS and repr(one) == repr(other))


def content(cell):
    """Of a variable of an enclosing function; EMPTY where it has none."""
    try:
        return cell.cell_contents
    except ValueError:
        return EMPTY
