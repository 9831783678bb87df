# CMake generated Testfile for 
# Source directory: /tmp/rep/reports/stats
# Build directory: /tmp/rep/reports/stats
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
