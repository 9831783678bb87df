# Empty dependencies file for schema_test.
# This may be replaced when dependencies are built.
