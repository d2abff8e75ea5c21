"""Tells what a module reads of the environment while it is imported."""
import os

from _elastic_run_warm_learned import LASTING, PLACE


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
            if watch.under_way:
                watch.standing.discard(key)
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
