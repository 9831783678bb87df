# One library a folder: every .cpp in it, linked to the libraries before it. OWN_HEADER: the folder
# precompiles another header than the common one. The include lint
# (scripts/lint_includes.py) holds the same order against the #include lines.
function(be_library name)
  cmake_parse_arguments(ARG "OWN_HEADER" "" "DEPS;PRIVATE_DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE be_flags ${ARG_PRIVATE_DEPS})
  if(NOT ARG_OWN_HEADER)
    be_precompile(${name})
  endif()
endfunction()

# The standard headers that nearly every file reads, parsed once. The first library makes the header;
# targets with the same flags share it.
function(be_precompile name)
  if(TARGET be_support AND NOT name STREQUAL be_support)
    target_precompile_headers(${name} REUSE_FROM be_support)
  else()
    target_precompile_headers(${name} PRIVATE <algorithm> <cstdint> <filesystem> <functional> <map>
                              <memory> <optional> <set> <span> <sstream> <stdexcept> <string>
                              <string_view> <unordered_map> <utility> <variant> <vector>)
  endif()
endfunction()

# A GoogleTest program from the given sources. TORCH programs take most of a second to load, so they
# are one ctest entry each; the others are one entry a case.
function(be_test name)
  cmake_parse_arguments(ARG "ONE_ENTRY" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE be_flags ${ARG_DEPS} GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE BREAKEVEN_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                             BREAKEVEN_BINARY_DIR="${CMAKE_BINARY_DIR}")
  if(ARG_ONE_ENTRY)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 600)
  else()
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 300)
  endif()
endfunction()

add_library(be_flags INTERFACE)
# -fpch-preprocess lets ccache see through a precompiled header.
target_compile_options(be_flags INTERFACE -fpch-preprocess -Wall -Wextra -Wno-unused-parameter
                       -Wno-missing-field-initializers)
if(BREAKEVEN_WERROR)
  target_compile_options(be_flags INTERFACE -Werror)
endif()
if(BREAKEVEN_SANITIZE)
  add_compile_options(-fsanitize=${BREAKEVEN_SANITIZE} -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${BREAKEVEN_SANITIZE})
endif()
