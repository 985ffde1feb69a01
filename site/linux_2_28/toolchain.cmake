# For Linux systems with glibc 2.28 and newer (2018), x86-64 or aarch64, wherever it is built: clang, as zig brings it with the
# symbols of every glibc, and Debian's libstdc++.
#
#   cmake --preset native-release -DCMAKE_TOOLCHAIN_FILE=site/linux_2_28/toolchain.cmake -DGPUSTRATA_ZIG=PATH [-DGPUSTRATA_PROCESSOR=aarch64]
#
# libstdc++ because exceptions of libgpustrata_capture.so pass through PyTorch, which has it, too. What it wants of a newer
# glibc, or makes programs want of a newer one of itself, is in include/ and symbols.c.
set(CMAKE_SYSTEM_NAME Linux)
set(GPUSTRATA_PROCESSOR x86_64 CACHE STRING "x86_64 or aarch64")
set(CMAKE_SYSTEM_PROCESSOR ${GPUSTRATA_PROCESSOR})
set(GPUSTRATA_ZIG "" CACHE FILEPATH "The program zig")
set(GPUSTRATA_CCACHE "" CACHE FILEPATH "It does not know zig")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GPUSTRATA_PROCESSOR GPUSTRATA_ZIG)

set(target ${GPUSTRATA_PROCESSOR}-linux-gnu.2.28)
set(CMAKE_C_COMPILER ${GPUSTRATA_ZIG} cc -target ${target})
set(CMAKE_CXX_COMPILER ${GPUSTRATA_ZIG} c++ -target ${target})
set(triple ${GPUSTRATA_PROCESSOR}-linux-gnu)
if(GPUSTRATA_PROCESSOR STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
  set(libstdcxx_headers /usr/include/c++/12 /usr/include/${triple}/c++/12)
  set(libstdcxx_folder /usr/lib/gcc/${triple}/12)
  set(libgcc_folder /usr/lib/${triple})
else()
  set(libstdcxx_headers /usr/${triple}/include/c++/12 /usr/${triple}/include/c++/12/${triple})
  set(libstdcxx_folder /usr/lib/gcc-cross/${triple}/12)
  set(libgcc_folder /usr/${triple}/lib)
endif()
# Before the headers of the C library, which theirs include as the next of the same name.
list(PREPEND libstdcxx_headers ${CMAKE_CURRENT_LIST_DIR}/include)
list(TRANSFORM libstdcxx_headers PREPEND "-I" OUTPUT_VARIABLE include_flags)
list(JOIN include_flags " " include_flags)
set(own_flags "-g0 -fomit-frame-pointer") # zig would have both otherwise
set(CMAKE_C_FLAGS_INIT "${own_flags}")
set(CMAKE_CXX_FLAGS_INIT "${own_flags} -nostdinc++ ${include_flags}")
foreach(kind EXE SHARED MODULE)
  # Stripped here: the strip of the machine where this runs knows its own processor only.
  # Debian's own libraries want a newer glibc; those of the machine where this runs do not.
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-s -nostdlib++ -Wl,--as-needed -Wl,--allow-shlib-undefined")
endforeach()
# By their files: -lstdc++ is zig's own library to it.
set(CMAKE_CXX_STANDARD_LIBRARIES "${libstdcxx_folder}/libstdc++.so ${libgcc_folder}/libgcc_s.so.1")
set(GPUSTRATA_STATIC_LIBSTDCXX ${libstdcxx_folder}/libstdc++.a)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
