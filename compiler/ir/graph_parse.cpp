#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "compiler/ir/graph.h"
#include "compiler/ir/graph_reader.h"
#include "compiler/ir/numeric.h"
#include "compiler/ir/sym_arith.h"
#include "compiler/support/text.h"

namespace breakeven {
namespace {

constexpr std::int64_t kMaxLiteralElements = std::int64_t{1} << 20;
constexpr std::size_t kMaxRank = 64;

class GraphParser : private TextReader {
 public:
  GraphParser(std::string_view text, std::string_view file) : TextReader(text, file) {}

  Graph run() {
    start();
    parse_file();
    if (fault_count() > 0) raise();
    return std::move(graph_);
  }

 private:
  // --- statements ---------------------------------------------------------------------------

  void parse_file() {
    try {
      if (!accept("graph")) fail_expected("'graph'");
      graph_.name = expect_string("the graph's name in quotes");
      expect("{");
    } catch (const StatementFault&) {
      synchronise();
    }
    bool returned = false;
    while (peek().kind != TokenKind::kEnd && !is_next("}") && fault_count() <= kMaxFaults) {
      const std::size_t before = position();
      try {
        if (returned)
          fail(peek().offset, "a statement after return", "", "Move return to the end.");
        returned = parse_statement();
      } catch (const StatementFault&) {
        if (position() == before) take();
        synchronise();
      }
    }
    if (fault_count() > kMaxFaults) return;
    if (!returned && fault_count() == 0) {
      record(peek().offset, "the graph returns nothing", "", "End it with `return %value`.");
    }
    if (!accept("}")) {
      record(peek().offset, "the graph is not closed", "", "End the file with '}'.");
    } else if (peek().kind != TokenKind::kEnd) {
      record(peek().offset, "text after the graph", std::string(peek().text),
             "Keep one graph in a file.");
    }
  }

  /// True when it was the return statement.
  bool parse_statement() {
    if (accept("sym")) {
      parse_symbol();
      return false;
    }
    if (accept("return")) {
      parse_return();
      return true;
    }
    if (peek().kind != TokenKind::kLabel) fail_expected("'sym', 'return' or a value such as %x");
    parse_definition();
    return false;
  }

  std::int64_t parse_bound(const std::string& what) {
    const bool negative = accept("-");
    if (accept("inf")) return negative ? INT64_MIN : INT64_MAX;
    const Token& token = peek();
    std::string digits = (negative ? "-" : "") + std::string(token.text);
    std::int64_t value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (token.kind != TokenKind::kNumber || read.ec != std::errc() ||
        read.ptr != digits.data() + digits.size()) {
      fail_expected(what);
    }
    take();
    return value;
  }

  void parse_symbol() {
    const Token name = peek();
    if (name.kind != TokenKind::kWord || !SymContext::is_valid_symbol_name(name.text)) {
      fail_expected("a symbol's name that is no word of the language");
    }
    take();
    if (!accept("in")) fail_expected("'in'");
    expect("[");
    SymRange range;
    range.lo = parse_bound("the lower bound");
    expect(",");
    range.hi = parse_bound("the upper bound");
    expect("]");
    if (!accept("hint")) fail_expected("'hint'");
    const std::int64_t hint = parse_bound("the hint, an integer");
    if (range.lo > range.hi) {
      fail(name.offset, "the symbol's range is empty", std::string(name.text),
           "Put the lower bound first.");
    }
    if (graph_.syms.find_symbol(name.text)) {
      fail(name.offset, "the symbol is declared twice", std::string(name.text), "Rename one.");
    }
    graph_.syms.symbol(std::string(name.text), range, hint);
  }

  void parse_return() {
    std::vector<ValueId> outputs;
    bool sound = true;
    defining_.clear();
    if (peek().kind == TokenKind::kLabel) {
      do {
        const ValueId id = parse_value();
        sound = sound && id.valid();
        outputs.push_back(id);
      } while (accept(","));
    }
    if (sound) graph_.set_outputs(std::move(outputs));
  }

  void parse_definition() {
    std::vector<Token> labels;
    defining_.clear();
    // Declared before the rest is read, so that a fault here is not repeated at every use.
    do {
      if (peek().kind != TokenKind::kLabel) fail_expected("a value such as %x");
      const Token label = take();
      if (label.text.size() < 2) {
        fail(label.offset, "a value without a name", "%", "Write a name behind the %.");
      }
      if (!values_.try_emplace(std::string(label.text)).second) {
        fail(label.offset, "the value is defined twice", std::string(label.text), "Rename one.");
      }
      labels.push_back(label);
      defining_.emplace_back(label.text);
    } while (accept(","));
    expect("=");
    std::vector<ValueId> ids;
    if (accept("input")) {
      ids.push_back(parse_input());
    } else if (accept("weight")) {
      ids.push_back(parse_weight());
    } else if (accept("constant")) {
      ids.push_back(parse_constant());
    } else {
      ids = parse_call(labels);
    }
    if (ids.empty()) return;  // It uses a value whose own fault is recorded.
    if (ids.size() != labels.size()) {
      fail(labels.front().offset, "the op has " + std::to_string(ids.size()) + " outputs",
           std::to_string(labels.size()) + " names", "Name each output.");
    }
    for (std::size_t i = 0; i < ids.size(); ++i) values_[std::string(labels[i].text)] = ids[i];
    defining_.clear();
  }

  ValueId parse_input() {
    const Token place = peek();
    std::string name = expect_string("the input's name in quotes");
    expect(":");
    TensorType type = parse_type();
    if (!inputs_.insert(name).second) {
      fail(place.offset, "two inputs have this name", name, "Rename one.");
    }
    return graph_.add_input(std::move(name), std::move(type));
  }

  ValueId parse_weight() {
    const Token place = peek();
    std::string name = expect_string("the weight's name in quotes");
    expect(":");
    TensorType type = parse_type();
    const WeightInit init = accept("init") ? parse_init() : WeightInit{};
    if (!weights_.insert(name).second) {
      fail(place.offset, "two weights have this name", name, "Rename one.");
    }
    return graph_.add_weight(std::move(name), std::move(type), init);
  }

  WeightInit parse_init() {
    WeightInit init;
    if (accept("zeros")) {
      init.kind = WeightInit::Kind::kZeros;
      return init;
    }
    if (accept("ones")) {
      init.kind = WeightInit::Kind::kOnes;
      return init;
    }
    if (accept("normal")) {
      init.kind = WeightInit::Kind::kNormal;
    } else if (accept("uniform")) {
      init.kind = WeightInit::Kind::kUniform;
    } else {
      fail_expected("zeros, ones, normal(mean, deviation, seed=N) or uniform(low, high, seed=N)");
    }
    expect("(");
    init.a = parse_init_number();
    expect(",");
    init.b = parse_init_number();
    expect(",");
    if (!accept("seed")) fail_expected("'seed'");
    expect("=");
    const Token& seed = peek();
    const auto read =
        std::from_chars(seed.text.data(), seed.text.data() + seed.text.size(), init.seed);
    if (read.ec != std::errc() || read.ptr != seed.text.data() + seed.text.size()) {
      fail_expected("a seed, a non-negative integer");
    }
    take();
    expect(")");
    return init;
  }

  double parse_init_number() {
    const std::size_t offset = peek().offset;
    const std::string_view text = take_expression();
    double value = 0;
    if (!read_float(text, value)) {
      fail(offset, "not a number", std::string(text), "Write a number such as 0.02.");
    }
    return value;
  }

  Sym parse_size() {
    const std::size_t offset = peek().offset;
    const std::string_view text = take_expression();
    const Result<Sym> size = graph_.syms.parse(text);
    if (!size.ok()) {
      fail(offset, size.refusal().reason, std::string(text),
           "Write an integer expression over declared symbols.");
    }
    return size.value();
  }

  TensorType parse_type() {
    const Token place = peek();
    const std::optional<DType> dtype = parse_dtype(place.text);
    if (!dtype) fail_expected("a type such as f32[batch, 512]");
    take();
    TensorType type{*dtype, {}};
    expect("[");
    if (accept("]")) return type;
    do {
      const std::size_t offset = peek().offset;
      const Sym size = parse_size();
      if (graph_.syms.range(size).hi < 0) {
        fail(offset, "a negative size", graph_.syms.to_string(size), "Sizes are 0 or more.");
      }
      if (type.sizes.size() == kMaxRank) {
        fail(place.offset, "more than 64 dims", "", "Tensors here have at most 64 dims.");
      }
      type.sizes.push_back(size);
    } while (accept(","));
    expect("]");
    return type;
  }

  ValueId parse_constant() {
    const Token place = peek();
    const TensorType type = parse_type();
    std::vector<std::int64_t> sizes;
    std::int64_t count = 1;
    for (const Sym size : type.sizes) {
      const std::optional<std::int64_t> value = graph_.syms.as_constant(size);
      if (!value) {
        fail(place.offset, "a constant of symbolic size", graph_.syms.to_string(size),
             "Write the sizes of a constant as integers.");
      }
      sizes.push_back(*value);
      count = saturating_mul(count, *value);
    }
    if (count > kMaxLiteralElements) {
      fail(place.offset, "a constant of more than 1048576 elements", std::to_string(count),
           "Make it a weight.");
    }
    HostTensor literal = HostTensor::zeros(type.dtype, std::move(sizes));
    expect("{");
    for (std::int64_t i = 0; i < count; ++i) {
      if (i > 0) expect(",");
      parse_element(literal, i);
    }
    expect("}");
    return graph_.add_constant(std::move(literal));
  }

  void parse_element(HostTensor& literal, std::int64_t index) {
    const std::size_t offset = peek().offset;
    const std::string_view text = take_expression();
    const auto i = static_cast<std::size_t>(index);
    bool read = false;
    if (literal.dtype == DType::kBool) {
      read = text == "true" || text == "false";
      literal.as<std::uint8_t>()[i] = text == "true" ? 1 : 0;
    } else if (literal.dtype == DType::kF64) {
      read = read_float(text, literal.as<double>()[i]);
    } else if (is_floating(literal.dtype)) {
      float value = 0;
      read = read_float(text, value);
      if (literal.dtype == DType::kF32) literal.as<float>()[i] = value;
      if (literal.dtype == DType::kF16) literal.as<std::uint16_t>()[i] = float_to_half(value);
      if (literal.dtype == DType::kBF16) literal.as<std::uint16_t>()[i] = float_to_bfloat16(value);
    } else {
      std::int64_t value = 0;
      const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
      read = result.ec == std::errc() && result.ptr == text.data() + text.size();
      if (literal.dtype == DType::kI64) {
        literal.as<std::int64_t>()[i] = value;
      } else {
        auto* target = literal.as<char>() + index * size_of(literal.dtype);
        encode_element(literal.dtype, static_cast<double>(value), target);
        read = read && decode_element(literal.dtype, target) == static_cast<double>(value);
      }
    }
    if (!read) {
      fail(offset, "not a value of type " + std::string(name_of(literal.dtype)), std::string(text),
           "Write one value per element of the constant.");
    }
  }

  // --- ops ----------------------------------------------------------------------------------

  /// The value a label stands for; invalid when its definition was faulty.
  ValueId parse_value() {
    if (peek().kind != TokenKind::kLabel) fail_expected("a value such as %x");
    const Token label = take();
    const auto place = values_.find(std::string(label.text));
    if (place != values_.end() && std::ranges::find(defining_, label.text) == defining_.end()) {
      return place->second;
    }
    std::vector<std::string> known;
    for (const auto& [name, id] : values_) known.push_back(name);
    const std::string nearest = nearest_word(label.text, known);
    fail(label.offset, "the value is not defined before its use", std::string(label.text),
         nearest.empty() ? "Define it above." : "Did you mean " + nearest + "?");
  }

  /// One argument that is no list. A use of a faulty value clears `sound`.
  ArgValue parse_item(bool& sound) {
    const Token token = peek();
    if (token.kind == TokenKind::kLabel) {
      const ValueId id = parse_value();
      sound = sound && id.valid();
      return id;
    }
    if (token.kind == TokenKind::kString) return unquote(take().text);
    if (accept("none")) return std::monostate{};
    if (accept("true")) return true;
    if (accept("false")) return false;
    if (const auto dtype = parse_dtype(token.text)) {
      take();
      return *dtype;
    }
    const std::string_view text = take_expression();
    double number = 0;
    if (looks_floating(text) && read_float(text, number)) return number;
    const Result<Sym> sym = graph_.syms.parse(text);
    if (!sym.ok()) {
      fail(token.offset, sym.refusal().reason, std::string(text),
           "Write a value, a list, a number, an expression over declared symbols, a dtype, a "
           "string, true, false or none.");
    }
    return sym.value();
  }

  template <typename T>
  ArgValue list_of(const std::vector<ArgValue>& items, std::size_t offset) {
    std::vector<T> list;
    for (const ArgValue& item : items) {
      if (const T* value = std::get_if<T>(&item)) {
        list.push_back(*value);
        continue;
      }
      if constexpr (std::is_same_v<T, ValueId>) {
        if (std::holds_alternative<std::monostate>(item)) {
          list.push_back(ValueId{});
          continue;
        }
      }
      fail(offset, "a list of mixed kinds", "", "Keep one kind of item in a list.");
    }
    return list;
  }

  ArgValue parse_list(bool& sound) {
    const std::size_t offset = peek().offset;
    expect("[");
    std::vector<ArgValue> items;
    if (!accept("]")) {
      do {
        items.push_back(parse_item(sound));
      } while (accept(","));
      expect("]");
    }
    if (items.empty()) {
      if (accept("tensor")) return std::vector<ValueId>{};
      if (accept("f64")) return std::vector<double>{};
      if (accept("bool")) return std::vector<bool>{};
      return std::vector<Sym>{};
    }
    if (std::holds_alternative<Sym>(items.front())) return list_of<Sym>(items, offset);
    if (std::holds_alternative<double>(items.front())) return list_of<double>(items, offset);
    if (std::holds_alternative<bool>(items.front())) return list_of<bool>(items, offset);
    return list_of<ValueId>(items, offset);
  }

  std::vector<ValueId> parse_call(const std::vector<Token>& labels) {
    const Token op = peek();
    if (op.kind != TokenKind::kWord || std::count(op.text.begin(), op.text.end(), '.') < 2) {
      fail_expected("input, weight, constant or an op such as aten.add.Tensor");
    }
    take();
    expect("(");
    std::vector<Arg> args;
    std::set<std::string> names;
    bool sound = true;
    if (!accept(")")) {
      do {
        const Token name = peek();
        if (name.kind != TokenKind::kWord) fail_expected("an argument's name");
        take();
        if (!names.insert(std::string(name.text)).second) {
          fail(name.offset, "the argument is given twice", std::string(name.text), "Remove one.");
        }
        expect("=");
        args.push_back(
            {std::string(name.text), is_next("[") ? parse_list(sound) : parse_item(sound)});
      } while (accept(","));
      expect(")");
    }
    expect(":");
    std::vector<TensorType> types;
    do {
      types.push_back(parse_type());
    } while (accept(","));
    if (!sound) return {};
    const auto disagreements = type_faults(graph_, op.text, args, types);
    for (const std::string& line : disagreements) {
      record(op.offset, line, std::string(op.text), "Correct the arguments or the written type.");
    }
    if (!disagreements.empty()) throw StatementFault{};
    return graph_.add_op(std::string(op.text), std::move(args), std::move(types),
                         name_from(labels));
  }

  /// The op's name: its label, or what the labels %name.0, %name.1.. share; "" for %12.
  static std::string name_from(const std::vector<Token>& labels) {
    std::string name(labels.front().text.substr(1));
    if (labels.size() > 1 && name.ends_with(".0")) name.resize(name.size() - 2);
    return is_label(name) ? name : std::string();
  }

  Graph graph_;
  std::unordered_map<std::string, ValueId> values_;
  std::vector<std::string_view> defining_;  ///< Labels of the definition that is being read.
  std::set<std::string> inputs_;
  std::set<std::string> weights_;
};

}  // namespace

Graph parse_graph(std::string_view text, std::string_view file_name) {
  return GraphParser(text, file_name).run();
}

}  // namespace breakeven
