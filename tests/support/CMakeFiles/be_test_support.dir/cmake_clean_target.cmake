file(REMOVE_RECURSE
  "libbe_test_support.a"
)
