#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>

#include <cctype>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "compiler/support/error.h"
#include "compiler/support/text.h"
#include "compiler/torch/pt2_graph.h"
#include "compiler/torch/torch_backend.h"

namespace breakeven {
namespace {

constexpr std::size_t kMaxModelBytes = std::size_t{512} << 20;
constexpr int kSchemaMajor = 8;
constexpr const char* kFixExport = "Export the model again with torch.export.save of torch 2.11.";

/// Name of the model inside the archive: "model" of models/model.json.
std::string model_name(const Pt2Archive& archive) {
  constexpr std::string_view kFolder = "models/";
  constexpr std::string_view kEnding = ".json";
  std::string name;
  for (const std::string& record : archive.records_under(kFolder)) {
    if (!record.ends_with(kEnding)) continue;
    const std::string found =
        record.substr(kFolder.size(), record.size() - kFolder.size() - kEnding.size());
    if (name.empty() || found == "model") name = found;
  }
  if (!name.empty()) return name;
  if (archive.has_record("serialized_exported_program.json") || archive.has_record("data.pkl") ||
      archive.has_record("code/__torch__.py")) {
    archive.fail("the archive is of another kind (an older export, TorchScript or a checkpoint)",
                 "", kFixExport);
  }
  archive.fail("the archive holds no model (no models/*.json)", "", kFixExport);
}

void check_schema(const Pt2Archive& archive, const nlohmann::json& program) {
  const auto& version = program.at("schema_version");
  const auto major = version.at("major").get<std::int64_t>();
  if (major == kSchemaMajor) return;
  const std::string text =
      std::to_string(major) + "." + std::to_string(version.at("minor").get<std::int64_t>());
  archive.fail(major > kSchemaMajor ? "the archive's schema is newer than this program reads (8)"
                                    : "the archive's schema is older than this program reads (8)",
               text, kFixExport);
}

/// The record that scripts/export_model.py leaves: which named dim each input size is.
nlohmann::json dim_names(const Pt2Archive& archive) {
  const std::string record = "extra/breakeven.json";
  if (!archive.has_record(record)) return nlohmann::json::object();
  const auto json = nlohmann::json::parse(archive.text(record, std::size_t{1} << 20));
  return json.contains("dims") ? json.at("dims") : nlohmann::json::object();
}

std::string graph_name(const std::filesystem::path& path) {
  std::string name = path.stem().string();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0)
    name = "model_" + name;
  return name.substr(0, 64);
}

}  // namespace

ImportedModel import_pt2(const std::filesystem::path& path) {
  Pt2Archive archive(path);
  try {
    const std::string model = model_name(archive);
    const auto program =
        nlohmann::json::parse(archive.text("models/" + model + ".json", kMaxModelBytes));
    check_schema(archive, program);
    Pt2Weights weights(archive, model);
    return Pt2GraphReader(archive, program, weights).read(graph_name(path), dim_names(archive));
  } catch (const nlohmann::json::exception& error) {
    archive.fail("the archive does not follow the torch.export schema", printable(error.what()),
                 kFixExport);
  } catch (const c10::Error&) {
    archive.fail("the archive is damaged", "", kFixExport);
  } catch (const std::bad_alloc&) {
    archive.fail("the archive asks for more memory than there is", "", kFixExport);
  } catch (const std::length_error&) {
    archive.fail("the archive asks for more memory than there is", "", kFixExport);
  }
}

}  // namespace breakeven
