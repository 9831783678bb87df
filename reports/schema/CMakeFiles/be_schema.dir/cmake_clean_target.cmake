file(REMOVE_RECURSE
  "libbe_schema.a"
)
