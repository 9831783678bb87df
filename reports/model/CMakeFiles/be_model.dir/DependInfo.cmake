
# Consider dependencies only in project.
set(CMAKE_DEPENDS_IN_PROJECT_ONLY OFF)

# The set of languages for which implicit dependencies are needed:
set(CMAKE_DEPENDS_LANGUAGES
  )

# The set of dependency files which are needed:
set(CMAKE_DEPENDS_DEPENDENCY_FILES
  "/tmp/rep/reports/model/break_even.cpp" "reports/model/CMakeFiles/be_model.dir/break_even.cpp.o" "gcc" "reports/model/CMakeFiles/be_model.dir/break_even.cpp.o.d"
  "/tmp/rep/reports/model/p99_split.cpp" "reports/model/CMakeFiles/be_model.dir/p99_split.cpp.o" "gcc" "reports/model/CMakeFiles/be_model.dir/p99_split.cpp.o.d"
  )

# Targets to which this target links.
set(CMAKE_TARGET_LINKED_INFO_FILES
  "/tmp/rep/reports/stats/CMakeFiles/be_stats.dir/DependInfo.cmake"
  "/tmp/rep/reports/schema/CMakeFiles/be_schema.dir/DependInfo.cmake"
  "/tmp/rep/compiler/support/CMakeFiles/be_support.dir/DependInfo.cmake"
  )

# Fortran module output directory.
set(CMAKE_Fortran_TARGET_MODULE_DIR "")
