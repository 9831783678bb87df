#include "compiler/codegen/kernel_text.h"

#include <algorithm>

#include "compiler/codegen/c_types.h"
#include "compiler/codegen/prelude.h"

namespace breakeven {

KernelSource KernelText::kernel_of(const std::string& locals) {
  KernelSource kernel;
  const std::string text = head(locals) + body_.str() + "  *(be_i32*)scratch = bad;\n}\n";
  kernel.unit = {prelude_for(text) + text, "be_kernel"};
  kernel.inputs = schedule_.body.inputs;
  for (const GroupOutput& output : schedule_.body.outputs) kernel.outputs.push_back(output.value);
  kernel.weight = schedule_.body.weight;
  if (schedule_.product.has_value()) kernel.panel_lanes = schedule_.product->lanes;
  kernel.sizes = print_.sizes();
  kernel.parallel_extent = schedule_.parallel_extent;
  kernel.work_per_iteration = schedule_.work_per_iteration;
  return kernel;
}

std::string KernelText::reg(std::size_t m) const {
  return std::string(c_type(members()[m].dtype).reg);
}

std::string KernelText::input(ValueId value) const {
  const std::vector<ValueId>& inputs = schedule_.body.inputs;
  return "x" + std::to_string(std::find(inputs.begin(), inputs.end(), value) - inputs.begin());
}

std::string KernelText::head(const std::string& locals) const {
  std::string text = schedule_.body.weight.has_value() ? std::string(kMultiplyType) : "";
  text +=
      "extern \"C\" void be_kernel(const void* const* in, void* const* out, const be_i64* sym,\n"
      "                          be_i64 begin, be_i64 end, void* scratch) {\n";
  const std::vector<ValueId>& inputs = schedule_.body.inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string memory(c_type(graph_.type(inputs[i]).dtype).memory);
    const std::string at = std::to_string(i);
    text +=
        "  const " + memory + "* __restrict x" + at + " = (const " + memory + "*)in[" + at + "];\n";
  }
  if (schedule_.body.weight.has_value()) {
    text += "  const float* w = (const float*)in[" + std::to_string(inputs.size()) +
            "];\n  const multiply_fn multiply = (multiply_fn)in[" +
            std::to_string(inputs.size() + 1) + "];\n";
  }
  for (std::size_t i = 0; i < schedule_.body.outputs.size(); ++i) {
    const DType dtype = graph_.type(schedule_.body.outputs[i].value).dtype;
    const std::string memory(c_type(dtype).memory);
    const std::string at = std::to_string(i);
    text += "  " + memory + "* __restrict y" + at + " = (" + memory + "*)out[" + at + "];\n";
  }
  for (std::size_t s = 0; s < print_.sizes().size(); ++s) {
    text += "  const be_i64 s" + std::to_string(s) + " = sym[" + std::to_string(s) + "];\n";
  }
  return text + locals + "  be_i32 bad = 0;\n";
}

void KernelText::outer_variables(const std::string& step, const std::string& indent) {
  const auto& space = schedule_.body.space;
  const int outer = static_cast<int>(space.size()) - schedule_.row_dims;
  std::string rest = step;
  for (int v = outer - 1; v >= 0; --v) {
    const std::string name = "i" + std::to_string(v);
    if (v == 0) {
      body_ << indent << "const be_i64 " << name << " = " << rest << ";\n";
      break;
    }
    const std::string extent = print_.size(space[static_cast<std::size_t>(v)].extent);
    body_ << indent << "const be_i64 " << name << " = " << rest << " % " << extent << ";\n";
    const std::string next = "q" + std::to_string(v);
    body_ << indent << "const be_i64 " << next << " = " << rest << " / " << extent << ";\n";
    rest = next;
  }
}

void KernelText::once(int p, const std::string& indent) {
  for (std::size_t m = 0; m < members().size(); ++m) {
    if (!in_row(m) && schedule_.pass[m] == p) define(m, indent);
  }
}

void KernelText::define(std::size_t m, const std::string& indent) {
  const Member& member = members()[m];
  if (member.kind == MemberKind::kLiteral && !member.value.valid()) return;
  if (member.kind == MemberKind::kLoad) {
    define_load(m, indent);
    return;
  }
  body_ << indent << "const " << reg(m) << " m" << m << " = " << print_.value(static_cast<int>(m))
        << ";\n";
}

void KernelText::define_load(std::size_t m, const std::string& indent) {
  const Member& member = members()[m];
  if (member.index_bound_member >= 0) {
    const std::string row = "(be_i64)" + print_.operand(member.index_bound_member);
    const std::string outside = row + " < 0 || " + row + " >= " + print_.size(member.index_bound);
    body_ << indent << "bad |= " << outside << ";\n"
          << indent << "const be_i64 k" << m << " = " << outside << " ? 0 : " << row << ";\n";
  }
  const std::string element =
      input(member.source) + "[" + print_.index(member.offset, static_cast<int>(m)) + "]";
  const CType& type = c_type(graph_.type(member.source).dtype);
  body_ << indent << "const " << reg(m) << " m" << m << " = "
        << (type.load.empty() ? element : std::string(type.load) + '(' + element + ')') << ";\n";
}

void KernelText::store(const std::string& indent, std::size_t output) {
  const GroupOutput& target = schedule_.body.outputs[output];
  const CType& type = c_type(graph_.type(target.value).dtype);
  const std::string value = print_.operand(target.member);
  body_ << indent << "y" << output << "[" << print_.index(target.offset)
        << "] = " << (type.store.empty() ? value : std::string(type.store) + '(' + value + ')')
        << ";\n";
}

}  // namespace breakeven
