
# Consider dependencies only in project.
set(CMAKE_DEPENDS_IN_PROJECT_ONLY OFF)

# The set of languages for which implicit dependencies are needed:
set(CMAKE_DEPENDS_LANGUAGES
  )

# The set of dependency files which are needed:
set(CMAKE_DEPENDS_DEPENDENCY_FILES
  "/tmp/rep/tests/unit/stats/bootstrap_test.cpp" "tests/unit/stats/CMakeFiles/stats_test.dir/bootstrap_test.cpp.o" "gcc" "tests/unit/stats/CMakeFiles/stats_test.dir/bootstrap_test.cpp.o.d"
  "/tmp/rep/tests/unit/stats/quantiles_test.cpp" "tests/unit/stats/CMakeFiles/stats_test.dir/quantiles_test.cpp.o" "gcc" "tests/unit/stats/CMakeFiles/stats_test.dir/quantiles_test.cpp.o.d"
  "/tmp/rep/tests/unit/stats/rank_test_test.cpp" "tests/unit/stats/CMakeFiles/stats_test.dir/rank_test_test.cpp.o" "gcc" "tests/unit/stats/CMakeFiles/stats_test.dir/rank_test_test.cpp.o.d"
  "/tmp/rep/tests/unit/stats/steady_test.cpp" "tests/unit/stats/CMakeFiles/stats_test.dir/steady_test.cpp.o" "gcc" "tests/unit/stats/CMakeFiles/stats_test.dir/steady_test.cpp.o.d"
  )

# Targets to which this target links.
set(CMAKE_TARGET_LINKED_INFO_FILES
  "/tmp/rep/reports/stats/CMakeFiles/be_stats.dir/DependInfo.cmake"
  "/tmp/rep/reports/schema/CMakeFiles/be_schema.dir/DependInfo.cmake"
  "/tmp/rep/compiler/support/CMakeFiles/be_support.dir/DependInfo.cmake"
  )

# Fortran module output directory.
set(CMAKE_Fortran_TARGET_MODULE_DIR "")
