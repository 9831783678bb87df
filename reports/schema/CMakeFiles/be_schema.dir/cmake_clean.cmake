file(REMOVE_RECURSE
  "CMakeFiles/be_schema.dir/number.cpp.o"
  "CMakeFiles/be_schema.dir/number.cpp.o.d"
  "CMakeFiles/be_schema.dir/raw_samples.cpp.o"
  "CMakeFiles/be_schema.dir/raw_samples.cpp.o.d"
  "CMakeFiles/be_schema.dir/results_io.cpp.o"
  "CMakeFiles/be_schema.dir/results_io.cpp.o.d"
  "CMakeFiles/be_schema.dir/results_schema.cpp.o"
  "CMakeFiles/be_schema.dir/results_schema.cpp.o.d"
  "libbe_schema.a"
  "libbe_schema.pdb"
)

# Per-language clean rules from dependency scanning.
foreach(lang CXX)
  include(CMakeFiles/be_schema.dir/cmake_clean_${lang}.cmake OPTIONAL)
endforeach()
