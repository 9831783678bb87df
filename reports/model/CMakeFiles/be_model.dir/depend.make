# Empty dependencies file for be_model.
# This may be replaced when dependencies are built.
