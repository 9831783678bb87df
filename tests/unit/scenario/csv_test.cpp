#include "harness/scenario/csv.h"

#include <gtest/gtest.h>

#include "tests/unit/scenario/scenario_files.h"

namespace breakeven {
namespace {

std::vector<Nanos> stamps_of(const std::string& text) {
  const ScenarioFiles files;
  return read_stamps(CsvFile(files.write("t.csv", text)), "at");
}

std::string fault_of(const std::string& text) {
  try {
    stamps_of(text);
  } catch (const UserError& error) {
    const Diagnostic& first = error.diagnostics().front();
    return std::to_string(first.line) + ':' + std::to_string(first.column) + ' ' + to_string(first);
  }
  return "";
}

TEST(Stamps, ReadCalendarTimesToTheNanosecond) {
  EXPECT_EQ(stamps_of("at\n2023-11-16 18:15:46.6805900\n2023-11-16T18:15:46.680590001Z\n"),
            (std::vector<Nanos>{0, 1}));
  // Over a leap day and a year's end.
  EXPECT_EQ(stamps_of("at\n2024-02-28 23:59:59\n2024-03-01 00:00:00\n").back(), 86401'000'000'000);
  EXPECT_EQ(stamps_of("at\n2023-12-31 23:59:59.5\n2024-01-01 00:00:00\n").back(), 500'000'000);
}

TEST(Stamps, ReadSeconds) {
  EXPECT_EQ(stamps_of("at\r\n10\r\n10.5\r\n10.5\r\n12e0\r\n"),
            (std::vector<Nanos>{0, 500'000'000, 500'000'000, 2'000'000'000}));
}

TEST(Stamps, ReadWhatASpreadsheetWrote) {
  EXPECT_EQ(stamps_of("\xEF\xBB\xBF"
                      "at\r\n1\r\n2\r\n")
                .back(),
            1'000'000'000);
}

TEST(Csv, RefusesTwoColumnsOfOneName) {
  EXPECT_NE(fault_of("at,n,at\n1,2,3\n2,3,4\n").find("two columns have the same name"),
            std::string::npos);
}

struct StampCase {
  const char* text;
  const char* says;
};
class BadStamps : public testing::TestWithParam<StampCase> {};
TEST_P(BadStamps, AreRefused) {
  const std::string fault = fault_of(GetParam().text);
  EXPECT_NE(fault.find(GetParam().says), std::string::npos) << fault;
}
INSTANTIATE_TEST_SUITE_P(
    All, BadStamps,
    testing::Values(StampCase{"at,n\n1,1\n-2,1\n", "negative"},
                    StampCase{"n,at\n1,2\n1,1\n", "3:3 "},
                    StampCase{"at\n1\n0.5\n", "earlier than the one before"},
                    StampCase{"at\n1\nnan\n", "not a finite number"},
                    StampCase{"at\n1\ninf\n", "not a finite number"},
                    StampCase{"at,n\n1,1\n,1\n", "the stamp is missing"},
                    StampCase{"at\n1\nsoon\n", "neither seconds nor a stamp"},
                    StampCase{"at\n2023-02-29 00:00:00\n2023-03-01 00:00:00\n", "no stamp"},
                    StampCase{"at\n2023-11-16 18:15:46\n7\n", "no stamp of the form"},
                    StampCase{"at\n1\n", "no two different stamps"},
                    StampCase{"at\n1\n1\n", "no two different stamps"},
                    StampCase{"", "the file is empty"}, StampCase{"at\n", "no row below"},
                    StampCase{"att\n1\n2\n", "Did you mean \"att\""},
                    StampCase{"at\n1\n2,3\n", "has 2 fields"},
                    StampCase{"at\n\"1\"x\n", "goes on after its closing quote"}));

TEST(Csv, ReadsQuotedFields) {
  const ScenarioFiles files;
  const CsvFile csv(files.write("q.csv", "a,b\n\"x,\"\"y\"\"\nz\",2\nu,3\n"));
  ASSERT_EQ(csv.row_count(), 2u);
  EXPECT_EQ(csv.field(0, 0), "x,\"y\"\nz");
  EXPECT_EQ(csv.at(1, 1, "m", "f").line, 4);
}

TEST(Csv, HistogramsRefuseWhatIsNoCount) {
  const ScenarioFiles files;
  const CsvFile csv(files.write("h.csv", "size,count\n8,0\n0,1\n9,-1\n10,nan\n2.5,1\n11,1e308\n"));
  const std::vector<std::size_t> rows = rows_where(csv, {});
  try {
    read_sizes(csv, "size", rows);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics().size(), 2u);
  }
  try {
    read_counts(csv, "count", rows);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics().size(), 3u);
  }
  EXPECT_THROW(read_counts(csv, "count", {0}), UserError);
  EXPECT_THROW(rows_where(csv, {{"size", "7"}}), UserError);
  EXPECT_EQ(rows_where(csv, {{"size", "8"}}), (std::vector<std::size_t>{0}));
}

}  // namespace
}  // namespace breakeven
