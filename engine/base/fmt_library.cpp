// The compiled part of {fmt}, once per program.
//
// {fmt} is used from its headers alone, because em++ has no compiled one. Compiled into every file it would
// cost seconds each; here it costs them once, and all other files see declarations only.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// Only for hexadecimal reals, which nobody here writes; {fmt}'s own would link printf.
template <>
auto snprintf_float(double, int, float_specs, buffer<char>&) -> int {
  return 0;
}

// What format.h declares `extern template` and this engine uses: text is always char.
template FMT_API void buffer<char>::append(const char*, const char*);
template FMT_API auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
template FMT_API auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;
template FMT_API void vformat_to(buffer<char>&, string_view, basic_format_args<FMT_BUFFER_CONTEXT(char)>,
                                 locale_ref);

}  // namespace detail
FMT_END_NAMESPACE
