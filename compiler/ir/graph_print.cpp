#include <bit>
#include <charconv>
#include <cmath>
#include <set>
#include <string>
#include <type_traits>

#include "compiler/ir/graph.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ir/numeric.h"
#include "compiler/support/check.h"
#include "compiler/support/text.h"

namespace breakeven {
namespace {

template <typename Float, typename Bits>
std::string print_float(Float value, Bits quiet_nan) {
  if (std::isnan(value)) {
    const Bits bits = std::bit_cast<Bits>(value);
    if (bits == quiet_nan) return "nan";
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof(digits), bits, 16).ptr;
    return "nan(0x" + std::string(digits, end) + ")";
  }
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  return {digits, end};
}

std::string print_element(const HostTensor& literal, std::int64_t index) {
  const auto i = static_cast<std::size_t>(index);
  switch (literal.dtype) {
    case DType::kBool:
      return literal.as<std::uint8_t>()[i] != 0 ? "true" : "false";
    case DType::kI64:
      return std::to_string(literal.as<std::int64_t>()[i]);
    case DType::kF64:
      return print_double_bits(literal.as<double>()[i]);
    case DType::kF32:
      return print_float(literal.as<float>()[i], 0x7FC00000U);
    case DType::kF16:
      return print_float(half_to_float(literal.as<std::uint16_t>()[i]), 0x7FC00000U);
    case DType::kBF16:
      return print_float(bfloat16_to_float(literal.as<std::uint16_t>()[i]), 0x7FC00000U);
    default:
      return std::to_string(static_cast<std::int64_t>(element_as_double(literal, index)));
  }
}

std::string quote(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7F) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

class GraphPrinter {
 public:
  explicit GraphPrinter(const Graph& graph) : graph_(graph) { assign_labels(); }

  std::string run() {
    out_ = "graph " + quote(graph_.name) + " {\n";
    for (const Symbol& symbol : graph_.syms.symbols()) print_symbol(symbol);
    for (const Node& node : graph_.nodes()) print_node(node);
    out_ += "  return";
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i) {
      out_ += (i == 0 ? " " : ", ") + label(graph_.outputs()[i]);
    }
    return out_ + "\n}\n";
  }

 private:
  const std::string& label(ValueId id) const { return labels_[static_cast<std::size_t>(id.index)]; }

  bool is_free(const std::string& base, std::size_t outputs) const {
    if (outputs == 1) return !taken_.contains(base);
    for (std::size_t i = 0; i < outputs; ++i) {
      if (taken_.contains(base + "." + std::to_string(i))) return false;
    }
    return true;
  }

  void assign_labels() {
    labels_.resize(graph_.values().size());
    for (const Node& node : graph_.nodes()) {
      std::string base = node.name;
      if (node.kind == NodeKind::kInput || node.kind == NodeKind::kWeight) {
        base = label_from_name(base);
      }
      const std::size_t count = node.outputs.size();
      if (!base.empty() && is_label(base)) {
        const std::string stem = base;
        for (int i = 1; !is_free(base, count); ++i) base = stem + "_" + std::to_string(i);
      } else {
        base = std::to_string(node.outputs.front().index);
      }
      for (std::size_t i = 0; i < count; ++i) {
        const std::string text = count == 1 ? base : base + "." + std::to_string(i);
        taken_.insert(text);
        labels_[static_cast<std::size_t>(node.outputs[i].index)] = "%" + text;
      }
    }
  }

  void print_symbol(const Symbol& symbol) {
    const auto bound = [](std::int64_t value) {
      return value == INT64_MAX ? "inf" : value == INT64_MIN ? "-inf" : std::to_string(value);
    };
    out_ += "  sym " + symbol.name + " in [" + bound(symbol.range.lo) + ", " +
            bound(symbol.range.hi) + "] hint " + std::to_string(symbol.hint) + "\n";
  }

  void print_node(const Node& node) {
    out_ += "  ";
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      out_ += (i == 0 ? "" : ", ") + label(node.outputs[i]);
    }
    out_ += " = ";
    switch (node.kind) {
      case NodeKind::kInput:
        out_ += "input " + quote(node.name) + " :";
        break;
      case NodeKind::kWeight:
        out_ += "weight " + quote(node.name) + " :";
        break;
      case NodeKind::kConstant:
        out_ += "constant";
        break;
      case NodeKind::kOp:
        print_call(node);
        break;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      out_ += (i == 0 ? " " : ", ") + to_string(graph_, graph_.type(node.outputs[i]));
    }
    if (node.kind == NodeKind::kWeight) print_init(node.init);
    if (node.kind == NodeKind::kConstant) print_literal(node.literal);
    out_ += "\n";
  }

  void print_call(const Node& node) {
    out_ += node.op + "(";
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      out_ += (i == 0 ? "" : ", ") + node.args[i].name + "=";
      std::visit([this](const auto& value) { print_arg(value); }, node.args[i].value);
    }
    out_ += ") :";
  }

  template <typename T>
  void print_arg(const T& value) {
    if constexpr (std::is_same_v<T, std::vector<ValueId>> || std::is_same_v<T, std::vector<Sym>> ||
                  std::is_same_v<T, std::vector<double>> || std::is_same_v<T, std::vector<bool>>) {
      out_ += "[";
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (i > 0) out_ += ", ";
        const typename T::value_type item = value[i];
        print_item(item);
      }
      out_ += "]";
      // An empty list of sizes is plain []; the other kinds say what they are a list of.
      if (!value.empty()) return;
      if constexpr (std::is_same_v<T, std::vector<ValueId>>) out_ += "tensor";
      if constexpr (std::is_same_v<T, std::vector<double>>) out_ += "f64";
      if constexpr (std::is_same_v<T, std::vector<bool>>) out_ += "bool";
    } else {
      print_item(value);
    }
  }

  void print_item(std::monostate) { out_ += "none"; }
  void print_item(ValueId id) { out_ += id.valid() ? label(id) : "none"; }
  void print_item(bool value) { out_ += value ? "true" : "false"; }
  void print_item(Sym value) { out_ += graph_.syms.to_string(value); }
  void print_item(DType value) { out_ += name_of(value); }
  void print_item(const std::string& value) { out_ += quote(value); }
  void print_item(double value) {
    std::string text = print_double_bits(value);
    // Without a point or exponent it would read back as an integer.
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    out_ += text;
  }

  void print_init(const WeightInit& init) {
    switch (init.kind) {
      case WeightInit::Kind::kNone:
        return;
      case WeightInit::Kind::kZeros:
        out_ += " init zeros";
        return;
      case WeightInit::Kind::kOnes:
        out_ += " init ones";
        return;
      case WeightInit::Kind::kNormal:
        out_ += " init normal(";
        break;
      case WeightInit::Kind::kUniform:
        out_ += " init uniform(";
        break;
    }
    out_ += print_double_bits(init.a) + ", " + print_double_bits(init.b) +
            ", seed=" + std::to_string(init.seed) + ")";
  }

  void print_literal(const HostTensor& literal) {
    out_ += " {";
    for (std::int64_t i = 0; i < literal.element_count(); ++i) {
      if (i > 0) out_ += ", ";
      out_ += print_element(literal, i);
    }
    out_ += "}";
  }

  const Graph& graph_;
  std::string out_;
  std::vector<std::string> labels_;
  std::set<std::string> taken_;
};

}  // namespace

std::string print_double_bits(double value) { return print_float(value, 0x7FF8000000000000ULL); }

bool is_label(std::string_view text) {
  if (text.empty()) return false;
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (!is_letter(text[0])) return false;
  for (const char c : text) {
    if (!is_letter(c) && (c < '0' || c > '9') && c != '.') return false;
  }
  return true;
}

std::string label_from_name(std::string_view name) {
  std::string label(name.substr(0, 180));
  for (char& c : label) {
    if (c != '.' && !is_label(std::string("x") + c)) c = '_';
  }
  if (!is_label(label)) label.insert(0, "_");
  return label;
}

std::string print_graph(const Graph& graph) { return GraphPrinter(graph).run(); }

}  // namespace breakeven
