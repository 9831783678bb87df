
# Consider dependencies only in project.
set(CMAKE_DEPENDS_IN_PROJECT_ONLY OFF)

# The set of languages for which implicit dependencies are needed:
set(CMAKE_DEPENDS_LANGUAGES
  )

# The set of dependency files which are needed:
set(CMAKE_DEPENDS_DEPENDENCY_FILES
  "/tmp/rep/reports/stats/bootstrap.cpp" "reports/stats/CMakeFiles/be_stats.dir/bootstrap.cpp.o" "gcc" "reports/stats/CMakeFiles/be_stats.dir/bootstrap.cpp.o.d"
  "/tmp/rep/reports/stats/quantiles.cpp" "reports/stats/CMakeFiles/be_stats.dir/quantiles.cpp.o" "gcc" "reports/stats/CMakeFiles/be_stats.dir/quantiles.cpp.o.d"
  "/tmp/rep/reports/stats/rank_test.cpp" "reports/stats/CMakeFiles/be_stats.dir/rank_test.cpp.o" "gcc" "reports/stats/CMakeFiles/be_stats.dir/rank_test.cpp.o.d"
  "/tmp/rep/reports/stats/steady.cpp" "reports/stats/CMakeFiles/be_stats.dir/steady.cpp.o" "gcc" "reports/stats/CMakeFiles/be_stats.dir/steady.cpp.o.d"
  )

# Targets to which this target links.
set(CMAKE_TARGET_LINKED_INFO_FILES
  "/tmp/rep/reports/schema/CMakeFiles/be_schema.dir/DependInfo.cmake"
  "/tmp/rep/compiler/support/CMakeFiles/be_support.dir/DependInfo.cmake"
  )

# Fortran module output directory.
set(CMAKE_Fortran_TARGET_MODULE_DIR "")
