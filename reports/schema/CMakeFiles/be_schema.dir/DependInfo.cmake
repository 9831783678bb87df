
# Consider dependencies only in project.
set(CMAKE_DEPENDS_IN_PROJECT_ONLY OFF)

# The set of languages for which implicit dependencies are needed:
set(CMAKE_DEPENDS_LANGUAGES
  )

# The set of dependency files which are needed:
set(CMAKE_DEPENDS_DEPENDENCY_FILES
  "/tmp/rep/reports/schema/number.cpp" "reports/schema/CMakeFiles/be_schema.dir/number.cpp.o" "gcc" "reports/schema/CMakeFiles/be_schema.dir/number.cpp.o.d"
  "/tmp/rep/reports/schema/raw_samples.cpp" "reports/schema/CMakeFiles/be_schema.dir/raw_samples.cpp.o" "gcc" "reports/schema/CMakeFiles/be_schema.dir/raw_samples.cpp.o.d"
  "/tmp/rep/reports/schema/results_io.cpp" "reports/schema/CMakeFiles/be_schema.dir/results_io.cpp.o" "gcc" "reports/schema/CMakeFiles/be_schema.dir/results_io.cpp.o.d"
  "/tmp/rep/reports/schema/results_schema.cpp" "reports/schema/CMakeFiles/be_schema.dir/results_schema.cpp.o" "gcc" "reports/schema/CMakeFiles/be_schema.dir/results_schema.cpp.o.d"
  )

# Targets to which this target links.
set(CMAKE_TARGET_LINKED_INFO_FILES
  "/tmp/rep/compiler/support/CMakeFiles/be_support.dir/DependInfo.cmake"
  )

# Fortran module output directory.
set(CMAKE_Fortran_TARGET_MODULE_DIR "")
