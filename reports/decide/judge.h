#pragma once

#include <string>
#include <vector>

#include "reports/decide/decision.h"
#include "reports/decide/policy.h"

namespace breakeven {

/// What the rules read of one arm. A Number without value counts as not known.
struct ArmFacts {
  std::string arm;
  std::string failure;            ///< Why the arm could not run at all; empty: it ran.
  bool accuracy_checked = true;   ///< Compiled arms only.
  std::string accuracy_failure;   ///< Worst shape with its figures; empty: passed.
  int processes = 0;              ///< Good processes in the phase that has fewest.
  std::string generator_problem;  ///< Why the load generator's run is void.
  std::string instability;        ///< Why the measurement is not stable.
  bool signs_agree = true;        ///< Every process found the arm faster than the baseline.
  bool all_slower = false;        ///< Every process found the arm slower than the baseline.
  double failed_share = 0;        ///< Requests without an answer.
  Number speedup;                 ///< Baseline mean service over this arm's, "ratio".
  Number p99_ms;                  ///< Traffic after warm-up.
  Number p99_ratio;               ///< This arm's p99 over the baseline's, paired.
  Number start_cold_p99_ms, start_warm_p99_ms;  ///< Traffic straight after a start.
  Number cold_start_ms, warm_start_ms;
  Number break_even_lost, break_even_kept;      ///< Requests; value empty with lo: "never".
  bool never_lost = false, never_kept = false;  ///< Break-even is known to be never.
  Number fallback_share;
  Number payback_days;         ///< Engineering cost over the daily saving.
  bool payback_never = false;  ///< A day saves nothing; payback_days.lo set: it might.
};

/// What may vary in a search for flips.
struct Conditions {
  std::optional<double> requests_per_life;  ///< Empty: the process never restarts.
  double slo_p99_ms = 0;                    ///< 0: none.
  bool cache_survives_restart = false;
  bool quick = false;
  bool interrupted = false;
};

struct Judgement {
  Verdict verdict = Verdict::kNotEnoughData;
  std::string arm;
  std::string best_arm;         ///< The compiled arm that came out best, whatever the verdict.
  std::vector<Reason> reasons;  ///< Most weighty first; those of the recommended arm lead.
  std::vector<std::string> limits;
};

/// Applies the policy's rules; a pure function. `arms` are the compiled ones.
Judgement judge(const Policy& policy, const ArmFacts& baseline, const std::vector<ArmFacts>& arms,
                const Conditions& conditions);

}  // namespace breakeven
