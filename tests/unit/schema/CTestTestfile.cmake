# CMake generated Testfile for 
# Source directory: /tmp/rep/tests/unit/schema
# Build directory: /tmp/rep/tests/unit/schema
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
include("/tmp/rep/tests/unit/schema/schema_test[1]_include.cmake")
