file(REMOVE_RECURSE
  "CMakeFiles/be_test_support.dir/json_schema.cpp.o"
  "CMakeFiles/be_test_support.dir/json_schema.cpp.o.d"
  "CMakeFiles/be_test_support.dir/synthetic_results.cpp.o"
  "CMakeFiles/be_test_support.dir/synthetic_results.cpp.o.d"
  "libbe_test_support.a"
  "libbe_test_support.pdb"
)

# Per-language clean rules from dependency scanning.
foreach(lang CXX)
  include(CMakeFiles/be_test_support.dir/cmake_clean_${lang}.cmake OPTIONAL)
endforeach()
