"""What Dynamo and Inductor did during a request, taken from their own records.

One compile event for each frame that Dynamo compiled. Graphs are counted where Inductor is asked to
compile them, and again whenever one of them runs: a request during which none ran was served eagerly.
"""

import re
import time

import torch
import torch._dynamo.utils as dynamo_utils
from torch._guards import CompileContext

RESUMED = re.compile(r"torch_dynamo_resume_in_(.+)_at_(\d+)$")
LIMIT = "recompile limit exceeded"
CODEGEN = "GraphLowering.codegen"


def first_lines(text, most=2, width=300):
    """The leading lines of one of torch's long messages, as one line."""
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    return " ".join(lines[:most])[:width]


def place_of(summary):
    return f"{summary.filename}:{summary.lineno}"


class Observer:
    """Follows one compiled model; `current` is the one whose request runs."""

    current = None

    def __init__(self):
        self.runs = [0, 0]  # Graphs run, kernels launched by them.
        self.graphs = 0
        self.kernels = {}  # By compile id: of the graph that Inductor made for it.
        self.breaks = {}  # (place, reason) -> times seen by Dynamo.
        self.codegen_s = 0.0
        self.totals = dict.fromkeys(
            ("recompiles", "cache_entries", "cache_limit_hits", "guard_failures", "compile_failures",
             "kernels_compiled", "kernels_from_disk", "fx_cache_hits", "fx_cache_misses"), 0)
        self.limit_reason = ""
        # A model that meets many shapes compiles more often than torch keeps records by default.
        dynamo_utils.set_compilation_metrics_limit(4096)
        dynamo_utils.clear_compilation_metrics()

    def add_graph(self, graph_module, compiled, kernels):
        """Counts a graph, and wraps its compiled form so that its runs are counted."""
        self.graphs += 1
        context = CompileContext.current_compile_id()
        self.kernels[str(context)] = kernels
        reason = getattr(graph_module, "compile_subgraph_reason", None)
        if reason is not None and reason.graph_break:
            stack = reason.user_stack or []
            self.add_break(place_of(stack[-1]) if stack else "unknown place", reason.reason)
        runs = self.runs

        def run_graph(*arguments):
            runs[0] += 1
            runs[1] += kernels
            return compiled(*arguments)

        return run_graph

    def add_break(self, place, reason):
        key = (place, first_lines(reason))
        self.breaks[key] = self.breaks.get(key, 0) + 1

    def has_news(self):
        return bool(dynamo_utils._compilation_metrics)

    def take_events(self):
        """The compile events since the last call, oldest first."""
        records = [record for record in dynamo_utils.get_compilation_metrics() if not record.is_runtime]
        dynamo_utils.clear_compilation_metrics()
        codegen_s = sum(dynamo_utils.compilation_time_metrics.get(CODEGEN, []))
        share = max(0.0, codegen_s - self.codegen_s)
        self.codegen_s = codegen_s
        events = []
        for record in records:
            inside = record.code_gen_time_s or 0.0
            spent = min(share, inside)
            share -= spent
            event = self.event_of(record, spent)
            if event is not None:
                events.append(event)
        return events

    def event_of(self, record, codegen_s):
        """One record as the harness keeps it."""
        totals = self.totals
        _, _, repeat = str(record.compile_id).partition("/")
        is_repeat = repeat.split("_")[0] not in ("", "0")
        reason = first_lines(record.recompile_reason or "")
        hits = record.inductor_fx_local_cache_hit_count or 0
        misses = record.inductor_fx_local_cache_miss_count or 0
        totals["fx_cache_hits"] += hits
        totals["fx_cache_misses"] += misses
        totals["guard_failures"] += is_repeat
        kernels = self.kernels.pop(str(record.compile_id), 0)
        self.note_resumed(record)
        if record.fail_type:
            return self.failed_event(record, is_repeat, reason)
        totals["recompiles"] += is_repeat
        totals["cache_entries"] += bool(record.has_guarded_code)
        from_disk = kernels if hits > 0 and misses == 0 else 0
        totals["kernels_from_disk"] += from_disk
        totals["kernels_compiled"] += kernels - from_disk
        return {"repeat": is_repeat, **timed(record), "guard": reason,
                "origin": f"torch.compile {record.compile_id} of {record.co_name}",
                "kernels": kernels, "compiled": kernels - from_disk, "from_disk": from_disk,
                "misses": why_compiled(hits, misses) if kernels > from_disk else [],
                "stages": stages_of(record, codegen_s, hits > 0 and misses == 0)}

    def failed_event(self, record, is_repeat, reason):
        """A frame that Dynamo or Inductor gave up: the request ran eagerly or failed."""
        failure = first_lines(record.fail_reason or record.fail_type, most=1)
        if LIMIT in failure:
            self.totals["cache_limit_hits"] += 1
            self.limit_reason = f"recompile limit of {torch._dynamo.config.recompile_limit} reached"
            failure = self.limit_reason
        else:
            self.totals["compile_failures"] += 1
        return {"repeat": is_repeat, **timed(record), "guard": reason,
                "origin": f"torch.compile {record.compile_id} gave up: {failure}", "kernels": 0,
                "compiled": 0, "from_disk": 0, "misses": [], "stages": []}

    def note_resumed(self, record):
        """A break before the first op leaves no graph behind, only the frame that goes on after it."""
        resumed = RESUMED.match(record.co_name or "")
        if not resumed:
            return
        place = f"{record.co_filename}:{resumed.group(2)}"
        if any(known == place for known, _ in self.breaks):
            return
        self.add_break(place, "the frame goes on here after a graph break")

    def why_eager(self):
        """Why a request ran no graph."""
        if self.limit_reason:
            return self.limit_reason
        if self.graphs == 0:
            return "torch.compile captured no graph of this model"
        return "none of the captured graphs ran"


def why_compiled(hits, misses):
    """Frozen weights, for one, keep a graph out of Inductor's cache."""
    return ["fx graph cache miss" if misses else "fx graph cache passed by"] if hits == 0 or misses else []


def timed(record):
    duration = int(record.duration_us or 0) * 1000
    age = int(time.time() * 1e9) - int(record.start_time_us or 0) * 1000
    return {"age": age, "ns": duration}


def stages_of(record, codegen_s, loaded):
    """Dynamo's, AOTAutograd's and Inductor's shares of a compile, in nanoseconds."""
    total = (record.duration_us or 0) * 1000
    backend = (record.aot_autograd_cumulative_compile_time_us or 0) * 1000
    stages = [["trace", max(0, total - backend)]]
    if loaded:
        return [*stages, ["cache_load", backend]]
    inside = (record.inductor_code_gen_cumulative_compile_time_us or 0) * 1000
    codegen = min(inside, int(codegen_s * 1e9))
    return [*stages, ["passes", max(0, backend - inside)], ["codegen", codegen],
            ["compile", inside - codegen]]


def install():
    """Lets every Inductor graph of this process be counted by the observer in charge."""
    import torch._inductor.metrics as metrics

    wrapper = torch._TorchCompileInductorWrapper
    compile_graph = wrapper.__call__
    if getattr(compile_graph, "is_observed", False):
        return

    def observed(self, graph_module, inputs):
        before = metrics.generated_kernel_count
        compiled = compile_graph(self, graph_module, inputs)
        if Observer.current is None:
            return compiled
        return Observer.current.add_graph(graph_module, compiled, metrics.generated_kernel_count - before)

    observed.is_observed = True
    wrapper.__call__ = observed
