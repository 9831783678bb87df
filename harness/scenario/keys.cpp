#include "harness/scenario/keys.h"

#include <cctype>

#include "compiler/ir/dtype.h"

namespace breakeven {
namespace {

using T = KeyType;

constexpr double kDay = 86400;

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(DType::kF64); ++i) {
    names.emplace_back(name_of(static_cast<DType>(i)));
  }
  return names;
}

const ObjectKeys& stall_keys() {
  static const ObjectKeys keys{.doc = "A freeze of the fake service.",
                               .keys = {{.name = "at_s",
                                         .type = T::kNumber,
                                         .required = true,
                                         .doc = "Start, seconds after the first request.",
                                         .min = 0,
                                         .max = kDay},
                                        {.name = "for_s",
                                         .type = T::kNumber,
                                         .required = true,
                                         .doc = "How long nothing is served.",
                                         .min = 0,
                                         .max = kDay}}};
  return keys;
}

const ObjectKeys& script_keys() {
  static const ObjectKeys keys{
      .doc = "Fake service of the arm `scripted`.",
      .keys = {{.name = "service_ms",
                .type = T::kNumber,
                .doc = "Service time of a request.",
                .initial = "1",
                .min = 0,
                .max = 60000},
               {.name = "first_shape_stall_ms",
                .type = T::kNumber,
                .doc = "Extra time of the first request of each shape, as a compile would take.",
                .initial = "0",
                .min = 0,
                .max = 600000},
               {.name = "stalls",
                .type = T::kObjectList,
                .doc = "Times at which the service freezes.",
                .initial = "[]",
                .object = &stall_keys()},
               {.name = "unlimited_parallelism",
                .type = T::kBoolean,
                .doc = "Requests do not queue behind one another.",
                .initial = "false"}}};
  return keys;
}

const ObjectKeys& model_keys() {
  static const ObjectKeys keys{
      .doc = "The model under question.",
      .keys = {{.name = "name", .type = T::kString, .required = true, .doc = "Name for people."},
               {.name = "file",
                .type = T::kString,
                .doc = "A torch.export archive (.pt2) or graph text (.ir), relative to this file; "
                       "needed by every arm but null and scripted.",
                .initial = "\"\""},
               {.name = "export",
                .type = T::kStringList,
                .doc = "Arguments of scripts/export_model.py that make `file`.",
                .initial = "[]"},
               {.name = "script",
                .type = T::kObject,
                .doc = "Needed by the arm scripted.",
                .object = &script_keys()}}};
  return keys;
}

const ObjectKeys& dim_keys() {
  static const ObjectKeys keys{.doc = "A named size that varies from request to request.",
                               .keys = {{.name = "min",
                                         .type = T::kInteger,
                                         .doc = "Smallest size.",
                                         .initial = "1",
                                         .min = 1,
                                         .max = 1048576},
                                        {.name = "max",
                                         .type = T::kInteger,
                                         .required = true,
                                         .doc = "Largest size.",
                                         .min = 1,
                                         .max = 1048576}}};
  return keys;
}

const ObjectKeys& input_keys() {
  static const ObjectKeys keys{
      .doc = "One model input, in the model's order.",
      .keys = {{.name = "name", .type = T::kString, .required = true, .doc = "Input name."},
               {.name = "dtype",
                .type = T::kString,
                .required = true,
                .doc = "Element type.",
                .one_of = dtype_names()},
               {.name = "sizes",
                .type = T::kSizeList,
                .required = true,
                .doc = "Dim names or fixed numbers, outermost first.",
                .max_items = 8},
               {.name = "fill_min",
                .type = T::kNumber,
                .doc = "Smallest value of the uniform fill.",
                .initial = "0",
                .min = -1e15,
                .max = 1e15},
               {.name = "fill_max",
                .type = T::kNumber,
                .doc = "Largest value of the uniform fill; integers reach it.",
                .initial = "1",
                .min = -1e15,
                .max = 1e15}}};
  return keys;
}

const ObjectKeys& weighted_size_keys() {
  static const ObjectKeys keys{
      .doc = "A size and how often it comes.",
      .keys = {{.name = "size",
                .type = T::kInteger,
                .required = true,
                .doc = "Size.",
                .min = 1,
                .max = 1048576},
               {.name = "weight",
                .type = T::kNumber,
                .required = true,
                .doc = "Share, in any unit; the weights need not add up to 1.",
                .min = 0,
                .max = 1e15,
                .above_min = true}}};
  return keys;
}

Key csv_file_key() {
  return {.name = "file",
          .type = T::kString,
          .required = true,
          .doc = "CSV file, relative to this file."};
}

Key where_key() {
  return {.name = "where",
          .type = T::kTextMap,
          .doc = "Keep the rows whose column equals the text.",
          .initial = "{}"};
}

const ObjectKeys& dim_source_keys() {
  static const ObjectKeys keys{
      .doc = "Where the size of a dim comes from.",
      .keys = {},
      .discriminator = "kind",
      .variants = {{"fixed",
                    "The same size each time.",
                    {{.name = "size",
                      .type = T::kInteger,
                      .required = true,
                      .doc = "Size.",
                      .min = 1,
                      .max = 1048576}}},
                   {"histogram",
                    "Sizes and their counts from a CSV file.",
                    {csv_file_key(),
                     {.name = "value_column",
                      .type = T::kString,
                      .required = true,
                      .doc = "Column of sizes."},
                     {.name = "count_column",
                      .type = T::kString,
                      .required = true,
                      .doc = "Column of counts."},
                     where_key()}},
                   {"trace_column",
                    "One size a row of a CSV file, in its order when shape_order is published.",
                    {csv_file_key(),
                     {.name = "value_column",
                      .type = T::kString,
                      .required = true,
                      .doc = "Column of sizes."},
                     where_key()}},
                   {"list",
                    "Sizes and weights given here.",
                    {{.name = "sizes",
                      .type = T::kObjectList,
                      .required = true,
                      .doc = "Sizes with weights.",
                      .max_items = 4096,
                      .min_items = 1,
                      .object = &weighted_size_keys()}}},
                   {"log_normal",
                    "Log-normal sizes, rounded and cut to the dim's range.",
                    {{.name = "mu",
                      .type = T::kNumber,
                      .required = true,
                      .doc = "Mean of ln(size).",
                      .min = -20,
                      .max = 20},
                     {.name = "sigma",
                      .type = T::kNumber,
                      .required = true,
                      .doc = "Standard deviation of ln(size).",
                      .min = 0,
                      .max = 10}}}}};
  return keys;
}

Key rate_key(bool required, std::string doc, std::string initial) {
  return {.name = "rate_per_s",
          .type = T::kNumber,
          .required = required,
          .doc = std::move(doc),
          .initial = std::move(initial),
          .min = 0,
          .max = 1e6,
          .above_min = required};
}

const ObjectKeys& traffic_keys() {
  static const ObjectKeys keys{
      .doc = "When requests arrive.",
      .keys = {{.name = "origin",
                .type = T::kString,
                .doc = "Where the rate comes from: measured at the service, given, or assumed.",
                .initial = "\"given\"",
                .one_of = {"measured", "given", "assumed"}}},
      .discriminator = "kind",
      .variants = {
          {"trace",
           "Arrival stamps of a CSV file.",
           {csv_file_key(),
            {.name = "time_column",
             .type = T::kString,
             .required = true,
             .doc = "Column of stamps: seconds, or 2023-11-16 18:15:46.68."},
            rate_key(false, "Mean rate to scale the stamps to, burstiness kept; 0: as they are.",
                     "0")}},
          {"poisson", "Independent arrivals at a mean rate.", {rate_key(true, "Mean rate.", "")}},
          {"gamma",
           "Gamma distributed gaps: bursty for cv > 1, even for cv < 1.",
           {rate_key(true, "Mean rate.", ""),
            {.name = "cv",
             .type = T::kNumber,
             .required = true,
             .doc = "Standard deviation of the gaps over their mean.",
             .min = 0.01,
             .max = 50}}},
          {"closed_loop",
           "Each client sends its next request when the last is answered.",
           {{.name = "clients",
             .type = T::kInteger,
             .required = true,
             .doc = "Clients.",
             .min = 1,
             .max = 10000}}}}};
  return keys;
}

const ObjectKeys& batching_keys() {
  static const ObjectKeys keys{
      .doc = "Joining of requests before they are served; this version serves one at a time.",
      .keys = {{.name = "max_batch",
                .type = T::kInteger,
                .doc = "Most requests a batch; 1: none.",
                .initial = "1",
                .min = 1,
                .max = 1},
               {.name = "max_delay_ms",
                .type = T::kNumber,
                .doc = "Longest wait for a batch to fill.",
                .initial = "0",
                .min = 0,
                .max = 0}}};
  return keys;
}

const ObjectKeys& life_keys() {
  static const ObjectKeys keys{
      .doc = "How often a process starts anew and must compile or load a cache.",
      .keys = {{.name = "restarts_per_day",
                .type = T::kNumber,
                .required = true,
                .doc = "New processes a day, per serving process.",
                .min = 0,
                .max = 1e6,
                .above_min = true},
               {.name = "origin",
                .type = T::kString,
                .required = true,
                .doc = "Where the number comes from.",
                .one_of = {"measured", "given", "assumed"}},
               {.name = "source",
                .type = T::kString,
                .doc = "Who measured it, and when.",
                .initial = "\"\""}}};
  return keys;
}

const ObjectKeys& price_keys() {
  static const ObjectKeys keys{
      .doc = "What an hour of the device costs.",
      .keys = {
          {.name = "usd_per_hour",
           .type = T::kNumber,
           .required = true,
           .doc = "US dollars an hour of all that serves one process.",
           .min = 0,
           .max = 1e6},
          {.name = "device", .type = T::kString, .required = true, .doc = "What is paid for."},
          {.name = "date", .type = T::kString, .doc = "When the price held.", .initial = "\"\""},
          {.name = "source", .type = T::kString, .doc = "Who asks that price.", .initial = "\"\""},
          {.name = "origin",
           .type = T::kString,
           .required = true,
           .doc = "Where the number comes from.",
           .one_of = {"given", "assumed"}}}};
  return keys;
}

const ObjectKeys& engineering_keys() {
  static const ObjectKeys keys{.doc = "What turning the compiler on costs in work.",
                               .keys = {{.name = "days",
                                         .type = T::kNumber,
                                         .doc = "Engineer-days.",
                                         .initial = "0",
                                         .min = 0,
                                         .max = 10000},
                                        {.name = "usd_per_day",
                                         .type = T::kNumber,
                                         .doc = "US dollars a day; 0: not counted.",
                                         .initial = "0",
                                         .min = 0,
                                         .max = 100000}}};
  return keys;
}

const ObjectKeys& measure_keys() {
  static const ObjectKeys keys{
      .doc = "How long is measured. The defaults meet the sample counts that a p99 needs at 12/s.",
      .keys = {{.name = "processes",
                .type = T::kInteger,
                .doc = "Processes per arm and phase.",
                .initial = "5",
                .min = 1,
                .max = 1000},
               {.name = "traffic_seconds",
                .type = T::kNumber,
                .doc = "Traffic a process.",
                .initial = "16",
                .min = 0.05,
                .max = kDay},
               {.name = "steady_seconds",
                .type = T::kNumber,
                .doc = "Closed loop a process.",
                .initial = "5",
                .min = 0.05,
                .max = kDay},
               {.name = "warmup_cap_requests",
                .type = T::kInteger,
                .doc = "Requests after which a process that is not steady counts as never steady.",
                .initial = "400",
                .min = 1,
                .max = 1000000},
               {.name = "warmup_coverage",
                .type = T::kNumber,
                .doc = "Warm-up serves the most likely shapes up to this share of requests.",
                .initial = "0.8",
                .min = 0,
                .max = 1},
               {.name = "shape_classes",
                .type = T::kInteger,
                .doc = "Most shapes that warm-up and the accuracy check visit.",
                .initial = "64",
                .min = 1,
                .max = 100000},
               {.name = "threads",
                .type = T::kInteger,
                .doc = "Threads inside an op; 0: all cores.",
                .initial = "0",
                .min = 0,
                .max = 4096},
               {.name = "trial_timeout_s",
                .type = T::kNumber,
                .doc = "A process that takes longer is stopped and reported.",
                .initial = "300",
                .min = 0.1,
                .max = kDay},
               {.name = "seed",
                .type = T::kInteger,
                .doc = "Seed of shapes, arrivals and input values.",
                .initial = "1",
                .min = 0,
                .max = 9007199254740991.0}}};
  return keys;
}

std::vector<Key> identity_keys() {
  return {{.name = "breakeven",
           .type = T::kInteger,
           .required = true,
           .doc = "Version of this format.",
           .min = 1,
           .max = 1},
          {.name = "$schema", .type = T::kString, .doc = "For editors."},
          {.name = "name", .type = T::kString, .required = true, .doc = "Name of the scenario."},
          {.name = "question",
           .type = T::kString,
           .doc = "What the report answers, for people.",
           .initial = "\"\""}};
}

std::vector<Key> workload_keys() {
  return {
      {.name = "model", .type = T::kObject, .required = true, .doc = "", .object = &model_keys()},
      {.name = "dims",
       .type = T::kMap,
       .doc = "Named sizes of the inputs.",
       .initial = "{}",
       .max_items = 16,
       .object = &dim_keys()},
      {.name = "inputs",
       .type = T::kObjectList,
       .doc = "Model inputs.",
       .initial = "[]",
       .max_items = 256,
       .object = &input_keys()},
      {.name = "shapes",
       .type = T::kMap,
       .doc = "Where each dim's size comes from; a dim without a source stays at its min.",
       .initial = "{}",
       .max_items = 16,
       .object = &dim_source_keys()},
      {.name = "shape_order",
       .type = T::kString,
       .doc = "published: trace columns in file order; resampled: drawn at random.",
       .initial = "\"resampled\"",
       .one_of = {"resampled", "published"}},
      {.name = "traffic",
       .type = T::kObject,
       .required = true,
       .doc = "",
       .object = &traffic_keys()},
      {.name = "batching",
       .type = T::kObject,
       .doc = "",
       .initial = "{}",
       .object = &batching_keys()}};
}

std::vector<Key> judgement_keys() {
  return {
      {.name = "slo_p99_ms",
       .type = T::kNumber,
       .doc = "Latency that 99 % of requests must meet, from intended arrival; 0: none.",
       .initial = "0",
       .min = 0,
       .max = 1e7},
      {.name = "arms",
       .type = T::kStringList,
       .required = true,
       .doc = "What is compared; the first is the baseline.",
       .one_of = built_arms(),
       .max_items = 16,
       .min_items = 1,
       .unique_items = true},
      {.name = "life", .type = T::kObject, .required = true, .doc = "", .object = &life_keys()},
      {.name = "price", .type = T::kObject, .required = true, .doc = "", .object = &price_keys()},
      {.name = "engineering",
       .type = T::kObject,
       .doc = "",
       .initial = "{}",
       .object = &engineering_keys()},
      {.name = "policy",
       .type = T::kString,
       .doc = "Name of a policy that comes with breakeven, or a .json file relative to this one.",
       .initial = "\"balanced\""},
      {.name = "measure",
       .type = T::kObject,
       .doc = "",
       .initial = "{}",
       .object = &measure_keys()}};
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

const std::vector<std::string>& built_arms() {
  static const std::vector<std::string> arms = {"null",  "scripted",     "reference",
                                                "eager", "fused:static", "fused:dynamic"};
  return arms;
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
