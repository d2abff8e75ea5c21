"""What the launcher's hook does in frameworks: it tells what a rank is busy with while no step comes, and takes the count of
a trainer that counts steps itself. A framework's callbacks are used where it has some. `_elastic_run_hook` loads this file
when the first of these modules is imported.
"""
import os
import signal
import sys
import time
from threading import get_ident, main_thread

LONGEST_SAVE_S = 1800
LONGEST_BATCH_S = 1800
LONGEST_PREPARATION_S = 14400
"""What takes longer, in seconds, may be a hang: of an evaluation it is the time since its last batch."""

_SAVES = "saves a checkpoint"
_EVALUATES = "evaluates"
_PREDICTS = "predicts"
_PREPARES = "prepares data"

_TELL_EVERY_S = 1.0
_SHOW_EVERY_S = 5.0
_WORDS = 40
"""Of the words in the file, in bytes."""


class Phases:
    """What the main thread is busy with, in the file `phase`."""

    def __init__(self, hook):
        self.hook = hook
        self.now = None
        self.since = 0
        self.told_at = 0.0

    def tell(self, what, longest_s):
        """No step is to be expected for so long, from now. Called again, it counts from then."""
        if not _is_main_thread():
            return  # What another thread does holds up no step.
        at = time.monotonic()
        if what == self.now and at - self.told_at < _TELL_EVERY_S:
            return
        if what != self.now:
            self.now, self.since = what, int(time.time() * 1000)
        self.told_at = at
        self._write(b"%20d%20d%-40b" % (self.since, longest_s, what.encode()[:_WORDS]))

    def over(self):
        """Steps are to be expected again."""
        if self.now is not None and _is_main_thread():
            self.now = None
            self._write(b" " * (20 + 20 + _WORDS))

    def around(self, function, what, longest_s):
        """The function, which is a phase while it runs, unless another one is under way."""
        import functools

        @functools.wraps(function)
        def phase(*args, **kwargs):
            begins = False
            try:
                if self.now is None:
                    self.tell(what, longest_s)
                    begins = self.now is not None
            except Exception as error:
                self.hook.warn(what, error)
            try:
                return function(*args, **kwargs)
            finally:
                if begins:
                    self._end(what)

        return phase

    def _end(self, what):
        try:
            if self.now == what:
                self.over()
        except Exception as error:
            self.hook.warn(what, error)

    def _write(self, text):
        """It does not become the one that trains: who prepares data may start the trainer then."""
        if not self.hook.is_asked():
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(self.hook.path("phase"), flags, 0o600)
        try:
            os.pwrite(descriptor, text, 0)
        finally:
            os.close(descriptor)


def _is_main_thread():
    return get_ident() == main_thread().ident


class Frameworks:
    """Listens to modules of frameworks."""

    def __init__(self, hook, phases):
        self.hook = hook
        self.phases = phases

    def imported(self, module):
        listeners = {
            "torch.serialization": lambda: self.surround(module, "save"),
            "torch.distributed.checkpoint.state_dict_saver": lambda: self.surround(module, "save", "async_save"),
            "accelerate.accelerator": lambda: self.surround(module.Accelerator, "save_state"),
            "datasets.arrow_dataset": lambda: self.prepare_data(module.Dataset),
            "transformers.trainer": lambda: self.join_trainer(module),
        }
        listeners.get(module.__name__, lambda: self.join_lightning(module))()

    def surround(self, place, *names):
        for name in names:
            setattr(place, name, self.phases.around(getattr(place, name), _SAVES, LONGEST_SAVE_S))

    def prepare_data(self, dataset):
        dataset.map = self.phases.around(dataset.map, _PREPARES, LONGEST_PREPARATION_S)

    def join_trainer(self, module):
        """Each Trainer takes a list of callbacks before those of its user."""
        module.DEFAULT_CALLBACKS.append(_trainer_callback(module.TrainerCallback, self))

    def join_lightning(self, connector):
        """Lightning takes callbacks of packages that are installed; the launcher's is one more."""
        others = connector._load_external_callbacks
        package = connector.__name__.partition(".trainer.")[0]

        def load_callbacks(group):
            found = others(group)
            try:
                return [*found, _lightning_callback(package, self)]
            except Exception as error:
                self.hook.warn(package, error)
                return found

        connector._load_external_callbacks = load_callbacks

    def passed(self, trains):
        """A model has made a pass, or a step was made."""
        try:
            if not trains and self.phases.now in (None, _EVALUATES):
                self.phases.tell(_EVALUATES, LONGEST_BATCH_S)
            elif trains:
                self.phases.over()
        except Exception as error:
            self.hook.warn("an evaluation", error)

    def trains(self):
        """A trainer begins, which counts its steps."""
        self.hook.torch.steps.is_taken = True

    def stepped(self, step):
        self.phases.over()
        self.hook.torch.steps.take(step)

    def trained(self):
        """Steps are those of optimizers again."""
        self.phases.over()
        self.hook.torch.steps.is_taken = False

    def guarded(self, name, handler):
        """A method of a callback, which a framework calls; it changes nothing there."""

        def method(_self, *args, **kwargs):
            try:
                handler(*args, **kwargs)
            except Exception as error:
                self.hook.warn(name, error)

        return method


def _trainer_callback(base, frameworks):
    phases = frameworks.phases

    def go_on(_args, _state, control, **_):
        """What the trainer does next: it evaluates, then it saves."""
        if control.should_evaluate:
            phases.tell(_EVALUATES, LONGEST_BATCH_S)
        elif control.should_save:
            phases.tell(_SAVES, LONGEST_SAVE_S)

    def step(args, state, control, **_):
        frameworks.stepped(state.global_step)
        go_on(args, state, control)

    def evaluated(_args, _state, control, **_):
        phases.over()
        if control.should_save:
            phases.tell(_SAVES, LONGEST_SAVE_S)

    def batch(*_, **__):
        # It is called in a prediction as well.
        phases.tell(phases.now or _EVALUATES, LONGEST_BATCH_S)

    handlers = {
        "on_train_begin": lambda *_, **__: frameworks.trains(),
        "on_step_end": step,
        "on_epoch_end": go_on,
        "on_prediction_step": batch,
        "on_evaluate": evaluated,
        "on_predict": lambda *_, **__: phases.over(),
        "on_save": lambda *_, **__: phases.over(),
        "on_train_end": lambda *_, **__: frameworks.trained(),
    }
    return _callback(base, frameworks, handlers)


class _Bar:
    """Lightning's bar where Rich draws it, which it does on a terminal only: a line now and then."""

    def __init__(self):
        self.shown_at = time.monotonic()

    def show(self, trainer, module, number):
        bar = trainer.progress_bar_callback
        if type(bar).__name__ != "RichProgressBar" or not trainer.is_global_zero or sys.stdout.isatty():
            return
        now = time.monotonic()
        if now - self.shown_at < _SHOW_EVERY_S:
            return
        self.shown_at = now
        figures = "".join(", %s: %s" % one for one in bar.get_metrics(trainer, module).items())
        place = (trainer.current_epoch, number + 1, trainer.num_training_batches)
        print("Epoch %d: %d/%s%s" % (*place, figures), flush=True)


def _note_sigterm(trainer):
    """Since 2.6 Lightning's handler of SIGTERM broadcasts, wherever its rank stands: ranks that are all told to end wait for
    each other until they are killed. As before 2.6, each only notes it, and ends after its batch."""
    connector = trainer._signal_connector
    handlers = getattr(signal.getsignal(signal.SIGTERM), "signal_handlers", [])

    def note(_number, _frame):
        connector.received_sigterm = True

    handlers[:] = [note if one == connector._sigterm_notifier_fn else one for one in handlers]


def _lightning_callback(package, frameworks):
    from importlib import import_module

    phases = frameworks.phases
    bar = _Bar()

    def train(trainer, _module):
        frameworks.trains()
        _note_sigterm(trainer)

    def batch_ended(trainer, module, _outputs, _batch, number, *_):
        frameworks.stepped(trainer.global_step)
        bar.show(trainer, module, number)

    def batch_of(what):
        return lambda *_, **__: phases.tell(what, LONGEST_BATCH_S)

    handlers = {
        "on_train_start": train,
        # No callback says that a save is over.
        "on_train_batch_start": lambda *_, **__: phases.over(),
        "on_train_batch_end": batch_ended,
        "on_save_checkpoint": lambda *_, **__: phases.tell(_SAVES, LONGEST_SAVE_S),
        "on_fit_end": lambda *_, **__: frameworks.trained(),
    }
    for name, what in (("validation", _EVALUATES), ("test", _EVALUATES), ("predict", _PREDICTS)):
        handlers["on_%s_start" % name] = handlers["on_%s_batch_end" % name] = batch_of(what)
        handlers["on_%s_end" % name] = lambda *_, **__: phases.over()
    return _callback(import_module(package + ".callbacks").Callback, frameworks, handlers)()


def _callback(base, frameworks, handlers):
    methods = {name: frameworks.guarded(name, handler) for name, handler in handlers.items()}
    return type("ElasticRunCallback", (base,), methods)
