
# Consider dependencies only in project.
set(CMAKE_DEPENDS_IN_PROJECT_ONLY OFF)

# The set of languages for which implicit dependencies are needed:
set(CMAKE_DEPENDS_LANGUAGES
  )

# The set of dependency files which are needed:
set(CMAKE_DEPENDS_DEPENDENCY_FILES
  "/tmp/rep/tests/unit/model/break_even_test.cpp" "tests/unit/model/CMakeFiles/model_test.dir/break_even_test.cpp.o" "gcc" "tests/unit/model/CMakeFiles/model_test.dir/break_even_test.cpp.o.d"
  "/tmp/rep/tests/unit/model/p99_split_test.cpp" "tests/unit/model/CMakeFiles/model_test.dir/p99_split_test.cpp.o" "gcc" "tests/unit/model/CMakeFiles/model_test.dir/p99_split_test.cpp.o.d"
  )

# Targets to which this target links.
set(CMAKE_TARGET_LINKED_INFO_FILES
  "/tmp/rep/reports/model/CMakeFiles/be_model.dir/DependInfo.cmake"
  "/tmp/rep/tests/support/CMakeFiles/be_test_support.dir/DependInfo.cmake"
  "/tmp/rep/reports/stats/CMakeFiles/be_stats.dir/DependInfo.cmake"
  "/tmp/rep/reports/schema/CMakeFiles/be_schema.dir/DependInfo.cmake"
  "/tmp/rep/compiler/support/CMakeFiles/be_support.dir/DependInfo.cmake"
  )

# Fortran module output directory.
set(CMAKE_Fortran_TARGET_MODULE_DIR "")
