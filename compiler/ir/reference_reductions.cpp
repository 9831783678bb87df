#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <unordered_map>
#include <utility>

#include "compiler/ir/numeric.h"
#include "compiler/ir/reference_call.h"
#include "compiler/ir/type_rules.h"

namespace breakeven {
namespace {

using Row = std::vector<double>;

std::vector<std::int64_t> dims_of(const RefCall& call, const RefTensor& self) {
  return wrap_dims(call.integers("dim"), self.sizes.size());
}

/// fn of the elements of each reduced row, written in the order of the output.
RefOutputs reduce(const RefCall& call, const std::function<double(const Row&)>& fn) {
  const RefTensor& self = call.tensor("self");
  RefTensor output = call.make_output();
  const auto rows = rows_over(self.sizes, dims_of(call, self));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Row row;
    for (const std::int64_t at : rows[i]) row.push_back(self.at(at));
    output.data[i] = fn(row);
  }
  RefOutputs outputs;
  outputs.push_back(std::move(output));
  return outputs;
}

double sum(const Row& row) {
  long double total = 0;
  for (const double x : row) total += x;
  return static_cast<double>(total);
}

double mean(const Row& row) { return sum(row) / static_cast<double>(row.size()); }

double variance(const Row& row, double correction) {
  const double center = mean(row);
  long double total = 0;
  for (const double x : row) {
    total += (static_cast<long double>(x) - center) * (static_cast<long double>(x) - center);
  }
  const double divisor = static_cast<double>(row.size()) - correction;
  return static_cast<double>(total) / std::max(divisor, 0.0);
}

double extreme(const Row& row, bool is_max) {
  if (row.empty()) refuse("the maximum or minimum of no element");
  double best = row.front();
  for (const double x : row) {
    if (std::isnan(x)) return x;
    if (is_max ? x > best : x < best) best = x;
  }
  return best;
}

double fold(const Row& row, Combine combine) {
  switch (combine) {
    case Combine::kSum:
      return sum(row);
    case Combine::kProd: {
      double total = 1;
      for (const double x : row) total *= x;
      return total;
    }
    case Combine::kMax:
      return extreme(row, true);
    case Combine::kMin:
      return extreme(row, false);
    case Combine::kAny:
      return std::any_of(row.begin(), row.end(), [](double x) { return x != 0; }) ? 1 : 0;
    case Combine::kAll:
      return std::all_of(row.begin(), row.end(), [](double x) { return x != 0; }) ? 1 : 0;
    case Combine::kNone:
      break;
  }
  refuse("a reduction without a fold");
}

/// Index of the first NaN, else of the first extreme element.
double arg_extreme(const Row& row, bool is_max) {
  if (row.empty()) refuse("argmax or argmin of no element");
  std::size_t best = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (std::isnan(row[i])) return static_cast<double>(i);
    if (is_max ? row[i] > row[best] : row[i] < row[best]) best = i;
  }
  return static_cast<double>(best);
}

double correction_of(const RefCall& call) {
  if (call.node().op.ends_with(".dim")) return call.boolean("unbiased", true) ? 1 : 0;
  return call.number("correction", 1);
}

RefOutputs ref_mean(const RefCall& call) { return reduce(call, mean); }

RefOutputs ref_var(const RefCall& call) {
  const double correction = correction_of(call);
  return reduce(call, [=](const Row& row) { return variance(row, correction); });
}

RefOutputs ref_std(const RefCall& call) {
  const double correction = correction_of(call);
  return reduce(call, [=](const Row& row) { return std::sqrt(variance(row, correction)); });
}

RefOutputs ref_var_mean(const RefCall& call) {
  RefOutputs outputs = ref_var(call);
  outputs.push_back(std::move(ref_mean(call).front()));
  return outputs;
}

RefOutputs ref_logsumexp(const RefCall& call) {
  return reduce(call, [](const Row& row) {
    if (row.empty()) return -std::numeric_limits<double>::infinity();
    const double top = extreme(row, true);
    const double shift = std::isinf(top) ? 0 : top;
    Row shifted;
    for (const double x : row) shifted.push_back(std::exp(x - shift));
    return std::log(sum(shifted)) + shift;
  });
}

RefOutputs ref_argmax(const RefCall& call) {
  return reduce(call, [](const Row& row) { return arg_extreme(row, true); });
}

RefOutputs ref_argmin(const RefCall& call) {
  return reduce(call, [](const Row& row) { return arg_extreme(row, false); });
}

RefOutputs ref_cumsum(const RefCall& call) {
  const RefTensor& self = call.tensor("self");
  RefTensor output = call.make_output();
  const std::int64_t dim = call.dim("dim", self.rank(), 0);
  const std::vector<std::int64_t> dims(self.rank() > 0 ? 1 : 0, dim);
  for (const auto& row : rows_over(self.sizes, dims)) {
    long double total = 0;
    for (const std::int64_t at : row) {
      total += self.at(at);
      output.at(at) = static_cast<double>(total);
    }
  }
  return {std::move(output)};
}

}  // namespace

RefOutputs interpret_fold(const RefCall& call, const OpRow& row) {
  RefOutputs outputs = reduce(call, [&row](const Row& items) { return fold(items, row.combine); });
  if (is_integral(outputs.front().dtype)) {
    for (double& x : outputs.front().data) x = wrap_integer(outputs.front().dtype, x);
  }
  return outputs;
}

RefFn find_reduction_reference(std::string_view op) {
  static const std::unordered_map<std::string_view, RefFn> kTable = {
      {"aten.mean.dim", ref_mean},
      {"aten.mean.default", ref_mean},
      {"aten.var.correction", ref_var},
      {"aten.var.dim", ref_var},
      {"aten.std.correction", ref_std},
      {"aten.std.dim", ref_std},
      {"aten.var_mean.correction", ref_var_mean},
      {"aten.logsumexp.default", ref_logsumexp},
      {"aten.argmax.default", ref_argmax},
      {"aten.argmin.default", ref_argmin},
      {"aten.cumsum.default", ref_cumsum},
  };
  const auto place = kTable.find(op);
  return place == kTable.end() ? nullptr : place->second;
}

}  // namespace breakeven
