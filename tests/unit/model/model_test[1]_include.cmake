if(EXISTS "/tmp/rep/model_test")
  if(NOT EXISTS "/tmp/rep/tests/unit/model/model_test[1]_tests.cmake" OR
     NOT "/tmp/rep/tests/unit/model/model_test[1]_tests.cmake" IS_NEWER_THAN "/tmp/rep/model_test" OR
     NOT "/tmp/rep/tests/unit/model/model_test[1]_tests.cmake" IS_NEWER_THAN "${CMAKE_CURRENT_LIST_FILE}")
    include("/usr/share/cmake-3.25/Modules/GoogleTestAddTests.cmake")
    gtest_discover_tests_impl(
      TEST_EXECUTABLE [==[/tmp/rep/model_test]==]
      TEST_EXECUTOR [==[]==]
      TEST_WORKING_DIR [==[/tmp/rep/tests/unit/model]==]
      TEST_EXTRA_ARGS [==[]==]
      TEST_PROPERTIES [==[LABELS;unit;TIMEOUT;300]==]
      TEST_PREFIX [==[]==]
      TEST_SUFFIX [==[]==]
      TEST_FILTER [==[]==]
      NO_PRETTY_TYPES [==[FALSE]==]
      NO_PRETTY_VALUES [==[FALSE]==]
      TEST_LIST [==[model_test_TESTS]==]
      CTEST_FILE [==[/tmp/rep/tests/unit/model/model_test[1]_tests.cmake]==]
      TEST_DISCOVERY_TIMEOUT [==[60]==]
      TEST_XML_OUTPUT_DIR [==[]==]
    )
  endif()
  include("/tmp/rep/tests/unit/model/model_test[1]_tests.cmake")
else()
  add_test(model_test_NOT_BUILT model_test_NOT_BUILT)
endif()
