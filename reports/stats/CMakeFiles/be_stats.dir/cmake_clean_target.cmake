file(REMOVE_RECURSE
  "libbe_stats.a"
)
