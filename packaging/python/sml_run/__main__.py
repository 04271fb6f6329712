"""python3 -m sml_run: the program, with the same words, in the place of this process."""
import os
import sys

from . import path

if __name__ == "__main__":
    try:
        program = path()
    except FileNotFoundError as error:
        sys.exit(f"sml_run: {error}")
    os.execv(program, [program, *sys.argv[1:]])
