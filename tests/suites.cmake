# One CTest entry a suite of a GoogleTest program, not one a test: starting a process takes longer than most tests.
#
#   add_suites(TARGET LABEL [SPLIT SUITE...] [LONG ENTRY...] [PROPERTIES NAME VALUE...])
#
# Entries are LABEL.SUITE; each writes its tests to junit/LABEL.SUITE.xml of the build folder, where their count is.
# Of a suite named in SPLIT each test is an entry, LABEL.SUITE.TEST, so that long ones run side by
# side. Instances of a suite with parameters are one entry. Entries in LONG start first.
function(add_suites target label)
  cmake_parse_arguments(PARSE_ARGV 2 given "" "" "SPLIT;LONG;PROPERTIES")
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
  file(GENERATE OUTPUT ${file} CONTENT "set(program [==[$<TARGET_FILE:${target}>]==])
set(label ${label})
set(split [==[${given_SPLIT}]==])
set(long [==[${given_LONG}]==])
set(properties [==[${given_PROPERTIES}]==])
set(junit [==[${PROJECT_BINARY_DIR}/junit]==])
include([==[${PROJECT_SOURCE_DIR}/tests/find_suites.cmake]==])
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()
