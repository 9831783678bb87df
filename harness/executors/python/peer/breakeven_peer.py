"""One arm of PyTorch's own: eager, torch.compile or TorchScript, as a user would call it."""

import json
import os
import sys
import time
import traceback

import torch
from torch.utils import _pytree

import breakeven_models
import breakeven_observe
from breakeven_observe import Observer, first_lines


def describe(error):
    """Kind and message of an exception, with the last place of the user's own code."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames
           if not frame.filename.startswith("breakeven_") and f"{os.sep}torch{os.sep}" not in frame.filename]
    place = f" ({own[-1].filename}:{own[-1].lineno} in {own[-1].name})" if own else ""
    return f"{type(error).__name__}: {first_lines(error, most=4, width=900)}{place}"


def flat(output):
    """The tensors of an output, in order."""
    if type(output) is torch.Tensor:
        return (output,)
    if type(output) is tuple and all(isinstance(one, torch.Tensor) for one in output):
        return output
    return tuple(leaf for leaf in _pytree.tree_leaves(output) if isinstance(leaf, torch.Tensor))


class Peer:
    """`spec` is what the host says: see spec_of in peer_executor.cpp."""

    def __init__(self, spec):
        self.spec = spec
        self.stages = []
        self.observer = None
        self.requests = self.fallback_requests = 0
        self.first_graphs = None
        self.failed = {}  # Shapes that torch.compile failed on -> note.
        self.marked = set()
        self.notes = {}
        torch.set_num_threads(spec["threads"])
        start = time.perf_counter_ns()
        self.module = breakeven_models.load(spec)
        if spec["fp64"]:
            self.module = self.module.double()
        self.stages.append(["load", time.perf_counter_ns() - start])
        self.call = self.module
        if spec["engine"] == "torch-compile":
            self.compile()
        elif spec["engine"] == "torchscript":
            self.script()

    def compile(self):
        mode = None if self.spec["mode"] == "default" else self.spec["mode"]
        if self.spec["freezing"]:
            from torch._inductor import config

            config.freezing = True
        breakeven_observe.install()
        self.observer = Observer.current = Observer()
        self.call = torch.compile(self.module, mode=mode, dynamic=True if self.spec["dynamic"] else None)

    def script(self):
        """Traced once; later processes read the trace and optimise it again."""
        start = time.perf_counter_ns()
        file = os.path.join(self.spec["cache_dir"], "torchscript.pt")
        if os.path.exists(file):
            frozen = torch.jit.load(file)
            self.stages.append(["cache_load", time.perf_counter_ns() - start])
        else:
            with torch.no_grad():
                traced = torch.jit.trace(self.module, breakeven_models.example_inputs(self.spec),
                                         check_trace=False)
            frozen = torch.jit.freeze(traced.eval())
            torch.jit.save(frozen, file)
            self.stages.append(["trace", time.perf_counter_ns() - start])
        start = time.perf_counter_ns()
        self.call = torch.jit.optimize_for_inference(frozen)
        self.stages.append(["passes", time.perf_counter_ns() - start])

    def prepared(self):
        return json.dumps({"stages": self.stages})

    def run(self, *inputs):
        """The outputs, and None or JSON about a compile or an eager request."""
        self.requests += 1
        if self.observer is None:
            if self.spec["fp64"]:
                inputs = [one.double() if one.is_floating_point() else one for one in inputs]
            return flat(self.call(*inputs)), None
        observer = Observer.current = self.observer
        if self.failed and self.key(inputs) in self.failed:
            return self.run_eagerly(inputs, self.failed[self.key(inputs)])
        if self.spec["mark_dynamic"]:
            self.mark(inputs)
        runs = observer.runs[0]
        try:
            outputs = flat(self.call(*inputs))
        except Exception as error:
            return self.run_after_failure(inputs, error)
        if observer.runs[0] != runs and not observer.has_news():
            return outputs, None
        return outputs, self.news(observer.runs[0] == runs, observer.why_eager)

    @staticmethod
    def key(inputs):
        return tuple(one.shape for one in inputs)

    def mark(self, inputs):
        """As a user marks a warm-up input: the first of each shape. Dynamo fixes sizes 0 and 1."""
        key = self.key(inputs)
        if key in self.marked:
            return
        self.marked.add(key)
        names = {dim["name"] for dim in self.spec["dims"]}
        for one, given in zip(inputs, self.spec["inputs"]):
            for axis, size in enumerate(given["sizes"]):
                if size in names and one.shape[axis] > 1:
                    torch._dynamo.mark_dynamic(one, axis)

    def run_after_failure(self, inputs, error):
        """What torch.compile fails on runs eagerly when it can; then the shape stays eager."""
        try:
            outputs = flat(self.module(*inputs))
        except Exception:
            raise error from None
        reason = "torch.compile failed: " + describe(error)
        self.failed[self.key(inputs)] = reason
        return outputs, self.news(True, lambda: reason)

    def run_eagerly(self, inputs, reason):
        outputs = flat(self.module(*inputs))
        return outputs, self.news(True, lambda: reason)

    def news(self, fell_back, why):
        self.fallback_requests += fell_back
        events = self.observer.take_events() if self.observer.has_news() else []
        reason = why() if fell_back else ""  # Known once the events are.
        if self.first_graphs is None:
            self.first_graphs = self.observer.graphs
        if not events:  # The same few texts again and again.
            if reason not in self.notes:
                self.notes[reason] = json.dumps({"fell_back": reason, "events": []})
            return self.notes[reason]
        return json.dumps({"fell_back": reason, "events": events})

    def counters(self):
        counters = {"requests": self.requests, "threads": torch.get_num_threads(),
                    "weights_checksum": breakeven_models.checksum(self.module)}
        observer = self.observer
        if observer is None:
            return counters
        compiled = self.requests - self.fallback_requests
        # As torch._dynamo.explain counts them: the graphs of one request, less one.
        breaks = max(0, (self.first_graphs or 0) - 1)
        return {**counters, **observer.totals, "graphs": observer.graphs, "programs": observer.graphs,
                "graph_breaks": breaks, "fallback_requests": self.fallback_requests,
                "kernel_launches": observer.runs[1],
                "kernels_per_request": observer.runs[1] // compiled if compiled else 0}

    def report(self):
        breaks = self.observer.breaks if self.observer is not None else {}
        fallbacks = [{"what": f"graph break at {place}", "reason": reason, "count": count}
                     for (place, reason), count in breaks.items()]
        return json.dumps({"counters": self.counters(), "fallbacks": fallbacks, "facts": facts()})

    def write(self, kind, path):
        """Makes a file for another arm: "export" or "package"."""
        start = time.perf_counter_ns()
        program = breakeven_models.exported(self.module, self.spec)
        stages = [["capture", time.perf_counter_ns() - start]]
        if kind == "export":
            torch.export.save(program, path)
            return json.dumps({"stages": stages})
        start = time.perf_counter_ns()
        from torch._inductor import aoti_compile_and_package, metrics

        aoti_compile_and_package(program, package_path=path)
        stages.append(["compile", time.perf_counter_ns() - start])
        return json.dumps({"stages": stages, "kernels": metrics.generated_kernel_count})


def facts():
    """Versions of what served, for the results."""
    known = {"python": sys.version.split()[0], "python_torch": torch.__version__}
    if "triton" in sys.modules:
        known["triton"] = getattr(sys.modules["triton"], "__version__", "unknown")
    return known


def make(spec):
    return Peer(json.loads(spec))
