#include "compiler/support/files.h"
#include "reports/render/render.h"

namespace breakeven {

Decision make_report(const std::filesystem::path& directory) {
  const Results results = read_results(directory / "results.json");
  Decision decision = decide(results, directory);
  write_file_atomic(directory / "report.json", render_json(results, decision));
  write_file_atomic(directory / "report.md", render_markdown(results, decision));
  write_file_atomic(directory / "report.html", render_html(results, decision));
  return decision;
}

}  // namespace breakeven
