#include <charconv>
#include <cstdlib>
#include <string_view>

#include "compiler/support/files.h"
#include "harness/cli/commands.h"
#include "harness/executors/executor.h"
#include "harness/measure/trial.h"

namespace breakeven {
namespace {

/// The parent's stamp from the environment; our own entry when there is none.
Nanos spawned_at(Nanos entered_at) {
  const char* text = std::getenv("BREAKEVEN_SPAWNED_AT");
  if (text == nullptr) return entered_at;
  const std::string_view view = text;
  Nanos stamp = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), stamp);
  const bool fits = error == std::errc() && end == view.data() + view.size();
  return fits && stamp > 0 && stamp <= entered_at ? stamp : entered_at;
}

}  // namespace

ExitCode trial_command(const std::string& spec, const std::string& out_file, Nanos entered_at) {
  constexpr std::uint64_t kMostBytes = 1 << 20;
  ArmTable arms = base_arms();
  for (ArmKind& arm : model_arms()) arms.push_back(std::move(arm));
  const TrialSpec trial = parse_trial_spec(read_file(spec, kMostBytes), spec);
  const Results results =
      run_trial(trial, arms, make_accuracy_reference, {spawned_at(entered_at), entered_at});
  write_results(results, out_file);
  return ExitCode::kOk;
}

}  // namespace breakeven
