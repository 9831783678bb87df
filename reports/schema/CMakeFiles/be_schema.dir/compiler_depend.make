# Empty compiler generated dependencies file for be_schema.
# This may be replaced when dependencies are built.
