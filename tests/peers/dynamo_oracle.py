#!/usr/bin/env python3
"""What torch._dynamo itself reports on the tests' shape sequences and models, as JSON.

Counts come from a counting backend, from the log of recompiles and from torch._dynamo.explain: none of it
from breakeven. Argument: a JSON object, name -> {"factory", "shapes" (one list of input shapes a request),
"mark", "explain"}.
"""

import json
import logging
import sys

import torch
import torch._dynamo
from torch._dynamo.testing import CompileCounterWithBackend

import peer_models


class Lines(logging.Handler):
    def __init__(self):
        super().__init__()
        self.recompiles = self.limits = 0

    def emit(self, record):
        text = record.getMessage()
        self.recompiles += text.startswith("Recompiling function")
        self.limits += "hit config.recompile_limit" in text


def counted(job, lines):
    model = getattr(peer_models, job["factory"])().eval()
    backend = CompileCounterWithBackend("eager")
    compiled = torch.compile(model, backend=backend)
    lines.recompiles = lines.limits = 0
    marked = set()
    with torch.inference_mode():
        for shapes in job["shapes"]:
            inputs = [torch.ones(shape) for shape in shapes]
            if job.get("mark") and str(shapes) not in marked:
                marked.add(str(shapes))
                torch._dynamo.mark_dynamic(inputs[0], 0)
            compiled(*inputs)
    return {"graphs": backend.frame_count, "recompiles": lines.recompiles - lines.limits,
            "guard_failures": lines.recompiles, "cache_limit_hits": lines.limits}


def explained(job):
    model = getattr(peer_models, job["factory"])().eval()
    with torch.inference_mode():
        found = torch._dynamo.explain(model)(*[torch.ones(shape) for shape in job["shapes"][0]])
    return {"graph_breaks": found.graph_break_count}


def main():
    torch._logging.set_logs(recompiles=True)
    lines = Lines()
    logging.getLogger("torch._dynamo").addHandler(lines)
    jobs = json.loads(sys.argv[1])
    answers = {name: explained(job) if job.get("explain") else counted(job, lines)
               for name, job in jobs.items()}
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
