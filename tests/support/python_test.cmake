# python_test(LABEL NAME FILE [ENVIRONMENT VARIABLE=VALUE...] [TIMEOUT SECONDS] [LABELS MORE...] [ARGUMENTS OF_PYTEST...])
#
# Adds the test LABEL.NAME: pytest with FILE of the current folder, the command of this build, and the results of each
# of its tests in junit/LABEL.NAME.xml of the build folder, where tests/results.py counts them.
function(python_test label name file)
  cmake_parse_arguments(PARSE_ARGV 3 of "" "TIMEOUT" "ENVIRONMENT;LABELS;ARGUMENTS")
  if(NOT of_TIMEOUT)
    set(of_TIMEOUT 300)
  endif()
  add_test(NAME ${label}.${name}
           COMMAND ${Python3_EXECUTABLE} -m pytest -q -p no:cacheprovider
                   --junitxml=${PROJECT_BINARY_DIR}/junit/${label}.${name}.xml -o junit_suite_name=${label}.${name}
                   ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${of_ARGUMENTS})
  list(PREPEND of_LABELS ${label})
  list(PREPEND of_ENVIRONMENT PYTHONDONTWRITEBYTECODE=1 GPUSTRATA_TOOL=$<TARGET_FILE:gpustrata>)
  set_tests_properties(${label}.${name} PROPERTIES
    LABELS "${of_LABELS}" TIMEOUT ${of_TIMEOUT} ENVIRONMENT "${of_ENVIRONMENT}")
endfunction()
