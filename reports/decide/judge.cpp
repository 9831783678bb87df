#include "reports/decide/judge.h"

#include <algorithm>
#include <cmath>

#include "compiler/support/check.h"
#include "reports/decide/phrases.h"

namespace breakeven {
namespace {

std::string processes_text(int good, int wanted) {
  return std::to_string(good) + (good == 1 ? " good process" : " good processes") +
         ", the policy asks for " + std::to_string(wanted);
}

/// How one compiled arm came out.
enum class Outcome : std::uint8_t { kGood, kLimited, kUnsure, kRejected, kBlocked };

/// The rules for one arm; each may lower the outcome and says why. A measured figure rejects an arm
/// only when its whole interval lies on the wrong side and nothing about the measurement is in
/// doubt; else more data could change the answer, and the outcome is kUnsure.
class ArmJudge {
 public:
  ArmJudge(const Policy& policy, const ArmFacts& baseline, const ArmFacts& arm,
           const Conditions& conditions)
      : policy_(policy), baseline_(baseline), arm_(arm), conditions_(conditions) {
    check_accuracy();
    if (outcome == Outcome::kBlocked) return;
    check_evidence();
    check_speed();
    check_tail();
    check_break_even();
    check_start();
    check_limits();
    if (outcome == Outcome::kGood || outcome == Outcome::kLimited) praise();
  }

  Outcome outcome = Outcome::kGood;
  std::vector<Reason> reasons;
  std::vector<std::string> limits;

 private:
  void lower(Outcome to, std::string rule, std::string sentence,
             std::map<std::string, Number> numbers = {}) {
    outcome = std::max(outcome, to);
    reasons.push_back({std::move(rule), arm_.arm + ": " + std::move(sentence), std::move(numbers)});
  }
  void limit(std::string rule, std::string sentence, std::string condition,
             std::map<std::string, Number> numbers = {}) {
    limits.push_back(std::move(condition));
    lower(Outcome::kLimited, std::move(rule), std::move(sentence), std::move(numbers));
  }
  /// Something is wrong with the measurement itself: from here on no figure of it rejects the arm.
  void doubt(std::string rule, std::string sentence) {
    doubtful_ = true;
    lower(Outcome::kUnsure, std::move(rule), std::move(sentence));
  }
  void reject(std::string rule, std::string sentence, std::map<std::string, Number> numbers = {}) {
    lower(doubtful_ ? Outcome::kUnsure : Outcome::kRejected, std::move(rule), std::move(sentence),
          std::move(numbers));
  }
  /// A quick run has no intervals and its verdict is held back elsewhere.
  bool surely_below(const Number& number, double bound) const {
    return conditions_.quick ? number.value && *number.value < bound
                             : number.hi && *number.hi < bound;
  }
  bool surely_above(const Number& number, double bound) const {
    return conditions_.quick ? number.value && *number.value > bound
                             : number.lo && *number.lo > bound;
  }
  double slo() const { return conditions_.slo_p99_ms * (1 - policy_.p99_headroom); }
  bool has_slo() const { return conditions_.slo_p99_ms > 0; }
  Number slo_number() const { return Number::given(slo(), "ms"); }

  void check_accuracy() {
    if (!arm_.accuracy_failure.empty()) {
      lower(Outcome::kBlocked, "accuracy_failed",
            "its results are wrong: " + arm_.accuracy_failure);
    } else if (!arm_.accuracy_checked) {
      lower(Outcome::kUnsure, "accuracy_not_checked",
            "its results were never compared with eager's, so it cannot be recommended");
    }
  }

  void check_evidence() {
    if (!arm_.failure.empty())
      lower(Outcome::kRejected, "arm_failed", "it did not run: " + arm_.failure);
    if (arm_.processes < policy_.min_processes) {
      doubt("not_enough_processes", processes_text(arm_.processes, policy_.min_processes));
    }
    if (!arm_.generator_problem.empty()) {
      doubt("generator_invalid", "the load generator's run is void: " + arm_.generator_problem);
    }
    if (!arm_.instability.empty()) {
      doubt("unstable", "the measurement is not stable: " + arm_.instability);
    }
    if (arm_.failed_share > baseline_.failed_share + 0.001) {
      lower(Outcome::kRejected, "requests_failed",
            figure_with_unit(arm_.failed_share, "share") + " of its requests got no answer, " +
                figure_with_unit(baseline_.failed_share, "share") + " of the baseline's");
    }
  }

  void check_speed() {
    const Number& speedup = arm_.speedup;
    const std::map<std::string, Number> numbers = {
        {"speedup", speedup}, {"min_speedup", Number::given(policy_.min_speedup, "ratio")}};
    if (!speedup.value) {
      lower(Outcome::kUnsure, "speedup_unknown",
            "no speed-up could be measured: " + text_of(speedup));
    } else if (surely_below(speedup, policy_.min_speedup)) {
      reject("speedup_below_minimum",
             "a mean request is " + text_with_interval(speedup) +
                 " as fast as the baseline; the policy asks for at least " +
                 figure_with_unit(policy_.min_speedup, "ratio"),
             numbers);
    } else if (!conditions_.quick && !speedup.lo) {
      lower(Outcome::kUnsure, "speedup_uncertain",
            "the speed-up is " + text_of(speedup) +
                " and has no interval: too few processes or "
                "samples",
            numbers);
    } else if (!conditions_.quick && *speedup.lo < policy_.min_speedup) {
      lower(Outcome::kUnsure, "speedup_uncertain",
            "the speed-up is " + text_with_interval(speedup) + ": " +
                (*speedup.value < policy_.min_speedup ? "below the "
                                                      : "its interval reaches below the ") +
                figure_with_unit(policy_.min_speedup, "ratio") + " that the policy asks for" +
                (*speedup.value < policy_.min_speedup ? ", but its interval reaches over it" : ""),
            numbers);
    } else if (!arm_.signs_agree) {
      lower(Outcome::kUnsure, "processes_disagree",
            "not every process found it faster than the baseline", numbers);
    }
  }

  void check_tail() {
    const Number& p99 = arm_.p99_ms;
    const std::map<std::string, Number> numbers = {
        {"p99_ms", p99}, {"slo_p99_ms", slo_number()}, {"baseline_p99_ms", baseline_.p99_ms}};
    if (!p99.value) {
      lower(Outcome::kUnsure, "p99_unknown", "its p99 is not known: " + text_of(p99));
      return;
    }
    if (!has_slo()) {
      check_tail_ratio(numbers);
    } else if (surely_above(p99, slo())) {
      const bool baseline_misses = baseline_.p99_ms.value && *baseline_.p99_ms.value > slo();
      if (!baseline_misses) {
        reject("p99_over_slo",
               "its p99 under traffic is " + text_with_interval(p99) + ", over the target of " +
                   figure_with_unit(slo(), "ms") + " that the baseline meets",
               numbers);
        return;
      }
      check_tail_ratio(numbers);
      limit("slo_missed_by_all",
            "its p99 under traffic is " + text_with_interval(p99) + ", the baseline's " +
                text_of(baseline_.p99_ms) + ": both miss the target of " +
                figure_with_unit(slo(), "ms"),
            "The latency target is missed with and without the compiler: add capacity as well.",
            numbers);
    } else if (*p99.value > slo() || (!conditions_.quick && p99.hi && *p99.hi > slo())) {
      lower(Outcome::kUnsure, "p99_slo_uncertain",
            "its p99 is " + text_with_interval(p99) + ": the interval holds the target of " +
                figure_with_unit(slo(), "ms"),
            numbers);
    }
  }

  void check_tail_ratio(const std::map<std::string, Number>& numbers) {
    const Number& ratio = arm_.p99_ratio;
    if (!surely_above(ratio, policy_.max_p99_ratio)) return;
    reject("p99_worse_than_baseline",
           "its p99 is " + text_with_interval(ratio) + " the baseline's; the policy allows " +
               figure_with_unit(policy_.max_p99_ratio, "ratio"),
           numbers);
  }

  enum class Payback : std::uint8_t { kInTime, kLate, kUnsure, kUnknown };

  Payback payback_of(const Number& requests, bool never) const {
    const double allowed = conditions_.requests_per_life
                               ? policy_.max_break_even_life_share * *conditions_.requests_per_life
                               : INFINITY;
    // Never, with a lower end: some of what was measured does pay back.
    if (never) return requests.lo && *requests.lo <= allowed ? Payback::kUnsure : Payback::kLate;
    if (!requests.value) return Payback::kUnknown;
    if (!conditions_.requests_per_life) return Payback::kInTime;
    if (surely_above(requests, allowed)) return Payback::kLate;
    const bool sure = *requests.value <= allowed &&
                      (conditions_.quick || (requests.hi && *requests.hi <= allowed));
    return sure ? Payback::kInTime : Payback::kUnsure;
  }

  std::string life_text() const {
    return conditions_.requests_per_life
               ? figure_with_unit(*conditions_.requests_per_life, "requests") + " of a process life"
               : std::string("a process life without end");
  }

  void check_break_even() {
    if (outcome == Outcome::kRejected && !arm_.speedup.value) return;
    const bool survives = conditions_.cache_survives_restart;
    const Number& governing = survives ? arm_.break_even_kept : arm_.break_even_lost;
    const bool never = survives ? arm_.never_kept : arm_.never_lost;
    const Payback payback = payback_of(governing, never);
    const std::map<std::string, Number> numbers = {{"break_even_requests", governing}};
    const std::string share = figure_with_unit(policy_.max_break_even_life_share, "share");
    if (payback == Payback::kInTime) return;
    if (payback == Payback::kUnknown) {
      lower(Outcome::kUnsure, "break_even_unknown",
            "no break-even could be computed: " + text_of(governing));
      return;
    }
    const bool kept_helps =
        !survives && payback_of(arm_.break_even_kept, arm_.never_kept) == Payback::kInTime;
    if (kept_helps) {
      limit("break_even_needs_kept_cache",
            std::string("with an empty kernel cache it pays back ") +
                (never ? "never" : "only after " + text_of(governing)) + " of " + life_text() +
                "; with the cache kept, after " + text_of(arm_.break_even_kept),
            "Keep the kernel cache across restarts (ship it with the image or on a volume).",
            numbers);
    } else if (never && payback == Payback::kLate) {
      reject("break_even_never", "what compiling costs is never earned back", numbers);
    } else if (never) {
      lower(Outcome::kUnsure, "break_even_uncertain",
            "on average what compiling costs is never earned back, but the interval begins at " +
                figure_with_unit(*governing.lo, "requests"),
            numbers);
    } else if (payback == Payback::kLate) {
      reject("break_even_too_late",
             "it pays back after " + text_with_interval(governing) + ", later than " + share +
                 " of the " + life_text(),
             numbers);
    } else {
      lower(Outcome::kUnsure, "break_even_uncertain",
            "it pays back after " + text_with_interval(governing) + ": the interval reaches past " +
                share + " of the " + life_text(),
            numbers);
    }
  }

  void check_start() {
    const bool survives = conditions_.cache_survives_restart;
    const Number& start = survives ? arm_.warm_start_ms : arm_.cold_start_ms;
    if (policy_.max_cold_start_ms && start.value && *start.value > *policy_.max_cold_start_ms) {
      const bool kept_helps = !survives && arm_.warm_start_ms.value &&
                              *arm_.warm_start_ms.value <= *policy_.max_cold_start_ms;
      const std::string sentence = "a new process gives its first result after " + text_of(start) +
                                   ", the policy allows " +
                                   figure_with_unit(*policy_.max_cold_start_ms, "ms");
      if (kept_helps) {
        limit("cold_start_too_long", sentence,
              "Keep the kernel cache across restarts: a warm start takes " +
                  text_of(arm_.warm_start_ms) + ".");
      } else if (surely_above(start, *policy_.max_cold_start_ms)) {
        reject("cold_start_too_long", sentence);
      } else {
        lower(Outcome::kUnsure, "cold_start_uncertain", sentence);
      }
    }
    const Number& tail = survives ? arm_.start_warm_p99_ms : arm_.start_cold_p99_ms;
    const Number& baseline = survives ? baseline_.start_warm_p99_ms : baseline_.start_cold_p99_ms;
    if (!has_slo() || !tail.value || *tail.value <= slo()) return;
    if (baseline.value && *baseline.value >= *tail.value) return;
    limit("start_p99_over_slo",
          "straight after a " + std::string(survives ? "warm" : "cold") + " start its p99 is " +
              text_with_interval(tail) + ", over the target of " + figure_with_unit(slo(), "ms") +
              " (baseline: " + text_of(baseline) + ")",
          "Warm a new process up over the shape classes before it takes traffic.",
          {{"start_p99_ms", tail}, {"baseline_start_p99_ms", baseline}});
  }

  void check_limits() {
    if (arm_.fallback_share.value && *arm_.fallback_share.value == 1) {
      reject("runs_eagerly", "all of its requests ran eagerly: it compiles nothing here",
             {{"fallback_share", arm_.fallback_share}});
    } else if (arm_.fallback_share.value &&
               *arm_.fallback_share.value > policy_.max_fallback_share) {
      limit("fallback_share_high",
            text_of(arm_.fallback_share) +
                " of its requests ran eagerly, the policy expects at most " +
                figure_with_unit(policy_.max_fallback_share, "share"),
            "Part of the requests stays eager: watch the fallback counter.",
            {{"fallback_share", arm_.fallback_share}});
    }
    if (!policy_.max_payback_days) return;
    const Number& days = arm_.payback_days;
    const double allowed = *policy_.max_payback_days;
    if (days.value ? *days.value <= allowed : !arm_.payback_never) return;
    const std::string sentence = "the engineering cost is earned back after " +
                                 text_with_interval(days) + ", the policy allows " +
                                 figure_with_unit(allowed, "days");
    const bool sure = days.value ? surely_above(days, allowed) : !days.lo || *days.lo > allowed;
    if (sure) {
      reject("payback_too_long", sentence, {{"payback_days", days}});
    } else {
      lower(Outcome::kUnsure, "payback_uncertain", sentence, {{"payback_days", days}});
    }
  }

  void praise() {
    const bool survives = conditions_.cache_survives_restart;
    const Number& pays = survives ? arm_.break_even_kept : arm_.break_even_lost;
    std::string sentence =
        "a mean request is " + text_with_interval(arm_.speedup) + " as fast as the baseline";
    if (pays.value) {
      sentence +=
          ", what compiling costs is earned back after " + text_of(pays) + " of " + life_text();
    }
    if (arm_.p99_ms.value && has_slo() && *arm_.p99_ms.value <= slo()) {
      sentence += ", and the p99 of " + text_of(arm_.p99_ms) + " stays under the target of " +
                  figure_with_unit(slo(), "ms");
    }
    reasons.insert(
        reasons.begin(),
        {"pays_back",
         arm_.arm + ": " + sentence,
         {{"speedup", arm_.speedup}, {"break_even_requests", pays}, {"p99_ms", arm_.p99_ms}}});
  }

  const Policy& policy_;
  const ArmFacts& baseline_;
  const ArmFacts& arm_;
  const Conditions& conditions_;
  bool doubtful_ = false;
};

/// What is wrong with the baseline itself; its outcome never recommends anything.
std::vector<Reason> baseline_problems(const Policy& policy, const ArmFacts& baseline,
                                      const Conditions& conditions) {
  std::vector<Reason> reasons;
  const auto add = [&](std::string rule, const std::string& sentence) {
    reasons.push_back({std::move(rule), baseline.arm + ": " + sentence, {}});
  };
  if (!baseline.failure.empty()) add("arm_failed", "the baseline did not run: " + baseline.failure);
  if (baseline.processes < policy.min_processes) {
    add("not_enough_processes", processes_text(baseline.processes, policy.min_processes));
  }
  if (!baseline.generator_problem.empty()) {
    add("generator_invalid", "the load generator's run is void: " + baseline.generator_problem);
  }
  if (!baseline.instability.empty()) {
    add("unstable", "the measurement is not stable: " + baseline.instability);
  }
  if (!baseline.p99_ms.value)
    add("p99_unknown", "its p99 is not known: " + text_of(baseline.p99_ms));
  if (conditions.interrupted) add("interrupted", "the run was interrupted before its end");
  return reasons;
}

std::optional<Reason> baseline_over_slo(const Policy& policy, const ArmFacts& baseline,
                                        const Conditions& conditions) {
  const double slo = conditions.slo_p99_ms * (1 - policy.p99_headroom);
  if (slo <= 0 || !baseline.p99_ms.value || *baseline.p99_ms.value <= slo) return std::nullopt;
  return Reason{"baseline_over_slo",
                baseline.arm + ": the baseline itself misses the latency target: p99 " +
                    text_with_interval(baseline.p99_ms) + " against " + figure_with_unit(slo, "ms"),
                {{"baseline_p99_ms", baseline.p99_ms}, {"slo_p99_ms", Number::given(slo, "ms")}}};
}

void append(std::vector<Reason>& to, const std::vector<Reason>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

Verdict verdict_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kGood:
      return Verdict::kEnable;
    case Outcome::kLimited:
      return Verdict::kEnableWithLimits;
    case Outcome::kUnsure:
      return Verdict::kNotEnoughData;
    case Outcome::kRejected:
      return Verdict::kKeepEager;
    case Outcome::kBlocked:
      return Verdict::kBlocked;
  }
  BE_CHECK(false, "unknown outcome");
  return Verdict::kNotEnoughData;
}

}  // namespace

Judgement judge(const Policy& policy, const ArmFacts& baseline, const std::vector<ArmFacts>& arms,
                const Conditions& conditions) {
  Policy used = policy;
  if (conditions.quick) used.min_processes = std::min(used.min_processes, 2);
  std::vector<ArmJudge> judged;
  for (const ArmFacts& arm : arms) judged.emplace_back(used, baseline, arm, conditions);
  const std::vector<Reason> doubts = baseline_problems(used, baseline, conditions);

  // Wrong results outweigh everything; doubts about the baseline outweigh every comparison with it.
  std::size_t best = judged.size();
  const auto better = [&](std::size_t a, std::size_t b) {
    const auto rank = [](Outcome o) { return o == Outcome::kBlocked ? -1 : static_cast<int>(o); };
    if (judged[a].outcome != judged[b].outcome)
      return rank(judged[a].outcome) < rank(judged[b].outcome);
    return arms[a].speedup.value.value_or(0) > arms[b].speedup.value.value_or(0);
  };
  for (std::size_t i = 0; i < judged.size(); ++i) {
    if (best == judged.size() || better(i, best)) best = i;
  }

  Judgement result;
  result.arm = result.best_arm = baseline.arm;
  if (best == judged.size()) {
    result.verdict = doubts.empty() ? Verdict::kKeepEager : Verdict::kNotEnoughData;
    result.reasons = doubts;
    result.reasons.push_back({"no_compiled_arm", "the scenario has no compiled arm to judge", {}});
    return result;
  }
  Verdict verdict = verdict_of(judged[best].outcome);
  if (!doubts.empty() && verdict != Verdict::kBlocked) verdict = Verdict::kNotEnoughData;
  const bool recommends = verdict == Verdict::kEnable || verdict == Verdict::kEnableWithLimits;
  // Without intervals only what every process agrees on is certain.
  const bool all_slower =
      std::all_of(arms.begin(), arms.end(), [](const ArmFacts& arm) { return arm.all_slower; });
  const bool certain = verdict == Verdict::kKeepEager && all_slower;
  if (conditions.quick && (recommends || (verdict == Verdict::kKeepEager && !certain))) {
    verdict = Verdict::kNotEnoughData;
  }
  result.verdict = verdict;
  result.best_arm = arms[best].arm;
  const bool blocked = verdict == Verdict::kBlocked;
  if (blocked) append(result.reasons, judged[best].reasons);
  append(result.reasons, doubts);
  if (const auto over = baseline_over_slo(used, baseline, conditions))
    result.reasons.push_back(*over);
  if (!blocked) append(result.reasons, judged[best].reasons);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    if (i != best) append(result.reasons, judged[i].reasons);
  }
  if (verdict != Verdict::kKeepEager) result.arm = arms[best].arm;
  if (verdict == Verdict::kEnableWithLimits) result.limits = judged[best].limits;
  return result;
}

}  // namespace breakeven
