"""Executes cells, given as a JSON list of texts, as a notebook does, and prints what each has shown as JSON. A cell
"INTERRUPT after FILE: TEXT" is stopped as by the stop button when FILE is there."""
import asyncio
import json
import os
import sys

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError


async def interrupt(client, file):
    while not os.path.exists(file):
        await asyncio.sleep(0.05)
    await client.km.interrupt_kernel()


async def main():
    book = nbformat.v4.new_notebook()
    waits = {}
    for number, text in enumerate(json.loads(sys.argv[1])):
        if text.startswith("INTERRUPT after "):
            waits[number], text = text[len("INTERRUPT after "):].split(": ", 1)
        book.cells.append(nbformat.v4.new_code_cell(text))
    client = NotebookClient(book, timeout=None, kernel_name="python3")
    async with client.async_setup_kernel():
        for number, cell in enumerate(book.cells):
            stop = asyncio.ensure_future(interrupt(client, waits[number])) if number in waits else None
            try:
                await client.async_execute_cell(cell, number)
            except CellExecutionError:
                pass
            if stop:
                await stop
    shown = []
    for cell in book.cells:
        streams = {name: "".join(o["text"] for o in cell.outputs if o.output_type == "stream" and o["name"] == name) for name in ("stdout", "stderr")}
        errors = [{"name": o["ename"], "text": o["evalue"], "trace": "\n".join(o["traceback"])} for o in cell.outputs if o.output_type == "error"]
        results = [o["data"]["text/plain"] for o in cell.outputs if o.output_type == "execute_result"]
        shown.append({**streams, "error": errors[0] if errors else None, "result": results[0] if results else None})
    print(json.dumps(shown))


asyncio.run(main())
