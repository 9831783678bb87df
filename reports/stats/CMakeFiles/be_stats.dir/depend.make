# Empty dependencies file for be_stats.
# This may be replaced when dependencies are built.
