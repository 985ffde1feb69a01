# `cmake --install`: the command, its manual and completions (component `command`), and the engine as a library that
# `find_package(gpustrata)` finds (component `library`; tests/install uses it from outside).
include(GNUInstallDirs)

install(TARGETS gpustrata RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
install(FILES ${PROJECT_SOURCE_DIR}/build/site/gpustrata.html DESTINATION ${CMAKE_INSTALL_DATADIR}/gpustrata
        COMPONENT command OPTIONAL)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command)
# Written by the command that was just built.
install(CODE "
  set(root \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  foreach(file IN ITEMS
      \"share/man/man1/gpustrata.1|\"
      \"share/bash-completion/completions/gpustrata|--completions=bash\"
      \"share/zsh/site-functions/_gpustrata|--completions=zsh\"
      \"share/fish/vendor_completions.d/gpustrata.fish|--completions=fish\")
    string(REPLACE \"|\" \";\" file \"\${file}\")
    list(POP_FRONT file path)
    cmake_path(GET path PARENT_PATH folder)
    file(MAKE_DIRECTORY \"\${root}/\${folder}\")
    execute_process(COMMAND \"$<TARGET_FILE:gpustrata>\" manual \${file} OUTPUT_FILE \"\${root}/\${path}\"
                    COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS \"Installing: \${root}/\${path}\")
  endforeach()
" COMPONENT command)

# The engine is static, and so are the libraries it holds; none of them is anybody else's to find.
set(library_folder ${CMAKE_INSTALL_LIBDIR}/gpustrata)
set(header_folder ${CMAKE_INSTALL_INCLUDEDIR}/gpustrata)
foreach(library IN ITEMS engine zlib zstd simdjson)
  install(FILES $<TARGET_FILE:gpustrata_${library}> DESTINATION ${library_folder} COMPONENT library)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/engine DESTINATION ${header_folder} COMPONENT library
        FILES_MATCHING PATTERN "*.h" PATTERN arrow EXCLUDE PATTERN cli EXCLUDE PATTERN fleet EXCLUDE PATTERN serve EXCLUDE PATTERN libraries EXCLUDE)
install(DIRECTORY ${staged_include}/ DESTINATION ${header_folder} COMPONENT library)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${header_folder} COMPONENT library)

set(GPUSTRATA_LINK_OPTIONS "")
if(GPUSTRATA_SANITIZE)
  set(GPUSTRATA_LINK_OPTIONS "-fsanitize=address,undefined")
endif()
file(RELATIVE_PATH GPUSTRATA_UP /${library_folder}/cmake /)
include(CMakePackageConfigHelpers)
configure_file(${CMAKE_CURRENT_LIST_DIR}/gpustrataConfig.cmake.in ${PROJECT_BINARY_DIR}/gpustrataConfig.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gpustrataConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gpustrataConfig.cmake ${PROJECT_BINARY_DIR}/gpustrataConfigVersion.cmake
        DESTINATION ${library_folder}/cmake COMPONENT library)
