"""Runs the cells of one Python session in the sandbox and answers on a socket of its own.

The server sends each cell as a line of JSON; each answer is its length in four bytes and JSON. What cells print goes to
standard output and standard error. A cell is the same process as this file: it can spoil its own answers, so the server
believes nothing of them but that they are answers.
"""

import ast
import builtins
import json
import linecache
import os
import signal
import sys
import traceback
import types
import warnings

VALUE_LIMIT = 20_000
MESSAGE_LIMIT = 2_000
TRACEBACK_LIMIT = 20_000
PICTURES_LIMIT = 20

PROCESS = os.getpid()
STDOUT, STDERR = sys.stdout, sys.stderr


class Driver:
    """The session: its variables, and whether a cell may be interrupted now."""

    def __init__(self):
        # The socket came as standard input, which programs started by cells would share.
        self.socket = os.dup(0)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        self.requests = os.fdopen(os.dup(self.socket), "rb")
        self.running = False
        self.module = types.ModuleType("__main__")
        self.module.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = self.module

    def serve(self):
        signal.signal(signal.SIGINT, self.interrupt)
        for line in iter(self.requests.readline, b""):
            request = json.loads(line)
            answer = self.answer(request["cell"], request["code"])
            if os.getpid() != PROCESS:
                # A cell has forked, and the copy came back here: only one may answer.
                os._exit(0)
            self.send(answer)

    def interrupt(self, _signal, _frame):
        if self.running:
            self.running = False
            raise KeyboardInterrupt

    def answer(self, cell, code):
        # What cells before may have changed.
        signal.signal(signal.SIGINT, self.interrupt)
        answer = {"cell": cell, "value": None, "raised": None, "pictures": []}
        try:
            try:
                self.running = True
                value = self.run(f"<cell {cell}>", code)
                if value is not None:
                    self.module.__dict__["_"] = value
                    answer["value"] = shortened(repr(value), VALUE_LIMIT)
                answer["pictures"] = save_pictures(cell)
            finally:
                self.running = False
        except BaseException as error:  # also SystemExit and KeyboardInterrupt
            answer["value"], answer["raised"] = None, describe(error)
        flush()
        return answer

    def run(self, name, code):
        """The value of the last line where that is an expression."""
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        tree = ast.parse(code, name)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        variables = self.module.__dict__
        exec(compile(tree, name, "exec"), variables)
        return eval(compile(last, name, "eval"), variables) if last else None

    def send(self, answer):
        text = json.dumps(answer).encode()
        text = len(text).to_bytes(4, "big") + text
        while text:
            text = text[os.write(self.socket, text) :]


def shortened(text, limit):
    text = str(text)
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - limit} characters left out …]\n{text[-half:]}"


def describe(error):
    """The error as Python prints it, without the frames of this file."""
    kind = type(error).__name__
    try:
        message = shortened(error, MESSAGE_LIMIT)
    except BaseException:
        message = "(its text cannot be made)"
    try:
        frames = without_ours(error.__traceback__)
        if isinstance(error, KeyboardInterrupt) and frames is None:
            lines = [kind]
        else:
            lines = traceback.format_exception(type(error), error, frames)
        text = shortened("".join(lines), TRACEBACK_LIMIT)
    except BaseException:
        text = f"{kind}: {message}"
    return {"kind": shortened(kind, 200), "message": message, "traceback": text}


def without_ours(frames):
    """Cuts off the frames of this file at the beginning, and that of an interruption at the end."""
    while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    last = frames
    while last is not None and last.tb_next is not None:
        if last.tb_next.tb_frame.f_code.co_filename == __file__:
            last.tb_next = None
        last = last.tb_next
    return frames


def save_pictures(cell):
    """Saves the open figures of matplotlib, if a cell has loaded it, and closes them."""
    plot = sys.modules.get("matplotlib.pyplot")
    if plot is None:
        return []
    names = []
    for number in list(plot.get_fignums())[:PICTURES_LIMIT]:
        name = free_name(cell, len(names) + 1)
        plot.figure(number).savefig(os.path.join("/files", name), format="png")
        names.append(name)
    plot.close("all")
    return names


def free_name(cell, number):
    name = f"figure-{cell}-{number}"
    extra = ""
    while os.path.lexists(os.path.join("/files", f"{name}{extra}.png")):
        extra = f"-{int(extra[1:] or 1) + 1}" if extra else "-2"
    return f"{name}{extra}.png"


def flush():
    for stream in (sys.stdout, sys.stderr, STDOUT, STDERR):
        try:
            stream.flush()
        except BaseException:
            pass  # closed or replaced by a cell


# Windows are not there, and figures are saved anyway.
warnings.filterwarnings("ignore", message=".*non-interactive.*")
sys.argv = [""]
sys.path.insert(0, "/files")
STDOUT.reconfigure(line_buffering=True)
Driver().serve()
