# Empty compiler generated dependencies file for be_test_support.
# This may be replaced when dependencies are built.
