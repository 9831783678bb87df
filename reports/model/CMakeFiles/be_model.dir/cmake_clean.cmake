file(REMOVE_RECURSE
  "CMakeFiles/be_model.dir/break_even.cpp.o"
  "CMakeFiles/be_model.dir/break_even.cpp.o.d"
  "CMakeFiles/be_model.dir/p99_split.cpp.o"
  "CMakeFiles/be_model.dir/p99_split.cpp.o.d"
  "libbe_model.a"
  "libbe_model.pdb"
)

# Per-language clean rules from dependency scanning.
foreach(lang CXX)
  include(CMakeFiles/be_model.dir/cmake_clean_${lang}.cmake OPTIONAL)
endforeach()
