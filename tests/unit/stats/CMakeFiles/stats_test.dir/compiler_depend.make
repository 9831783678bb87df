# Empty compiler generated dependencies file for stats_test.
# This may be replaced when dependencies are built.
