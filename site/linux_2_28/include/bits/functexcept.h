// libstdc++'s own, without what programs have to find in one of GCC 11 and newer.
#include_next <bits/functexcept.h>
#pragma once

namespace std {

inline void __throw_bad_array_new_length() { __throw_bad_alloc(); }

}  // namespace std
