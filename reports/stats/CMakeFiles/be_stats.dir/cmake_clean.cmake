file(REMOVE_RECURSE
  "CMakeFiles/be_stats.dir/bootstrap.cpp.o"
  "CMakeFiles/be_stats.dir/bootstrap.cpp.o.d"
  "CMakeFiles/be_stats.dir/quantiles.cpp.o"
  "CMakeFiles/be_stats.dir/quantiles.cpp.o.d"
  "CMakeFiles/be_stats.dir/rank_test.cpp.o"
  "CMakeFiles/be_stats.dir/rank_test.cpp.o.d"
  "CMakeFiles/be_stats.dir/steady.cpp.o"
  "CMakeFiles/be_stats.dir/steady.cpp.o.d"
  "libbe_stats.a"
  "libbe_stats.pdb"
)

# Per-language clean rules from dependency scanning.
foreach(lang CXX)
  include(CMakeFiles/be_stats.dir/cmake_clean_${lang}.cmake OPTIONAL)
endforeach()
