# `cmake --install`: the command, its manual and completions (component `command`), and the engine as a library that
# `find_package(memstrata)` finds (component `library`; tests/install uses it from outside).
include(GNUInstallDirs)

install(TARGETS memstrata RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
install(FILES ${PROJECT_SOURCE_DIR}/build/site/memstrata.html DESTINATION ${CMAKE_INSTALL_DATADIR}/memstrata
        COMPONENT command OPTIONAL)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command)
# Written by the command that was just built.
install(CODE "
  set(root \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  foreach(file IN ITEMS
      \"share/man/man1/memstrata.1|\"
      \"share/bash-completion/completions/memstrata|--completions=bash\"
      \"share/zsh/site-functions/_memstrata|--completions=zsh\"
      \"share/fish/vendor_completions.d/memstrata.fish|--completions=fish\")
    string(REPLACE \"|\" \";\" file \"\${file}\")
    list(POP_FRONT file path)
    cmake_path(GET path PARENT_PATH folder)
    file(MAKE_DIRECTORY \"\${root}/\${folder}\")
    execute_process(COMMAND \"$<TARGET_FILE:memstrata>\" manual \${file} OUTPUT_FILE \"\${root}/\${path}\"
                    COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS \"Installing: \${root}/\${path}\")
  endforeach()
" COMPONENT command)

# The engine is static, and so are the libraries it holds; none of them is anybody else's to find.
set(library_folder ${CMAKE_INSTALL_LIBDIR}/memstrata)
set(header_folder ${CMAKE_INSTALL_INCLUDEDIR}/memstrata)
foreach(library IN ITEMS engine zlib zstd simdjson)
  install(FILES $<TARGET_FILE:memstrata_${library}> DESTINATION ${library_folder} COMPONENT library)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/engine DESTINATION ${header_folder} COMPONENT library
        FILES_MATCHING PATTERN "*.h" PATTERN arrow EXCLUDE PATTERN cli EXCLUDE PATTERN fleet EXCLUDE PATTERN serve EXCLUDE PATTERN libraries EXCLUDE)
install(DIRECTORY ${staged_include}/ DESTINATION ${header_folder} COMPONENT library)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${header_folder} COMPONENT library)

set(MEMSTRATA_LINK_OPTIONS "")
if(MEMSTRATA_SANITIZE)
  set(MEMSTRATA_LINK_OPTIONS "-fsanitize=address,undefined")
endif()
file(RELATIVE_PATH MEMSTRATA_UP /${library_folder}/cmake /)
include(CMakePackageConfigHelpers)
configure_file(${CMAKE_CURRENT_LIST_DIR}/memstrataConfig.cmake.in ${PROJECT_BINARY_DIR}/memstrataConfig.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/memstrataConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/memstrataConfig.cmake ${PROJECT_BINARY_DIR}/memstrataConfigVersion.cmake
        DESTINATION ${library_folder}/cmake COMPONENT library)
