# CMake generated Testfile for 
# Source directory: /tmp/rep/tests/support
# Build directory: /tmp/rep/tests/support
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
