"""The environment in which modules are imported ahead: what they read of it, and what the worker had changed in it."""
import os

from _elastic_run_hook import changes
from _elastic_run_warm_learned import LASTING, PLACE, digest, digests

_COMMON_VALUES = "true false True False TRUE FALSE offline error WARN INFO".split() + [str(n) for n in range(129)]


class StandIns:
    """Gives variables the values that they had in the worker when it imported a module: those that modules had given them
    which are left out here, and common ones, which are known by their digest. Other values of a script are its own."""

    def __init__(self, sets):
        self.first = dict(os.environ)
        self.common = {digest(value): value for value in _COMMON_VALUES}
        self.before = {}
        """What variables had before this gave them a value; None: they were not set."""
        self.values = {}
        self.know(sets)

    def know(self, sets):
        """Without its place a module gives a variable the same value: it does not depend on the worker."""
        self.values.update((one["variable"], one["value"]) for one in sets)

    def put(self, expected):
        """`expected`: the digests of what had been changed at this import."""
        for name in [name for name in self.before if expected.get(name) != _digest_of(name)]:
            self.take_back(name)
        for name, wanted in expected.items():
            value = self.values.get(name)
            if value is None or digest(value) != wanted:
                value = self.common.get(wanted)
            if value is not None and _digest_of(name) != wanted:
                before = value_of(name)
                os.environ[name] = value
                self.before[name] = before

    def take_back(self, name):
        before = self.before.pop(name)
        if before is not None:
            os.environ[name] = before
        else:
            os.environ.pop(name, None)

    def unlike(self, expected, sets):
        """A variable that has another value than the worker had at this import; None if there is none."""
        found = digests(changes(self.first, dict(os.environ)))
        # What an import has set here is not the script's, also if the list is another node's and says nothing of it.
        return next((name for name in changes(expected, found) if name in expected or name not in sets), None)


def _digest_of(name):
    return digest(value_of(name))


def value_of(name):
    """Without those who note what is read."""
    raw = os.environ._data.get(os.environ.encodekey(name))
    return None if raw is None else os.environ.decodevalue(raw)


def noting(watch):
    """A kind of os.environ that tells what is read. A list of its names has those of a worker's place, as a worker's own
    has; only their values differ between workers. Who goes through all of them may want only what begins in a certain way."""
    from collections.abc import ItemsView, KeysView

    class Names(KeysView):
        def __iter__(self):
            for name in self._mapping:
                yield _ListedName(name) if name in PLACE else name

    class Pairs(ItemsView):
        def __iter__(self):
            for name in Names(self._mapping):
                yield name, self._mapping[name]

    class Noting(os._Environ):
        def __getitem__(self, key):
            if isinstance(key, _ListedName) and not (watch.is_alone and key in LASTING):
                return _Unread(watch, str(key))
            watch.read(key)
            return super().__getitem__(key)

        def __contains__(self, key):
            watch.read(key)
            return super().__contains__(key)

        def __setitem__(self, key, value):
            super().__setitem__(key, value)
            watch.stand_ins.before.pop(key, None)
            if watch.under_way:
                watch.sets[key] = (watch.under_way[-1], value)

        def __iter__(self):
            # First, because who goes through all of them may keep the last one.
            first = watch.place if watch.under_way else []
            yield from first
            yield from (name for name in super().__iter__() if name not in first)

        def keys(self):
            return Names(self)

        def items(self):
            return Pairs(self)

        def __repr__(self):
            watch.blame("reads all of the environment")
            return super().__repr__()

        def __reduce_ex__(self, protocol):
            watch.blame("copies the environment")
            return super().__reduce_ex__(protocol)

    return Noting


class _ListedName(str):
    """A variable that comes with all others: dict(os.environ) asks for each value by its name."""

    def __reduce__(self):
        return str, (str(self),)


class _Unread:
    """A variable's value that nobody has looked at. It is no text, so that nothing takes it for one: whatever is done with
    it reads the variable, and so does who keeps it."""

    def __init__(self, watch, name):
        import gc
        import weakref

        object.__setattr__(self, "read", lambda: watch.read(name))
        mine = weakref.ref(self)

        def is_kept():
            if mine() is not None:
                gc.collect()
            return mine() is not None

        watch.suspect(is_kept, "reads %s" % name, name in LASTING)

    def __getattribute__(self, name):
        object.__getattribute__(self, "read")()
        return object.__getattribute__(self, name)


def _reading(method):
    usual = getattr(str, method)

    def read(self, *others):
        object.__getattribute__(self, "read")()
        return usual("", *others)

    return read


for _name in "eq ne lt le gt ge hash str repr format len contains getitem iter add".split():
    setattr(_Unread, "__%s__" % _name, _reading("__%s__" % _name))


for _name in "fspath bytes int float".split():
    setattr(_Unread, "__%s__" % _name, _reading("__str__"))
