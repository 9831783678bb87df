#include <algorithm>
#include <cmath>

#include "compiler/support/check.h"
#include "reports/decide/decision.h"
#include "reports/decide/evidence.h"
#include "reports/decide/flips.h"
#include "reports/decide/judge.h"
#include "reports/decide/phrases.h"
#include "reports/decide/summary.h"
#include "reports/model/break_even.h"

namespace breakeven {
namespace {

/// All that a verdict under changed conditions needs.
struct Case {
  const Results& results;
  const std::vector<ArmEvidence>& evidence;
  Policy policy;
  std::vector<ArmFacts> facts;  ///< Baseline first.
};

Conditions conditions_of(const Results& results) {
  return {.requests_per_life = requests_per_life(results.rate_per_s, results.restarts_per_day),
          .slo_p99_ms = std::isfinite(results.slo_p99_ms) ? results.slo_p99_ms : 0,
          .cache_survives_restart = results.cache_survives_restart,
          .quick = results.quick,
          .interrupted = results.interrupted};
}

Judgement judge_facts(const Case& c, const std::vector<ArmFacts>& facts,
                      const Conditions& conditions) {
  return judge(c.policy, facts.front(), {facts.begin() + 1, facts.end()}, conditions);
}

void scale(Number& number, double factor) {
  for (std::optional<double>* part : {&number.value, &number.lo, &number.hi}) {
    if (*part) **part *= factor;
  }
}

/// Facts at another arrival rate: the recorded traffic replayed with its gaps scaled.
std::vector<ArmFacts> facts_at_rate(const Case& c, double factor) {
  std::vector<ArmFacts> facts = c.facts;
  std::optional<double> baseline_ratio;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const auto now = replayed_p99_ms(c.evidence[i], 1);
    const auto then = replayed_p99_ms(c.evidence[i], factor);
    if (!now || !then || *now <= 0) continue;
    const double ratio = *then / *now;
    if (i == 0) baseline_ratio = ratio;
    scale(facts[i].p99_ms, ratio);
    scale(facts[i].start_cold_p99_ms, ratio);
    scale(facts[i].start_warm_p99_ms, ratio);
    if (baseline_ratio && *baseline_ratio > 0) scale(facts[i].p99_ratio, ratio / *baseline_ratio);
    if (factor > 0) scale(facts[i].payback_days, 1 / factor);
  }
  return facts;
}

FlipSearch search_of(std::string input, double current, double down, double up,
                     std::function<std::string(double)> phrase) {
  FlipSearch search;
  search.input = std::move(input);
  search.current = current;
  search.lo = current / down;
  search.hi = current * up;
  search.phrase = std::move(phrase);
  return search;
}

std::vector<Flip> flips_of(const Case& c) {
  std::vector<Flip> flips;
  const auto add = [&](const FlipSearch& search) {
    if (!(search.current > 0) || !std::isfinite(search.current)) return;
    const std::vector<Flip> found = find_flips(search);
    flips.insert(flips.end(), found.begin(), found.end());
  };
  const Results& r = c.results;
  if (r.quick) return flips;  // A quick run has no verdict that an input could flip.
  const Conditions now = conditions_of(r);
  const auto at_life = [&](double rate, double restarts) {
    Conditions conditions = now;
    conditions.requests_per_life = requests_per_life(rate, restarts);
    return conditions;
  };
  FlipSearch restarts = search_of("restarts_per_day", r.restarts_per_day, 1e3, 1e4, [](double v) {
    return figure_with_unit(v, "") + " restarts a day";
  });
  restarts.verdict_at = [&](double v) {
    return judge_facts(c, c.facts, at_life(r.rate_per_s, v)).verdict;
  };
  add(restarts);
  FlipSearch rate = search_of("rate_per_s", r.rate_per_s, 1e3, 10, [](double v) {
    return figure_with_unit(v, "") + " requests a second";
  });
  rate.verdict_at = [&](double v) {
    return judge_facts(c, facts_at_rate(c, v / r.rate_per_s), at_life(v, r.restarts_per_day))
        .verdict;
  };
  add(rate);
  FlipSearch slo = search_of("slo_p99_ms", now.slo_p99_ms, 100, 100, [](double v) {
    return "a p99 target of " + figure_with_unit(v, "ms");
  });
  slo.verdict_at = [&](double v) {
    Conditions conditions = now;
    conditions.slo_p99_ms = v;
    return judge_facts(c, c.facts, conditions).verdict;
  };
  add(slo);
  FlipSearch price = search_of("usd_per_hour", r.usd_per_hour, 1e3, 1e3,
                               [](double v) { return figure_with_unit(v, "usd") + " an hour"; });
  price.verdict_at = [&](double v) {
    std::vector<ArmFacts> facts = c.facts;
    for (ArmFacts& one : facts) scale(one.payback_days, r.usd_per_hour / v);
    return judge_facts(c, facts, now).verdict;
  };
  add(price);
  return flips;
}

const ArmSummary* find_arm(const Decision& decision, const std::string& arm) {
  const auto found = std::find_if(decision.arms.begin(), decision.arms.end(),
                                  [&](const ArmSummary& one) { return one.arm == arm; });
  return found == decision.arms.end() ? nullptr : &*found;
}

std::string headline_of(const Results& results, const Decision& decision) {
  const std::string& baseline = results.arms.front();
  const std::string first =
      decision.reasons.empty() ? std::string() : decision.reasons.front().sentence;
  const ArmSummary* arm = find_arm(decision, decision.arm);
  switch (decision.verdict) {
    case Verdict::kEnable:
    case Verdict::kEnableWithLimits: {
      BE_CHECK(arm != nullptr);
      const BreakEvenSummary& costs =
          results.cache_survives_restart ? arm->cache_kept : arm->cache_lost;
      std::string text = "Turn on " + decision.arm +
                         (decision.verdict == Verdict::kEnable ? "" : ", within the limits below") +
                         ": a mean request is " + text_of(arm->speedup) + " as fast as " + baseline;
      if (costs.requests.value && costs.minutes.value) {
        text += ", and compiling pays for itself " + text_of(costs.minutes) + " after a restart";
      }
      return text + ".";
    }
    case Verdict::kKeepEager:
      return "Stay with " + baseline + ". " + first + ".";
    case Verdict::kNotEnoughData:
      return results.quick ? "Not enough data: a quick run shows a direction, it cannot decide."
                           : "Not enough data to decide. " + first + ".";
    case Verdict::kBlocked:
      return "Blocked: " + first + ".";
  }
  return "";
}

/// The command with another output directory: a full run is no continuation of a quick one.
std::string in_another_directory(const std::string& command) {
  for (const std::string_view option : {" -o ", " --out "}) {
    const std::size_t at = command.find(option);
    if (at == std::string::npos) continue;
    const std::size_t begin = at + option.size();
    const bool quoted = begin < command.size() && command[begin] == '\'';
    std::size_t end = command.find(quoted ? '\'' : ' ', begin + 1);
    end = std::min(end, command.size());
    const std::size_t name_end = command[end - 1] == '/' ? end - 1 : end;
    return command.substr(0, name_end) + "-full" + command.substr(end);
  }
  return command;
}

/// Money is shown for a saving that is there: measured without doubt, its interval on one side of
/// zero.
void withhold_money(const ArmFacts& baseline, const ArmFacts& facts, ArmSummary& arm) {
  std::string why;
  for (const ArmFacts* one : {&baseline, &facts}) {
    if (!one->instability.empty() || !one->generator_problem.empty()) {
      why = "withheld: the measurement of " + one->arm + " is in doubt";
    }
  }
  for (BreakEvenSummary* costs : {&arm.cache_lost, &arm.cache_kept}) {
    const Number& saving = costs->saving_per_request_ms;
    std::string reason = why;
    if (reason.empty() && !(saving.lo && saving.hi)) {
      reason = "withheld: the saving has no interval";
    } else if (reason.empty() && *saving.lo <= 0 && *saving.hi >= 0) {
      reason = "withheld: the saving of a request is not told from none";
    }
    if (reason.empty()) continue;
    for (Number* number : {&costs->invested_usd, &costs->saving_per_life_usd,
                           &costs->saving_per_life_s, &arm.payback_days}) {
      if (number->value)
        *number = Number::none(number->unit, reason, number->origin, number->samples);
    }
  }
}

std::vector<std::string> next_steps(const Results& results, const Decision& decision) {
  std::vector<std::string> next;
  if (decision.verdict != Verdict::kNotEnoughData) return next;
  if (results.quick) {
    std::string command = results.command;
    if (const std::size_t at = command.find(" --quick"); at != std::string::npos) {
      command.erase(at, std::string_view(" --quick").size());
    }
    next.push_back("Run without --quick: " + in_another_directory(command));
    next.push_back(
        "A full run still has to show: the speed-up, the break-even and the p99 with their "
        "intervals, in at least the processes that the policy asks for, all agreeing in sign.");
  } else if (results.interrupted) {
    next.push_back("Finish the run: the same command with --resume.");
  }
  std::vector<std::string> seen;
  for (const Reason& reason : decision.reasons) {
    if (std::ranges::count(seen, reason.rule) > 0) continue;
    seen.push_back(reason.rule);
    if (reason.rule == "p99_unknown") {
      next.push_back(
          "Serve more requests: a p99 needs 662 of them an arm (measure.traffic_seconds).");
    } else if (reason.rule == "generator_invalid" || reason.rule == "unstable") {
      next.push_back("Free the machine of other work, then run again.");
    } else if (reason.rule.ends_with("_uncertain")) {
      next.push_back("Narrow the interval: more processes (measure.processes) or longer trials.");
    } else if (reason.rule == "not_enough_processes" && !results.quick) {
      next.push_back("Raise measure.processes, or find out why trials failed.");
    }
  }
  next.erase(std::unique(next.begin(), next.end()), next.end());
  return next;
}

std::vector<std::string> notes_of(const Results& results, const Decision& decision) {
  std::vector<std::string> notes;
  notes.push_back(results.shape_order == "published"
                      ? "Shapes arrive in the trace's published order."
                      : "Shapes are resampled from their distribution, not in a recorded order.");
  notes.push_back(
      "Latency runs from the intended arrival of a request (open loop), after warm-up of the "
      "likeliest shape classes; what a fresh process does to its first requests is shown apart.");
  for (const ArmSummary& arm : decision.arms) {
    if (!arm.warmup_coverage.value) continue;
    notes.push_back("Warm-up covers " + text_of(arm.warmup_coverage) +
                    " of the requests' shapes; steady figures speak of what was served then.");
    break;
  }
  notes.push_back(
      "Cold start means an empty kernel cache; the files' pages are in memory already.");
  notes.push_back(
      "Money is modelled: saved busy seconds times the price of an hour. It is real only when the "
      "freed capacity is given back.");
  if (const auto why = results.environment.find("compiler_fallback");
      why != results.environment.end()) {
    notes.push_back(
        "Kernels were compiled by the system compiler, not in process, so cold starts are longer "
        "than they need be: " +
        why->second + ".");
  }
  notes.push_back("A second model instance in one process (memory-warm) was not measured.");
  if (results.quick) notes.push_back("Quick run: no intervals, and never a verdict to enable.");
  return notes;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kEnable:
      return "enable";
    case Verdict::kEnableWithLimits:
      return "enable_with_limits";
    case Verdict::kKeepEager:
      return "keep_eager";
    case Verdict::kNotEnoughData:
      return "not_enough_data";
    case Verdict::kBlocked:
      return "blocked";
  }
  BE_CHECK(false, "unknown verdict");
  return {};
}

Decision decide(const Results& results, const std::filesystem::path& raw_directory) {
  BE_CHECK(!results.arms.empty(), "results without a baseline");
  const std::vector<ArmEvidence> evidence = load_evidence(results, raw_directory);
  const Conditions conditions = conditions_of(results);
  Case c{.results = results, .evidence = evidence, .policy = parse_policy(results.policy_json)};
  Decision decision;
  decision.policy = c.policy.name;
  for (const ArmEvidence& arm : evidence) {
    decision.arms.push_back(
        summarise_arm(results, evidence.front(), arm, conditions.requests_per_life));
    c.facts.push_back(facts_of(results, evidence.front(), arm, decision.arms.back(), c.policy));
  }
  const Judgement judgement = judge_facts(c, c.facts, conditions);
  decision.verdict = judgement.verdict;
  decision.arm = judgement.arm;
  decision.best_arm = judgement.best_arm;
  decision.reasons = judgement.reasons;
  decision.limits = judgement.limits;
  decision.requests_per_life =
      conditions.requests_per_life
          ? Number::given(*conditions.requests_per_life, "requests", Origin::kModelled)
          : Number::none("requests", "n/a: no arrival rate, or no restarts", Origin::kModelled);
  for (std::size_t i = 0; i < decision.arms.size(); ++i) {
    withhold_money(c.facts.front(), c.facts[i], decision.arms[i]);
  }
  decision.headline = headline_of(results, decision);
  decision.flips = flips_of(c);
  decision.next = next_steps(results, decision);
  decision.notes = notes_of(results, decision);
  return decision;
}

}  // namespace breakeven
