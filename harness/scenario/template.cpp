#include <map>
#include <nlohmann/json.hpp>

#include "harness/scenario/keys.h"
#include "harness/scenario/scenario.h"

namespace breakeven {
namespace {

using Json = nlohmann::ordered_json;

/// What a reader of a first scenario should see where the table has no default.
Json example_value(const std::string& path, const std::string& name) {
  static const std::map<std::string, Json> kExamples = {
      {"breakeven", 1},
      {"name", ""},
      {"question", "Shall this service turn on the compiler, or stay eager?"},
      {"model.name", "what is served"},
      {"model.file", ""},
      {"model.script", {{"service_ms", 5}, {"first_shape_stall_ms", 200}}},
      {"dims", {{"length", {{"min", 1}, {"max", 512}}}}},
      {"shapes",
       {{"length",
         {{"kind", "list"},
          {"sizes", {{{"size", 16}, {"weight", 3}}, {{"size", 128}, {"weight", 1}}}}}}}},
      {"slo_p99_ms", 50},
      {"arms", {"scripted"}},
      {"life.restarts_per_day", 2.0},
      {"life.origin", "assumed"},
      {"price.usd_per_hour", 0.1},
      {"price.device", "2 vCPU"},
      {"price.origin", "assumed"},
  };
  const auto found = kExamples.find(path.empty() ? name : path + '.' + name);
  return found == kExamples.end() ? Json() : found->second;
}

void add_key(Json& out, const Key& key, const std::string& path) {
  if (!key.doc.empty()) {
    std::string comment = key.doc;
    if (!key.one_of.empty()) {
      comment += " One of:";
      for (const std::string& word : key.one_of) comment += ' ' + word;
      comment += '.';
    }
    out["// " + key.name] = comment;
  }
  Json value = example_value(path, key.name);
  if (value.is_null() && key.type == KeyType::kObject && !key.object->keys.empty()) {
    value = Json::object();
    const std::string below = path.empty() ? key.name : path + '.' + key.name;
    for (const Key& inner : key.object->keys) add_key(value, inner, below);
  }
  if (value.is_null() && !key.initial.empty()) value = Json::parse(key.initial);
  if (!value.is_null()) out[key.name] = std::move(value);
}

void add_model(Json& out, const ModelSignature& model) {
  out["model"]["file"] = model.file;
  out["model"].erase("script");
  out["model"].erase("// script");
  out["dims"] = Json::object();
  out["shapes"] = Json::object();
  for (std::size_t i = 0; i < model.dims.size(); ++i) {
    const DimSpec& dim = model.dims[i];
    out["dims"][dim.name] = {{"min", dim.min}, {"max", dim.max}};
    out["shapes"][dim.name] = {{"kind", "list"},
                               {"sizes", {{{"size", model.usual_sizes[i]}, {"weight", 1}}}}};
  }
  out["inputs"] = Json::array();
  for (const InputSpec& input : model.inputs) {
    Json sizes = Json::array();
    for (const std::string& size : input.sizes) {
      const auto fixed = fixed_size(size);
      sizes.push_back(fixed ? Json(*fixed) : Json(size));
    }
    out["inputs"].push_back(
        {{"name", input.name}, {"dtype", name_of(input.dtype)}, {"sizes", sizes}});
  }
  out["arms"] = {"eager", "fused:static", "fused:dynamic"};
}

}  // namespace

std::string new_scenario_text(std::string_view name, const ModelSignature* model) {
  Json out = Json::object();
  for (const Key& key : scenario_keys().keys) {
    if (key.name == "$schema") continue;
    if (key.name == "traffic") {
      out["// traffic"] =
          "kind: trace, poisson, gamma or closed_loop; see the schema for their keys.";
      out["traffic"] = {{"kind", "poisson"}, {"rate_per_s", 20}, {"origin", "assumed"}};
      continue;
    }
    add_key(out, key, "");
  }
  out["name"] = std::string(name);
  out["// shapes"] = "kind: fixed, histogram, trace_column, list or log_normal. " +
                     out["// shapes"].get<std::string>();
  if (model == nullptr) {
    out["// next"] =
        "This one runs a scripted service. For your own: export the model with torch.export and "
        "start again with `breakeven new NAME --model FILE.pt2`.";
  } else {
    add_model(out, *model);
    out["// next"] =
        "Give the sizes that your requests have (dims, shapes) and how they arrive (traffic). "
        "Inputs are filled from fill_min to fill_max, such as 0 and the vocabulary's last token.";
  }
  // Invalid UTF-8 in the name becomes a replacement character rather than an exception.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace breakeven
