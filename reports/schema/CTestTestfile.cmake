# CMake generated Testfile for 
# Source directory: /tmp/rep/reports/schema
# Build directory: /tmp/rep/reports/schema
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
