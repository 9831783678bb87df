file(REMOVE_RECURSE
  "../../../schema_test"
  "../../../schema_test.pdb"
  "CMakeFiles/schema_test.dir/number_test.cpp.o"
  "CMakeFiles/schema_test.dir/number_test.cpp.o.d"
  "CMakeFiles/schema_test.dir/raw_samples_test.cpp.o"
  "CMakeFiles/schema_test.dir/raw_samples_test.cpp.o.d"
  "CMakeFiles/schema_test.dir/results_io_test.cpp.o"
  "CMakeFiles/schema_test.dir/results_io_test.cpp.o.d"
)

# Per-language clean rules from dependency scanning.
foreach(lang CXX)
  include(CMakeFiles/schema_test.dir/cmake_clean_${lang}.cmake OPTIONAL)
endforeach()
