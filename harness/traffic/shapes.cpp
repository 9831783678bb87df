#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "compiler/support/check.h"
#include "harness/scenario/dim_data.h"
#include "harness/traffic/random.h"
#include "harness/traffic/traffic.h"

namespace breakeven {
namespace {

constexpr std::size_t kMostShapes = 100'000;

/// Dims whose sizes are drawn together: one dim, or the columns of one trace file.
struct Group {
  std::vector<std::size_t> dims;                   ///< Indices into Scenario::dims.
  std::vector<std::vector<std::int64_t>> columns;  ///< Sizes, one column a dim.
  std::vector<double> weights;                     ///< Empty: rows of a trace.
  std::vector<double> cumulative;                  ///< Of weights.
  const DimSource* log_normal = nullptr;           ///< Then columns are empty.
  bool is_trace() const { return log_normal == nullptr && weights.empty(); }
};

bool same_rows(const DimSource& a, const DimSource& b) {
  return a.kind == DimSource::Kind::kTraceColumn && b.kind == a.kind && a.file == b.file &&
         a.where == b.where;
}

std::vector<Group> make_groups(const Scenario& scenario) {
  std::vector<Group> groups;
  std::vector<const DimSource*> sources;  // Of each group's first dim.
  for (std::size_t dim = 0; dim < scenario.dims.size(); ++dim) {
    const auto found = scenario.shapes.find(scenario.dims[dim].name);
    Group group{.dims = {dim}};
    const DimSource* source = found == scenario.shapes.end() ? nullptr : &found->second;
    if (source == nullptr) {
      group.columns = {{scenario.dims[dim].min}};
      group.weights = {1};
    } else if (source->kind == DimSource::Kind::kLogNormal) {
      group.log_normal = source;
    } else {
      DimData data = read_dim_data(*source);
      group.columns = {std::move(data.sizes)};
      group.weights = std::move(data.weights);
    }
    for (std::size_t i = 0; source != nullptr && i < groups.size(); ++i) {
      if (sources[i] == nullptr || !same_rows(*sources[i], *source)) continue;
      groups[i].dims.push_back(dim);
      groups[i].columns.push_back(std::move(group.columns[0]));
      group.dims.clear();
      break;
    }
    if (group.dims.empty()) continue;
    group.cumulative.resize(group.weights.size());
    std::partial_sum(group.weights.begin(), group.weights.end(), group.cumulative.begin());
    groups.push_back(std::move(group));
    sources.push_back(source);
  }
  return groups;
}

/// P(size) of a log-normal rounded to whole sizes and cut to the dim's range.
std::vector<double> log_normal_weights(const DimSource& source, const DimSpec& dim) {
  std::vector<double> weights;
  const auto below = [&](double bound) {  // P(size < bound)
    const double z = (std::log(bound) - source.mu) / source.sigma;
    return 0.5 * std::erfc(-z / std::sqrt(2.0));
  };
  const bool point = source.sigma == 0;
  const auto centre = std::clamp<double>(
      std::round(std::exp(source.mu)), static_cast<double>(dim.min), static_cast<double>(dim.max));
  for (std::int64_t size = dim.min; size <= dim.max; ++size) {
    if (point) {
      weights.push_back(static_cast<double>(size) == centre ? 1 : 0);
      continue;
    }
    const double low = size == dim.min ? 0 : below(static_cast<double>(size) - 0.5);
    const double high = size == dim.max ? 1 : below(static_cast<double>(size) + 0.5);
    weights.push_back(high - low);
  }
  return weights;
}

using Distribution = std::map<ShapeBinding, double>;

/// Distribution of one group's sizes, in the order of its dims.
Distribution distribution_of(const Group& group, const Scenario& scenario) {
  Distribution found;
  double total = 0;
  std::vector<double> weights = group.weights;
  if (group.log_normal != nullptr) {
    weights = log_normal_weights(*group.log_normal, scenario.dims[group.dims[0]]);
  } else if (group.is_trace()) {
    weights.assign(group.columns[0].size(), 1);
  }
  for (std::size_t row = 0; row < weights.size(); ++row) {
    if (weights[row] <= 0) continue;
    ShapeBinding sizes;
    if (group.log_normal != nullptr) {
      sizes.push_back(scenario.dims[group.dims[0]].min + static_cast<std::int64_t>(row));
    }
    for (const auto& column : group.columns) sizes.push_back(column[row]);
    found[sizes] += weights[row];
    total += weights[row];
  }
  for (auto& [sizes, weight] : found) weight /= total;
  return found;
}

void keep_likeliest(std::vector<WeightedShape>& shapes) {
  std::sort(shapes.begin(), shapes.end(), [](const WeightedShape& a, const WeightedShape& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.shape < b.shape;
  });
  if (shapes.size() > kMostShapes) shapes.resize(kMostShapes);
}

}  // namespace

struct ShapeStream::State {
  const Scenario* scenario = nullptr;
  std::vector<Group> groups;
  TrafficRandom random;
  bool published = false;
  std::int64_t row = 0;

  std::size_t draw_row(const Group& group) {
    if (group.is_trace()) {
      const std::size_t rows = group.columns[0].size();
      return published ? static_cast<std::size_t>(row) % rows : random.below(rows);
    }
    const double at = random.uniform() * group.cumulative.back();
    const auto found = std::upper_bound(group.cumulative.begin(), group.cumulative.end(), at);
    return std::min(static_cast<std::size_t>(found - group.cumulative.begin()),
                    group.cumulative.size() - 1);
  }
};

ShapeStream::ShapeStream(const Scenario& scenario, std::uint64_t seed, std::int64_t first_row)
    : state_(new State{.scenario = &scenario,
                       .groups = make_groups(scenario),
                       .random = TrafficRandom(seed, "shapes"),
                       .published = scenario.shape_order == "published",
                       .row = first_row}) {}
ShapeStream::~ShapeStream() = default;
ShapeStream::ShapeStream(ShapeStream&&) noexcept = default;
ShapeStream& ShapeStream::operator=(ShapeStream&&) noexcept = default;

ShapeBinding ShapeStream::next() {
  ShapeBinding shape(state_->scenario->dims.size(), 1);
  for (const Group& group : state_->groups) {
    if (group.log_normal != nullptr) {
      const DimSpec& dim = state_->scenario->dims[group.dims[0]];
      const double size =
          portable_exp(group.log_normal->mu + group.log_normal->sigma * state_->random.normal());
      shape[group.dims[0]] = static_cast<std::int64_t>(std::clamp<double>(
          std::floor(size + 0.5), static_cast<double>(dim.min), static_cast<double>(dim.max)));
      continue;
    }
    const std::size_t row = state_->draw_row(group);
    for (std::size_t i = 0; i < group.dims.size(); ++i) {
      shape[group.dims[i]] = group.columns[i][row];
    }
  }
  ++state_->row;
  return shape;
}

std::vector<WeightedShape> shape_distribution(const Scenario& scenario) {
  std::vector<WeightedShape> shapes = {{ShapeBinding(scenario.dims.size(), 1), 1.0}};
  for (const Group& group : make_groups(scenario)) {
    const Distribution sizes = distribution_of(group, scenario);
    std::vector<WeightedShape> product;
    product.reserve(shapes.size() * sizes.size());
    for (const WeightedShape& shape : shapes) {
      for (const auto& [part, probability] : sizes) {
        WeightedShape joint{shape.shape, shape.probability * probability};
        for (std::size_t i = 0; i < group.dims.size(); ++i) joint.shape[group.dims[i]] = part[i];
        product.push_back(std::move(joint));
      }
      if (product.size() > 10 * kMostShapes) keep_likeliest(product);
    }
    shapes = std::move(product);
    keep_likeliest(shapes);
  }
  return shapes;
}

std::string shape_text(const Scenario& scenario, const ShapeBinding& shape) {
  BE_CHECK(shape.size() == scenario.dims.size());
  std::string text;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ' ';
    text += scenario.dims[i].name + '=' + std::to_string(shape[i]);
  }
  return text.empty() ? "fixed" : text;
}

}  // namespace breakeven
