"""Runs the cells of a notebook in order, in one namespace, and prints the outputs of each code cell as JSON.

run_notebook.py NOTEBOOK ADDRESS [--write]: the notebook's own address of the service is replaced by ADDRESS. With
--write, the outputs are stored in the notebook instead. It needs no Jupyter.
"""

import base64
import contextlib
import io
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

PRINTED = "http://127.0.0.1:8080"
path, address = sys.argv[1:3]
with open(path, encoding="utf-8") as file:
    notebook = json.load(file)
namespace: dict = {}
plt.show = lambda: None
for number, cell in enumerate(each for each in notebook["cells"] if each["cell_type"] == "code"):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("".join(cell["source"]).replace(PRINTED, address), f"cell {number + 1}", "exec"), namespace)
    cell["execution_count"] = number + 1
    cell["outputs"] = []
    if text := printed.getvalue():
        cell["outputs"].append({"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)})
    for figure in plt.get_fignums():
        image = io.BytesIO()
        plt.figure(figure).savefig(image, format="png", bbox_inches="tight", metadata={"Software": None})
        data = {"image/png": base64.b64encode(image.getvalue()).decode()}
        cell["outputs"].append({"data": data, "metadata": {}, "output_type": "display_data"})
    plt.close("all")
if "--write" in sys.argv:
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
else:
    print(json.dumps([cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]))
