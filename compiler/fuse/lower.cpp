#include <algorithm>

#include "compiler/fuse/group_builder.h"
#include "compiler/fuse/node_class.h"

namespace breakeven {

/// Turns a finished group into members, pulling from its outputs; equal (value, place) pairs share
/// one member.
class GroupBuilder::Lowering {
 public:
  explicit Lowering(const GroupBuilder& group) : group_(group), graph_(group.graph_) {
    body_.space = group.space_;
  }

  void store(ValueId value, const IndexMap& at) {
    const int member = build(value, at);
    const auto sizes = graph_.type(value).sizes;
    body_.outputs.push_back({value, member, linear_index(graph_.syms, at, sizes)});
  }

  FusedBody finish() { return std::move(body_); }

 private:
  int build(ValueId value, const IndexMap& at) {
    for (std::size_t m = 0; m < body_.members.size(); ++m) {
      if (body_.members[m].value == value && body_.members[m].at == at) return static_cast<int>(m);
    }
    const int index = graph_.value(value).node;
    const Node& node = graph_.nodes()[static_cast<std::size_t>(index)];
    if (is_scalar_constant(node)) return build_constant(value, at, node);
    if (row_class(node) == OpClass::kView) {
      const auto map = view_source_map(graph_, node, graph_.value(value).output, at);
      if (map) return build(std::get<ValueId>(*find_arg(node, "self")), map.value());
      return build_load(value, at);
    }
    if (row_class(node) == OpClass::kCreation && is_fusable(graph_, node)) {
      return build_creation(value, at, node);
    }
    if (!group_.contains(index)) return build_load(value, at);
    if (is_product(node)) return build_product(value, at, index);
    switch (row_class(node)) {
      case OpClass::kReduction:
        return build_reduction(value, at, index);
      case OpClass::kGather:
        return build_gather(value, at, index);
      default:
        return build_pointwise(value, at, index);
    }
  }

  int append(Member member) {
    body_.members.push_back(std::move(member));
    return static_cast<int>(body_.members.size()) - 1;
  }

  Member start(MemberKind kind, ValueId value, const IndexMap& at) const {
    Member member;
    member.kind = kind;
    member.value = value;
    member.dtype = graph_.type(value).dtype;
    member.at = at;
    return member;
  }

  int build_constant(ValueId value, const IndexMap& at, const Node& node) {
    Member member = start(MemberKind::kLiteral, value, at);
    const HostTensor& literal = node.literal;
    if (is_floating(literal.dtype)) {
      member.literal.kind = LiteralValue::Kind::kFloat;
      member.literal.number = element_as_double(literal, 0);
    } else if (literal.dtype == DType::kI64) {
      member.literal.integer = *literal.as<std::int64_t>();
    } else {
      member.literal.integer = static_cast<std::int64_t>(element_as_double(literal, 0));
    }
    return append(std::move(member));
  }

  int build_load(ValueId value, IndexMap at) {
    // Views of a gathered table are folded here; other views were folded on the way down.
    const Node* node = &graph_.node_of(value);
    while (row_class(*node) == OpClass::kView) {
      auto map = view_source_map(graph_, *node, graph_.value(value).output, at);
      if (!map) break;
      at = std::move(map).value();
      value = std::get<ValueId>(*find_arg(*node, "self"));
      node = &graph_.node_of(value);
    }
    Member member = start(MemberKind::kLoad, value, at);
    member.source = value;
    member.offset = linear_index(graph_.syms, at, graph_.type(value).sizes);
    note_input(value);
    return append(std::move(member));
  }

  void note_input(ValueId value) {
    if (std::find(body_.inputs.begin(), body_.inputs.end(), value) == body_.inputs.end()) {
      body_.inputs.push_back(value);
    }
  }

  int build_product(ValueId value, const IndexMap& at, int index) {
    const Product product =
        product_of(graph_, graph_.nodes()[static_cast<std::size_t>(index)]).value();
    Member member = start(MemberKind::kProduct, value, at);
    member.node = index;
    member.operands.push_back(-1);
    const auto needs = group_.operand_needs(index, at).value();
    if (!needs.empty()) member.operands[0] = build(needs[0].first, needs[0].second);
    // Row starts: the place of the result with the first column's depth for the column.
    IndexMap row = at;
    row.back() = constant_index(graph_.syms, 0);
    member.source = product.rows;
    member.offset = linear_index(graph_.syms, row, graph_.type(product.rows).sizes);
    note_input(product.rows);
    body_.weight = {product.weight, product.columns_first, product.depth, product.columns};
    return append(std::move(member));
  }

  int build_creation(ValueId value, const IndexMap& at, const Node& node) {
    Member member = start(MemberKind::kLiteral, value, at);
    const auto scalar = [&](std::string_view name, LiteralValue fallback) {
      const ArgValue* arg = find_arg(node, name);
      if (arg == nullptr || std::holds_alternative<std::monostate>(*arg)) return fallback;
      return literal_of(graph_, *arg, member.dtype).value();
    };
    LiteralValue zero;
    LiteralValue one;
    one.integer = 1;
    if (node.op.starts_with("aten.arange")) {
      member.kind = MemberKind::kIota;
      member.literal = scalar("start", zero);
      member.step = scalar("step", one);
      member.offset = at[0];
    } else if (node.op.starts_with("aten.full")) {
      member.literal = scalar("fill_value", zero);
    } else if (node.op == "aten.scalar_tensor.default") {
      member.literal = scalar("s", zero);
    } else {
      member.literal = node.op.starts_with("aten.ones") ? one : zero;
    }
    return append(std::move(member));
  }

  int build_pointwise(ValueId value, const IndexMap& at, int index) {
    const Node& node = graph_.nodes()[static_cast<std::size_t>(index)];
    Member member = start(MemberKind::kPointwise, value, at);
    member.node = index;
    const std::vector<std::string_view>& slots = find_op(node.op)->operands;
    const DType compute = compute_dtype(graph_, node);
    for (std::string_view slot : slots) {
      const ArgValue* arg = find_arg(node, slot);
      if (arg == nullptr || std::holds_alternative<std::monostate>(*arg)) {
        member.operands.push_back(-1);
      } else if (const auto* operand = std::get_if<ValueId>(arg)) {
        const auto map =
            broadcast_map(graph_.syms, at, graph_.type(value).sizes, graph_.type(*operand).sizes);
        member.operands.push_back(build(*operand, map.value()));
      } else {
        Member scalar;
        scalar.kind = MemberKind::kLiteral;
        scalar.dtype = compute;
        scalar.literal = literal_of(graph_, *arg, compute).value();
        member.operands.push_back(append(std::move(scalar)));
      }
    }
    return append(std::move(member));
  }

  int build_reduction(ValueId value, const IndexMap& at, int index) {
    const auto needs = group_.operand_needs(index, at).value();
    const bool folds = !group_.reduced_extents(index).empty();
    Member member = start(folds ? MemberKind::kReduce : MemberKind::kCopy, value, at);
    member.node = index;
    member.operands.push_back(build(needs[0].first, needs[0].second));
    return append(std::move(member));
  }

  int build_gather(ValueId value, const IndexMap& at, int index) {
    const Node& node = graph_.nodes()[static_cast<std::size_t>(index)];
    const bool embedding = node.op == "aten.embedding.default";
    const auto needs = group_.operand_needs(index, at).value();
    const int row = build(needs[0].first, needs[0].second);
    const ValueId source = std::get<ValueId>(*find_arg(node, embedding ? "weight" : "self"));
    const std::size_t dim = gathered_dim(graph_, node);
    IndexMap map(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(dim));
    map.push_back(variable_index(graph_.syms, kMemberVar + row));
    const std::size_t skip = dim + graph_.type(needs[0].first).sizes.size();
    map.insert(map.end(), at.begin() + static_cast<std::ptrdiff_t>(skip), at.end());
    const int load = build_load(source, map);
    Member& member = body_.members[static_cast<std::size_t>(load)];
    member.index_bound_member = row;
    member.index_bound = graph_.type(source).sizes[dim];
    // The gather's own value is what users ask for; the load stands for it.
    member.value = value;
    member.at = at;
    return load;
  }

  const GroupBuilder& group_;
  Graph& graph_;
  FusedBody body_;
};

FusedBody GroupBuilder::lower(const std::vector<ValueId>& stored) {
  Lowering lowering(*this);
  for (ValueId value : stored) lowering.store(value, needs_.at(value)[0]);
  return lowering.finish();
}

}  // namespace breakeven
