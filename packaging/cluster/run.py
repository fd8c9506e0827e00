"""Runs the tests of this folder, several files at a time, since they mostly wait; each in a network namespace of its own.

run.py [MODULE[.CLASS[.TEST]] …]
"""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

AT_A_TIME = 3
# Those that take longest begin first.
ORDER = ["test_partition", "test_servers", "test_pooler", "test_mistakes", "test_database"]
FOLDER = Path(__file__).parent
NAMESPACE = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


def run(name):
    """The output and the exit code of a part, and how long it took."""
    began = time.monotonic()
    command = [*NAMESPACE, sys.executable, "-m", "unittest", "-v", name]
    ran = subprocess.run(command, cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return name, ran.returncode, ran.stdout, time.monotonic() - began


def main():
    there = sorted(path.stem for path in FOLDER.glob("test_*.py"))
    assert there == sorted(ORDER), f"ORDER is not {there}"
    failed = False
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for name, code, output, seconds in pool.map(run, sys.argv[1:] or ORDER):
            print(f"{output}\n{seconds:6.1f} s  {name}\n", flush=True)
            failed |= code != 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
