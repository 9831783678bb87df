file(REMOVE_RECURSE
  "../../../model_test"
  "../../../model_test.pdb"
  "CMakeFiles/model_test.dir/break_even_test.cpp.o"
  "CMakeFiles/model_test.dir/break_even_test.cpp.o.d"
  "CMakeFiles/model_test.dir/p99_split_test.cpp.o"
  "CMakeFiles/model_test.dir/p99_split_test.cpp.o.d"
)

# Per-language clean rules from dependency scanning.
foreach(lang CXX)
  include(CMakeFiles/model_test.dir/cmake_clean_${lang}.cmake OPTIONAL)
endforeach()
