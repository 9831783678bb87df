#include "harness/scenario/cross_check.h"

#include <algorithm>
#include <set>

#include "compiler/support/text.h"
#include "harness/scenario/arms.h"
#include "harness/scenario/csv.h"
#include "harness/scenario/dim_data.h"

namespace breakeven {
namespace {

/// Most requests a trial may hold: 56 bytes each are kept in memory.
constexpr double kMaxRequests = 2e7;

class CrossCheck {
 public:
  CrossCheck(const Scenario& scenario, const Effective& effective,
             std::vector<Diagnostic>& diagnostics)
      : scenario_(scenario), effective_(effective), diagnostics_(diagnostics) {
    for (const DimSpec& dim : scenario.dims) dim_names_.push_back(dim.name);
  }

  void check_all() {
    if (fine("dims")) check_dims();
    if (fine("dims") && fine("inputs")) check_inputs();
    if (fine("dims") && fine("shapes")) check_shapes();
    if (fine("shapes") && fine("shape_order")) check_order();
    if (fine("traffic")) check_traffic();
    if (fine("model") && fine("arms")) check_arms();
    if (fine("traffic") && fine("measure")) check_measure();
  }

 private:
  bool fine(const std::string& section) const { return !effective_.bad_sections.contains(section); }

  /// The value at a path of member names and item indices.
  const JsonNode& node_at(const std::vector<std::string>& path) const {
    const JsonNode* node = &effective_.root;
    for (const std::string& step : path) {
      const JsonNode* next = nullptr;
      if (node->kind == JsonNode::Kind::kArray) {
        const std::size_t index = std::stoul(step);
        next = index < node->items.size() ? &node->items[index] : nullptr;
      } else {
        next = node->find(step);
      }
      if (next == nullptr) break;
      node = next;
    }
    return *node;
  }

  void report(const std::vector<std::string>& path, std::string message, std::string fix) {
    const JsonNode& node = node_at(path);
    diagnostics_.push_back({.file = scenario_.path.string(),
                            .line = node.place.line,
                            .column = node.place.column,
                            .message = std::move(message),
                            .value = node.quoted(),
                            .fix = std::move(fix)});
  }

  std::string dim_fix(const std::string& name) const {
    const std::string nearest = nearest_word(name, dim_names_);
    if (!nearest.empty()) return "Did you mean \"" + nearest + "\"?";
    return dim_names_.empty() ? "Add it to \"dims\"" : "The dims are " + join(dim_names_, ", ");
  }

  const DimSpec* find_dim(const std::string& name) const {
    for (const DimSpec& dim : scenario_.dims) {
      if (dim.name == name) return &dim;
    }
    return nullptr;
  }

  void check_dims() {
    for (const DimSpec& dim : scenario_.dims) {
      if (dim.min > dim.max) {
        report({"dims", dim.name, "max"},
               "the largest size of \"" + dim.name + "\" is below its smallest, " +
                   std::to_string(dim.min),
               "Exchange them");
      }
    }
  }

  void check_inputs() {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < scenario_.inputs.size(); ++i) {
      const InputSpec& input = scenario_.inputs[i];
      const std::string index = std::to_string(i);
      if (!seen.insert(input.name).second) {
        report({"inputs", index, "name"}, "two inputs have the same name", "Rename one");
      }
      for (std::size_t k = 0; k < input.sizes.size(); ++k) {
        const std::string& size = input.sizes[k];
        if (fixed_size(size) || find_dim(size) != nullptr) continue;
        report({"inputs", index, "sizes", std::to_string(k)}, "no dim has this name",
               dim_fix(size));
      }
      if (input.fill_min > input.fill_max) {
        report({"inputs", index, "fill_max"}, "\"fill_max\" is below \"fill_min\"",
               "Exchange them");
      }
    }
  }

  void check_shapes() {
    for (const auto& [name, source] : scenario_.shapes) {
      const DimSpec* dim = find_dim(name);
      if (dim == nullptr) {
        report({"shapes", name}, "no dim is called \"" + name + '"', dim_fix(name));
        continue;
      }
      DimData data;
      if (!read_data(name, [&] { data = read_dim_data(source); })) continue;
      const auto outside = std::find_if(data.sizes.begin(), data.sizes.end(), [&](auto size) {
        return size < dim->min || size > dim->max;
      });
      // A dim whose bounds contradict each other has its own fault; every size lies outside it.
      if (outside != data.sizes.end() && dim->min <= dim->max) {
        report({"shapes", name},
               "the size " + std::to_string(*outside) + " lies outside \"" + name + "\", " +
                   std::to_string(dim->min) + " to " + std::to_string(dim->max),
               "Widen the dim, or leave the size out with \"where\"");
      }
    }
  }

  void check_order() {
    if (scenario_.shape_order != "published") return;
    for (const auto& [name, source] : scenario_.shapes) {
      if (source.kind == DimSource::Kind::kTraceColumn) return;
    }
    report({"shape_order"}, "no dim is a trace_column, so there is no published order",
           "Use \"resampled\", or take a dim from a trace column");
  }

  void check_traffic() {
    const TrafficSpec& traffic = scenario_.traffic;
    if (traffic.kind != TrafficSpec::Kind::kTrace) return;
    read_data("", [&] { read_stamps(CsvFile(traffic.file), traffic.time_column); });
  }

  /// Runs `read`; a fault of the data goes to the diagnostics. A file that does not open is
  /// reported where the scenario names it, by `dim` or in the traffic.
  template <typename Read>
  bool read_data(const std::string& dim, Read read) {
    try {
      read();
      return true;
    } catch (const UserError& error) {
      const bool unreadable = error.diagnostics().front().line == 0;
      if (unreadable) {
        const std::string& message = error.diagnostics().front().message;
        const std::string fix = error.diagnostics().front().fix;
        if (dim.empty()) {
          report({"traffic", "file"}, message, fix);
        } else {
          report({"shapes", dim, "file"}, message, fix);
        }
      } else {
        // One data file may stand in several places of the scenario; its faults are told once.
        for (const Diagnostic& fault : error.diagnostics()) {
          const std::string text = to_string(fault);
          const bool told =
              std::any_of(diagnostics_.begin(), diagnostics_.end(),
                          [&](const auto& other) { return to_string(other) == text; });
          if (!told) diagnostics_.push_back(fault);
        }
      }
      return false;
    }
  }

  void check_arms() {
    for (std::size_t i = 0; i < scenario_.arms.size(); ++i) {
      const std::string& arm = scenario_.arms[i];
      const std::string index = std::to_string(i);
      if (arm == "scripted" && !scenario_.model.script) {
        report({"arms", index}, "the arm needs \"model.script\"",
               "Add the script, or drop the arm");
      }
      if (arm == "scripted" || arm == "null") continue;
      const bool python = !scenario_.model.factory.empty() && arm != "reference";
      if (scenario_.model.file.empty() && !python) {
        report({"arms", index}, "the arm needs \"model.file\"", "Name a .pt2 or .ir file");
      } else if (parse_peer_arm(arm) && !python && scenario_.model.file.ends_with(".ir")) {
        report({"arms", index}, "PyTorch reads no graph text", "Name a .pt2 file or a factory");
      } else if (scenario_.inputs.empty() && fine("inputs")) {
        report({"arms", index}, "the arm needs \"inputs\"", "List the model's inputs");
      }
    }
    check_factory();
    const std::string& file = scenario_.model.file;
    if (!file.empty() && !file.ends_with(".pt2") && !file.ends_with(".ir")) {
      report({"model", "file"}, "the model is neither .pt2 nor .ir",
             "Export it with scripts/export_model.py");
    }
  }

  void check_factory() {
    const std::string& factory = scenario_.model.factory;
    if (factory.empty()) return;
    const std::size_t colon = factory.find(':');
    bool fits = colon != std::string::npos && is_identifier(factory.substr(colon + 1));
    for (const std::string& part : split(factory.substr(0, colon), '.')) {
      fits = fits && is_identifier(part);
    }
    if (fits) return;
    report({"model", "factory"}, "the factory is not MODULE:FUNCTION",
           "Write it as in \"my_models:make_classifier\"");
  }

  void check_measure() {
    const MeasureSpec& measure = scenario_.measure;
    const double longest = std::max(measure.traffic_seconds, measure.start_seconds);
    if (measure.trial_timeout_s <= longest) {
      report({"measure", "trial_timeout_s"}, "a process would be stopped before its traffic ends",
             "Give more than traffic_seconds and start_seconds");
    }
    if (scenario_.traffic.rate_per_s * longest > kMaxRequests) {
      report({"measure", "traffic_seconds"}, "a trial would hold more than 20 million requests",
             "Lower the rate or the seconds");
    }
  }

  const Scenario& scenario_;
  const Effective& effective_;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<std::string> dim_names_;
};

}  // namespace

void cross_check(const Scenario& scenario, const Effective& effective,
                 std::vector<Diagnostic>& diagnostics) {
  CrossCheck(scenario, effective, diagnostics).check_all();
}

}  // namespace breakeven
