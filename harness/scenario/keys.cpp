#include "harness/scenario/keys.h"

#include <cctype>
#include <utility>

#include "compiler/ir/dtype.h"
#include "harness/scenario/arms.h"

namespace breakeven {
namespace {

using Text = std::string;

constexpr double kDay = 86400;
constexpr double kMaxSize = 1048576;
const char* const kRequired = "";  ///< In place of a default.

Key row(KeyType type, Text name, Text initial, Text doc) {
  Key key{.name = std::move(name), .type = type, .doc = std::move(doc)};
  key.required = initial.empty();
  key.initial = std::move(initial);
  return key;
}
Key text(Text name, Text initial, Text doc) {
  return row(KeyType::kString, std::move(name), std::move(initial), std::move(doc));
}
Key word(Text name, Text initial, std::vector<Text> one_of, Text doc) {
  Key key = text(std::move(name), std::move(initial), std::move(doc));
  key.one_of = std::move(one_of);
  return key;
}
Key flag(Text name, Text initial, Text doc) {
  return row(KeyType::kBoolean, std::move(name), std::move(initial), std::move(doc));
}
Key number(Text name, Text initial, double min, double max, Text doc) {
  Key key = row(KeyType::kNumber, std::move(name), std::move(initial), std::move(doc));
  key.min = min;
  key.max = max;
  return key;
}
Key above_zero(Text name, double max, Text doc) {
  Key key = number(std::move(name), kRequired, 0, max, std::move(doc));
  key.above_min = true;
  return key;
}
Key integer(Text name, Text initial, double min, double max, Text doc) {
  Key key = number(std::move(name), std::move(initial), min, max, std::move(doc));
  key.type = KeyType::kInteger;
  return key;
}
Key nested(KeyType type, Text name, Text initial, const ObjectKeys& object, std::size_t max_items,
           Text doc) {
  Key key = row(type, std::move(name), std::move(initial), std::move(doc));
  key.object = &object;
  key.max_items = max_items;
  return key;
}
Key object(Text name, Text initial, const ObjectKeys& keys) {
  return nested(KeyType::kObject, std::move(name), std::move(initial), keys, 1, "");
}
/// Neither required nor with a default.
Key optional(Key key) {
  key.required = false;
  return key;
}

std::vector<Text> dtype_names() {
  std::vector<Text> names;
  for (int i = 0; i <= static_cast<int>(DType::kF64); ++i) {
    names.emplace_back(name_of(static_cast<DType>(i)));
  }
  return names;
}

const ObjectKeys& stall_keys() {
  static const ObjectKeys keys{
      .doc = "A freeze of the fake service.",
      .keys = {number("at_s", kRequired, 0, kDay, "Start, seconds after the first request."),
               number("for_s", kRequired, 0, kDay, "How long nothing is served.")}};
  return keys;
}

const ObjectKeys& script_keys() {
  static const ObjectKeys keys{
      .doc = "Fake service of the arm `scripted`.",
      .keys = {
          number("service_ms", "1", 0, 60000, "Service time of a request."),
          number("first_shape_stall_ms", "0", 0, 600000,
                 "Extra time of the first request of each shape, as a compile would take."),
          nested(KeyType::kObjectList, "stalls", "[]", stall_keys(), 1000,
                 "Times at which the service freezes."),
          flag("unlimited_parallelism", "false", "Requests do not queue behind one another.")}};
  return keys;
}

const ObjectKeys& model_keys() {
  static const ObjectKeys keys{
      .doc = "The model under question.",
      .keys = {text("name", kRequired, "Name for people."),
               text("file", "\"\"",
                    "A torch.export archive (.pt2) or graph text (.ir), relative to this file; "
                    "needed by every arm but null and scripted."),
               text("factory", "\"\"",
                    "Python function MODULE:FUNCTION that makes the model, its module beside this "
                    "file or installed; for PyTorch's own arms, and for all when `file` is empty."),
               row(KeyType::kStringList, "export", "[]",
                   "Arguments of scripts/export_model.py that make `file`."),
               optional(nested(KeyType::kObject, "script", kRequired, script_keys(), 1,
                               "Needed by the arm scripted."))}};
  return keys;
}

const ObjectKeys& dim_keys() {
  static const ObjectKeys keys{.doc = "A named size that varies from request to request.",
                               .keys = {integer("min", "1", 1, kMaxSize, "Smallest size."),
                                        integer("max", kRequired, 1, kMaxSize, "Largest size.")}};
  return keys;
}

const ObjectKeys& input_keys() {
  static const ObjectKeys keys = [] {
    Key sizes =
        row(KeyType::kSizeList, "sizes", kRequired, "Dim names or fixed numbers, outermost first.");
    sizes.max_items = 8;
    return ObjectKeys{
        .doc = "One model input, in the model's order.",
        .keys = {text("name", kRequired, "Input name."),
                 word("dtype", kRequired, dtype_names(), "Element type."), sizes,
                 number("fill_min", "0", -1e15, 1e15, "Smallest value of the uniform fill."),
                 number("fill_max", "1", -1e15, 1e15,
                        "Largest value of the uniform fill; integers reach it.")}};
  }();
  return keys;
}

const ObjectKeys& weighted_size_keys() {
  static const ObjectKeys keys{
      .doc = "A size and how often it comes.",
      .keys = {integer("size", kRequired, 1, kMaxSize, "Size."),
               above_zero("weight", 1e15, "Share, in any unit; weights need not add up to 1.")}};
  return keys;
}

Key csv_file() { return text("file", kRequired, "CSV file, relative to this file."); }

Key where() {
  return row(KeyType::kTextMap, "where", "{}", "Keep the rows whose column equals the text.");
}

Key value_column() { return text("value_column", kRequired, "Column of sizes."); }

const ObjectKeys& dim_source_keys() {
  static const ObjectKeys keys = [] {
    Key sizes = nested(KeyType::kObjectList, "sizes", kRequired, weighted_size_keys(), 4096,
                       "Sizes with weights.");
    sizes.min_items = 1;
    return ObjectKeys{
        .doc = "Where the size of a dim comes from.",
        .keys = {},
        .discriminator = "kind",
        .variants = {{"fixed",
                      "The same size each time.",
                      {integer("size", kRequired, 1, kMaxSize, "Size.")}},
                     {"histogram",
                      "Sizes and their counts from a CSV file.",
                      {csv_file(), value_column(),
                       text("count_column", kRequired, "Column of counts."), where()}},
                     {"trace_column",
                      "One size a row of a CSV file, in its order when shape_order is published.",
                      {csv_file(), value_column(), where()}},
                     {"list", "Sizes and weights given here.", {sizes}},
                     {"log_normal",
                      "Log-normal sizes, rounded and cut to the dim's range.",
                      {number("mu", kRequired, -20, 20, "Mean of ln(size)."),
                       number("sigma", kRequired, 0, 10, "Standard deviation of ln(size).")}}}};
  }();
  return keys;
}

const ObjectKeys& traffic_keys() {
  static const ObjectKeys keys{
      .doc = "When requests arrive.",
      .keys = {word("origin", "\"given\"", {"measured", "given", "assumed"},
                    "Where the rate comes from.")},
      .discriminator = "kind",
      .variants = {
          {"trace",
           "Arrival stamps of a CSV file.",
           {csv_file(),
            text("time_column", kRequired, "Column of stamps: seconds, or 2023-11-16 18:15:46.68."),
            number("rate_per_s", "0", 0, 1e6,
                   "Mean rate to scale the stamps to, burstiness kept; 0: as they are.")}},
          {"poisson",
           "Independent arrivals at a mean rate.",
           {above_zero("rate_per_s", 1e6, "Mean rate.")}},
          {"gamma",
           "Gamma distributed gaps: bursty for cv > 1, even for cv < 1.",
           {above_zero("rate_per_s", 1e6, "Mean rate."),
            number("cv", kRequired, 0.01, 50, "Standard deviation of the gaps over their mean.")}},
          {"closed_loop",
           "Each client sends its next request when the last is answered.",
           {integer("clients", kRequired, 1, 10000, "Clients.")}}}};
  return keys;
}

const ObjectKeys& batching_keys() {
  static const ObjectKeys keys{
      .doc = "Joining of requests before they are served; this version serves one at a time.",
      .keys = {integer("max_batch", "1", 1, 1, "Most requests a batch; 1: none."),
               number("max_delay_ms", "0", 0, 0, "Longest wait for a batch to fill.")}};
  return keys;
}

const ObjectKeys& life_keys() {
  static const ObjectKeys keys{
      .doc = "How often a process starts anew and must compile or load a cache.",
      .keys = {above_zero("restarts_per_day", 1e6, "New processes a day, per serving process."),
               word("origin", kRequired, {"measured", "given", "assumed"},
                    "Where the number comes from."),
               text("source", "\"\"", "Who measured it, and when."),
               flag("cache_survives_restart", "false",
                    "A new process finds the kernel cache of the one before.")}};
  return keys;
}

const ObjectKeys& price_keys() {
  static const ObjectKeys keys{
      .doc = "What an hour of the device costs.",
      .keys = {number("usd_per_hour", kRequired, 0, 1e6,
                      "US dollars an hour of all that serves one process."),
               text("device", kRequired, "What is paid for."),
               text("date", "\"\"", "When the price held."),
               text("source", "\"\"", "Who asks that price."),
               word("origin", kRequired, {"given", "assumed"}, "Where the number comes from.")}};
  return keys;
}

const ObjectKeys& engineering_keys() {
  static const ObjectKeys keys{
      .doc = "What turning the compiler on costs in work.",
      .keys = {number("days", "0", 0, 10000, "Engineer-days."),
               number("usd_per_day", "0", 0, 100000, "US dollars a day; 0: not counted.")}};
  return keys;
}

const ObjectKeys& measure_keys() {
  static const ObjectKeys keys{
      .doc = "How long is measured.",
      .keys = {
          integer("processes", "5", 1, 1000, "Processes per arm and phase."),
          number("start_seconds", "8", 0.05, kDay,
                 "Traffic that meets a process right after its cold or warm start."),
          integer("start_cap_requests", "1000", 1, 1e6,
                  "Most requests of it; a process not steady by then counts as never steady."),
          integer("steady_requests", "100", 1, 1e7,
                  "Requests of the closed loop that service times come from."),
          number("steady_cap_seconds", "60", 0.05, kDay,
                 "A closed loop that takes longer is void."),
          number("traffic_seconds", "10", 0.05, kDay,
                 "Traffic a process after warm-up; all processes together should give the 662 "
                 "requests that a p99 needs."),
          number("warmup_coverage", "0.8", 0, 1,
                 "Warm-up serves the most likely shapes up to this share of requests."),
          integer("warmup_shapes", "64", 1, 1e5, "Most shapes that warm-up serves."),
          number("accuracy_seconds", "60", 0, kDay,
                 "Time for comparing results with eager, most likely shapes first."),
          integer("threads", "0", 0, 4096, "Threads inside an op; 0: all cores."),
          number("trial_timeout_s", "300", 0.1, kDay,
                 "A process that takes longer is stopped and reported."),
          integer("seed", "1", 0, 9007199254740991.0, "Seed of shapes, arrivals and inputs.")}};
  return keys;
}

std::vector<Key> identity_keys() {
  return {integer("breakeven", kRequired, 1, 1, "Version of this format."),
          optional(text("$schema", kRequired, "For editors.")),
          text("name", kRequired, "Name of the scenario."),
          text("question", "\"\"", "What the report answers, for people.")};
}

std::vector<Key> workload_keys() {
  return {object("model", kRequired, model_keys()),
          nested(KeyType::kMap, "dims", "{}", dim_keys(), 16, "Named sizes of the inputs."),
          nested(KeyType::kObjectList, "inputs", "[]", input_keys(), 256, "Model inputs."),
          nested(KeyType::kMap, "shapes", "{}", dim_source_keys(), 16,
                 "Where each dim's size comes from; a dim without a source stays at its min."),
          word("shape_order", "\"resampled\"", {"resampled", "published"},
               "published: trace columns in file order; resampled: drawn at random."),
          object("traffic", kRequired, traffic_keys()),
          object("batching", "{}", batching_keys())};
}

std::vector<Key> judgement_keys() {
  Key arms =
      row(KeyType::kStringList, "arms", kRequired, "What is compared; the first is the baseline.");
  arms.one_of = built_arms();
  arms.min_items = 1;
  arms.max_items = 64;
  arms.unique_items = true;
  return {number("slo_p99_ms", "0", 0, 1e7,
                 "Latency that 99 % of requests must meet, from intended arrival; 0: none."),
          text("slo_source", "\"\"", "Who set that limit."),
          arms,
          object("life", kRequired, life_keys()),
          object("price", kRequired, price_keys()),
          object("engineering", "{}", engineering_keys()),
          text("policy", "\"balanced\"",
               "Name of a policy that comes with breakeven, or a .json file relative to this one."),
          object("measure", "{}", measure_keys())};
}

}  // namespace

bool is_identifier(std::string_view text) {
  if (text.empty() || text.size() > 64 || std::isdigit(static_cast<unsigned char>(text[0]))) {
    return false;
  }
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9') && c != '_') return false;
  }
  return true;
}

const ObjectKeys& scenario_keys() {
  static const ObjectKeys keys = [] {
    ObjectKeys whole{.doc = "A scenario of breakeven: model, shapes, traffic, prices.", .keys = {}};
    for (auto part : {identity_keys(), workload_keys(), judgement_keys()}) {
      whole.keys.insert(whole.keys.end(), part.begin(), part.end());
    }
    return whole;
  }();
  return keys;
}

}  // namespace breakeven
