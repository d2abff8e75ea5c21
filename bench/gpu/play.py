"""Plays the faults of a GPU's user, and prints what followed as tables in Markdown."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
HAS_GPU = torch.cuda.is_available()
READY = "restarts will be "
"""The launcher says it once the helper has imported what the workers had, or cannot."""
PATIENCE_SECONDS = 60


class Run:
    """A run of one worker, and the marks that it leaves."""

    def __init__(self, folder, fault, *flags):
        self.marks_file = os.path.join(folder, "marks")
        open(self.marks_file, "w").close()
        self.errors = open(os.path.join(folder, "stderr"), "w+")
        command = [os.environ["NODE"], os.environ["CLI"], "--run-id", "gpu", "--standalone", "--output", "json"]
        command += ["--log-dir", folder, "--max-restarts", "3", "--start-timeout", "120", "--shutdown-timeout", "5", *flags]
        script = [os.path.join(HERE, "train.py"), self.marks_file, fault] if fault else [os.path.join(HERE, "trainer.py")]
        # The launcher finds this Python by the name that it uses.
        path = os.path.dirname(os.environ["PYTHON"]) + os.pathsep + os.environ["PATH"]
        self.process = subprocess.Popen(
            command + script, stdout=subprocess.PIPE, stderr=self.errors, text=True, env=dict(os.environ, PATH=path)
        )

    def marks(self, word):
        with open(self.marks_file) as file:
            found = [line.split() for line in file if line.endswith("\n")]
        return {int(life): (float(at), *values) for name, life, at, *values in found if name == word}

    def wait_for(self, word, life):
        until = time.time() + PATIENCE_SECONDS
        while life not in self.marks(word):
            if self.process.poll() is not None or time.time() > until:
                raise TimeoutError("%s of life %d did not come:\n%s" % (word, life, self.said()[-3000:]))
            time.sleep(0.01)
        return self.marks(word)[life]

    def said(self):
        with open(self.errors.name) as file:
            return file.read()

    def end(self):
        try:
            out, _ = self.process.communicate(timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGTERM)
            out, _ = self.process.communicate()
        return self.process.returncode, out


def row(*cells):
    print("| %s |" % " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells), flush=True)


def table(*heads):
    print()
    row(*heads)
    row(*("---" for _ in heads))


def restart(warm):
    """Kills the worker twice; the second time the machine's caches are warm in any case."""
    with tempfile.TemporaryDirectory() as folder:
        run = Run(folder, "kill", "--warm", warm)
        for life in range(2):
            _, pid = run.wait_for("stepped", life)
            until = time.time() + PATIENCE_SECONDS
            while warm == "auto" and READY not in run.said() and time.time() < until:
                time.sleep(0.1)
            time.sleep(1)
            killed_at = time.time()
            os.kill(int(pid), signal.SIGKILL)
        stepped_at, _ = run.wait_for("stepped", 2)
        _, start, is_initialised = run.marks("started")[2]
        memory = [int(values[1]) >> 20 for values in run.marks("memory").values()]
        run.process.send_signal(signal.SIGTERM)
        run.end()
        row("--warm " + warm, "%.2f s" % (stepped_at - killed_at), start, is_initialised, memory)


def fault(name, *flags):
    with tempfile.TemporaryDirectory() as folder:
        run = Run(folder, name, *flags)
        code, _ = run.end()
        causes = [line for line in run.said().splitlines() if "→STOPPING" in line or line.startswith("root cause")]
        memory = [int(values[1]) >> 20 for values in run.marks("memory").values()]
        row(name, causes[0].split("STOPPING ")[-1] if causes else "nothing", code, memory)


def trainer():
    with tempfile.TemporaryDirectory() as folder:
        run = Run(folder, None)
        code, out = run.end()
        outcome = json.loads(out)["outcome"] if out else "no result"
        row("Trainer, bf16", outcome, code)


def attempt(play, *arguments):
    try:
        play(*arguments)
    except Exception as error:
        row(arguments[0] if arguments else play.__name__, "**failed**: %s" % error)


def main():
    device = torch.cuda.get_device_name() if HAS_GPU else "no GPU: CPU and gloo in its place"
    print("%s; torch %s" % (device, torch.__version__))
    table("restart", "killed → next first step", "start", "CUDA initialised before", "MiB in use at each start")
    for warm in ("auto", "off"):
        attempt(restart, warm)
    table("fault in the first life", "what is said of it", "exit code", "MiB in use at each start")
    attempt(fault, "assert")
    attempt(fault, "memory")
    attempt(fault, "kernel", "--hang-timeout", "5")
    table("script", "outcome", "exit code")
    try:
        import transformers  # noqa: F401
    except ImportError:
        row("Trainer, bf16", "transformers is not installed", "")
    else:
        attempt(trainer)


sys.exit(main())
