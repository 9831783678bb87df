#include "harness/scenario/dim_data.h"

#include "harness/scenario/csv.h"

namespace breakeven {

DimData read_dim_data(const DimSource& source) {
  DimData data;
  switch (source.kind) {
    case DimSource::Kind::kFixed:
      data.sizes = {source.fixed};
      data.weights = {1};
      break;
    case DimSource::Kind::kList:
      for (const auto& [size, weight] : source.list) {
        data.sizes.push_back(size);
        data.weights.push_back(weight);
      }
      break;
    case DimSource::Kind::kHistogram: {
      const CsvFile csv(source.file);
      const std::vector<std::size_t> rows = rows_where(csv, source.where);
      data.sizes = read_sizes(csv, source.value_column, rows);
      data.weights = read_counts(csv, source.count_column, rows);
      break;
    }
    case DimSource::Kind::kTraceColumn: {
      const CsvFile csv(source.file);
      data.sizes = read_sizes(csv, source.value_column, rows_where(csv, source.where));
      break;
    }
    case DimSource::Kind::kLogNormal:
      break;
  }
  return data;
}

}  // namespace breakeven
