# observers/COMMIT.so: python/gpustrata/observer.cpp compiled before a release against each PyTorch whose headers are in
# build/torch-headers (site/torch_headers.py). COMMIT is PyTorch's own (torch.version.git_version): _run/observe.py takes the
# one of the PyTorch that runs. Without headers there are none, and it is compiled where it runs.
add_custom_target(gpustrata_observers)
set(headers ${PROJECT_SOURCE_DIR}/build/torch-headers)
file(GLOB versions CONFIGURE_DEPENDS ${headers}/*/torch/version.py)
if(NOT versions)
  return()
endif()

# Stand-ins by which an observer says whose functions it calls. PyTorch's are loaded before it, and found by these names.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/nothing.c "")
foreach(name c10_cuda torch_cpu)
  add_library(gpustrata_${name} SHARED EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/nothing.c)
  set_target_properties(gpustrata_${name} PROPERTIES OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/named
                        LINKER_LANGUAGE C)
endforeach()

foreach(version_file ${versions})
  get_filename_component(torch ${version_file} DIRECTORY)
  file(STRINGS ${version_file} commit REGEX "^git_version = ")
  string(REGEX MATCH "[0-9a-f][0-9a-f][0-9a-f][0-9a-f]+" commit "${commit}")
  set(target gpustrata_observer_${commit})
  add_library(${target} MODULE EXCLUDE_FROM_ALL gpustrata/observer.cpp)
  target_include_directories(${target} SYSTEM PRIVATE ${torch}/include ${torch}/include/torch/csrc/api/include ${headers}/cuda/include
                             ${PROJECT_SOURCE_DIR}/capture)
  target_compile_definitions(${target} PRIVATE _GLIBCXX_USE_CXX11_ABI=1) # of all that are built for glibc 2.28
  target_compile_options(${target} PRIVATE -O2 -w -fno-sanitize=all)
  target_link_options(${target} PRIVATE -fno-sanitize=all)
  target_link_libraries(${target} PRIVATE -Wl,--no-as-needed gpustrata_c10_cuda gpustrata_torch_cpu -Wl,--as-needed)
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${commit} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/observers
                        SKIP_BUILD_RPATH ON)
  add_dependencies(gpustrata_observers ${target})
  if(SKBUILD)
    install(TARGETS ${target} LIBRARY DESTINATION gpustrata/observers COMPONENT wheel)
  endif()
endforeach()
