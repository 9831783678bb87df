# CMake generated Testfile for 
# Source directory: /tmp/rep/tests/unit/stats
# Build directory: /tmp/rep/tests/unit/stats
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
include("/tmp/rep/tests/unit/stats/stats_test[1]_include.cmake")
