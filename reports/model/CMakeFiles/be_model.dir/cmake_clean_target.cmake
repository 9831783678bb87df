file(REMOVE_RECURSE
  "libbe_model.a"
)
