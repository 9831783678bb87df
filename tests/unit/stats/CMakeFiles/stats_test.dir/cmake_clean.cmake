file(REMOVE_RECURSE
  "../../../stats_test"
  "../../../stats_test.pdb"
  "CMakeFiles/stats_test.dir/bootstrap_test.cpp.o"
  "CMakeFiles/stats_test.dir/bootstrap_test.cpp.o.d"
  "CMakeFiles/stats_test.dir/quantiles_test.cpp.o"
  "CMakeFiles/stats_test.dir/quantiles_test.cpp.o.d"
  "CMakeFiles/stats_test.dir/rank_test_test.cpp.o"
  "CMakeFiles/stats_test.dir/rank_test_test.cpp.o.d"
  "CMakeFiles/stats_test.dir/steady_test.cpp.o"
  "CMakeFiles/stats_test.dir/steady_test.cpp.o.d"
)

# Per-language clean rules from dependency scanning.
foreach(lang CXX)
  include(CMakeFiles/stats_test.dir/cmake_clean_${lang}.cmake OPTIONAL)
endforeach()
