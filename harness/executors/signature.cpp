#include "harness/executors/signature.h"

#include <algorithm>
#include <optional>

#include "compiler/support/text.h"

namespace breakeven {
namespace {

/// Smallest and largest size that a request may have where the scenario says `text`.
struct SizeRange {
  std::int64_t min = 0, max = 0;
};

SizeRange range_of(const Scenario& scenario, const std::string& text) {
  for (const DimSpec& dim : scenario.dims) {
    if (dim.name == text) return {dim.min, dim.max};
  }
  const std::int64_t size = fixed_size(text).value_or(0);
  return {size, size};
}

std::string type_text(const Graph& model, const TensorType& type) {
  std::vector<std::string> sizes;
  for (const Sym size : type.sizes) sizes.push_back(model.syms.to_string(size));
  return std::string(name_of(type.dtype)) + '[' + join(sizes, ", ") + ']';
}

/// A dim without an upper bound ends here, or at four times the size seen at export.
constexpr std::int64_t kUsualMost = 512;

DimSpec dim_of(const Graph& model, Sym size, std::string name) {
  const SymRange range = model.syms.range(size);
  const std::int64_t usual = std::max<std::int64_t>(model.syms.hint(size), 1);
  DimSpec dim{std::move(name), std::max<std::int64_t>(range.lo, 1), range.hi};
  const std::int64_t most = std::max(std::max(kUsualMost, dim.min), 4 * usual);
  dim.max = std::min(dim.max, most);
  return dim;
}

class SignatureCheck {
 public:
  SignatureCheck(const Scenario& scenario, const Graph& model)
      : scenario_(scenario), model_(model) {
    for (const ValueId input : model.inputs()) {
      names_.push_back(model.node_of(input).name);
    }
  }

  std::vector<Diagnostic> faults() {
    if (scenario_.inputs.size() != names_.size()) {
      report(scenario_.inputs.empty() ? InputSpec{} : scenario_.inputs.front(),
             "the scenario has " + std::to_string(scenario_.inputs.size()) +
                 " inputs and the model takes " + std::to_string(names_.size()),
             "", "The model's inputs are " + inputs_text());
      return std::move(faults_);
    }
    for (std::size_t i = 0; i < names_.size(); ++i) check_input(i);
    return std::move(faults_);
  }

 private:
  std::string inputs_text() const {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      texts.push_back(names_[i] + ' ' + type_text(model_, model_.type(model_.inputs()[i])));
    }
    return join(texts, ", ");
  }

  void report(const InputSpec& input, std::string message, std::string value, std::string fix) {
    faults_.push_back({.file = scenario_.path.string(),
                       .line = input.line,
                       .column = input.column,
                       .message = std::move(message),
                       .value = std::move(value),
                       .fix = std::move(fix)});
  }

  void check_input(std::size_t index) {
    const InputSpec& input = scenario_.inputs[index];
    const TensorType& type = model_.type(model_.inputs()[index]);
    const std::string whose = "input \"" + input.name + "\": the model's input ";
    const std::string own = "It is " + names_[index] + ' ' + type_text(model_, type);
    // Inputs go by position; a name that is the model's at another place is an exchange.
    if (input.name != names_[index] &&
        std::find(names_.begin(), names_.end(), input.name) != names_.end()) {
      report(input, whose + std::to_string(index + 1) + " is \"" + names_[index] + '"', input.name,
             "Put them in the model's order: " + join(names_, ", "));
      return;
    }
    if (input.dtype != type.dtype) {
      report(input, whose + "has another dtype", std::string(name_of(input.dtype)), own);
    }
    if (input.sizes.size() != type.sizes.size()) {
      report(input, whose + "has " + std::to_string(type.sizes.size()) + " dims",
             '[' + join(input.sizes, ", ") + ']', own);
      return;
    }
    for (std::size_t k = 0; k < type.sizes.size(); ++k) {
      const std::optional<std::int64_t> fixed = model_.syms.as_constant(type.sizes[k]);
      const SizeRange asked = range_of(scenario_, input.sizes[k]);
      if (!fixed || (asked.min == *fixed && asked.max == *fixed)) continue;
      report(input,
             whose + "is fixed at " + std::to_string(*fixed) + " in dim " + std::to_string(k),
             input.sizes[k], "Fix it there, or export the model with this dim dynamic");
    }
  }

  const Scenario& scenario_;
  const Graph& model_;
  std::vector<std::string> names_;
  std::vector<Diagnostic> faults_;
};

}  // namespace

std::vector<Diagnostic> signature_faults(const Scenario& scenario, const Graph& model) {
  return SignatureCheck(scenario, model).faults();
}

ModelSignature signature_of(const Graph& model) {
  ModelSignature signature;
  for (const ValueId id : model.inputs()) {
    const TensorType& type = model.type(id);
    InputSpec input{.name = model.node_of(id).name, .dtype = type.dtype, .sizes = {}};
    for (std::size_t k = 0; k < type.sizes.size(); ++k) {
      const Sym size = type.sizes[k];
      if (const auto fixed = model.syms.as_constant(size)) {
        input.sizes.push_back(std::to_string(*fixed));
        continue;
      }
      const bool symbol = model.syms.kind(size) == SymKind::kSymbol;
      input.sizes.push_back(symbol ? model.syms.to_string(size)
                                   : input.name + '_' + std::to_string(k));
      const std::string& name = input.sizes.back();
      const auto known = std::find_if(signature.dims.begin(), signature.dims.end(),
                                      [&](const DimSpec& dim) { return dim.name == name; });
      if (known != signature.dims.end()) continue;
      const DimSpec dim = dim_of(model, size, name);
      signature.usual_sizes.push_back(std::clamp(model.syms.hint(size), dim.min, dim.max));
      signature.dims.push_back(dim);
    }
    signature.inputs.push_back(std::move(input));
  }
  return signature;
}

void check_signature(const Scenario& scenario, const Graph& model) {
  std::vector<Diagnostic> faults = signature_faults(scenario, model);
  if (!faults.empty()) throw UserError(std::move(faults));
}

}  // namespace breakeven
