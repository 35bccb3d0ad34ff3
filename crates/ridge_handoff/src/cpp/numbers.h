// Numbers of the generated code: every operation rounded once to its own type, as XLA defines it where C++ does not.
//
// Compile with -ffp-contract=off: a multiply and an add that become one are another result.
// With -DFIXED_WIDTH=16 -DFIXED_INTEGER=8 real numbers are fixed point, as ap_fixed<16, 8, AP_RND, AP_SAT>.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace hlo {

template <int W, int I>
struct fixed {
  int64_t raw = 0;
  static constexpr int fraction = W - I;
  fixed() = default;
  explicit fixed(double value) {
    double scaled = std::floor(std::ldexp(value, fraction) + 0.5);
    if (scaled != scaled) { raw = 0; return; }
    raw = held(static_cast<__int128>(scaled > 1e18 ? 1e18 : scaled < -1e18 ? -1e18 : scaled)).raw;
  }
  static fixed held(__int128 wide) {
    const __int128 most = (static_cast<__int128>(1) << (W - 1)) - 1;
    fixed found;
    found.raw = static_cast<int64_t>(wide > most ? most : wide < -most - 1 ? -most - 1 : wide);
    return found;
  }
  double value() const { return std::ldexp(static_cast<double>(raw), -fraction); }
};

template <typename T> struct is_fixed : std::false_type {};
template <int W, int I> struct is_fixed<fixed<W, I>> : std::true_type {};
template <typename T> constexpr bool is_whole = std::is_integral<T>::value && !std::is_same<T, bool>::value;
template <typename T> constexpr bool is_real = std::is_floating_point<T>::value;

#define HLO_REAL template <typename T, std::enable_if_t<is_real<T>, int> = 0> inline
#define HLO_WHOLE template <typename T, std::enable_if_t<is_whole<T>, int> = 0> inline
#define HLO_FIXED template <int W, int I> inline

// Real numbers.
HLO_REAL T add(T a, T b) { return a + b; }
HLO_REAL T subtract(T a, T b) { return a - b; }
HLO_REAL T multiply(T a, T b) { return a * b; }
HLO_REAL T divide(T a, T b) { return a / b; }
HLO_REAL T remainder(T a, T b) { return std::fmod(a, b); }
HLO_REAL T none() { return std::numeric_limits<T>::quiet_NaN(); }
HLO_REAL T maximum(T a, T b) { return a != a || b != b ? none<T>() : a < b ? b : a; }
HLO_REAL T minimum(T a, T b) { return a != a || b != b ? none<T>() : b < a ? b : a; }
HLO_REAL T power(T a, T b) { return std::pow(a, b); }
HLO_REAL T atan2(T a, T b) { return std::atan2(a, b); }
HLO_REAL T abs(T a) { return std::fabs(a); }
HLO_REAL T negate(T a) { return -a; }
HLO_REAL T sign(T a) { return a > 0 ? T(1) : a < 0 ? T(-1) : a; }
HLO_REAL T floor(T a) { return std::floor(a); }
HLO_REAL T ceil(T a) { return std::ceil(a); }
HLO_REAL T round_away(T a) { return std::round(a); }
HLO_REAL T round_even(T a) { return std::nearbyint(a); }
HLO_REAL T sqrt(T a) { return std::sqrt(a); }
HLO_REAL T rsqrt(T a) { return T(1) / std::sqrt(a); }
HLO_REAL T cbrt(T a) { return std::cbrt(a); }
HLO_REAL T exp(T a) { return std::exp(a); }
HLO_REAL T expm1(T a) { return std::expm1(a); }
HLO_REAL T log(T a) { return std::log(a); }
HLO_REAL T log1p(T a) { return std::log1p(a); }
HLO_REAL T logistic(T a) { return T(1) / (T(1) + std::exp(-a)); }
HLO_REAL T sine(T a) { return std::sin(a); }
HLO_REAL T cosine(T a) { return std::cos(a); }
HLO_REAL T tan(T a) { return std::tan(a); }
HLO_REAL T tanh(T a) { return std::tanh(a); }
HLO_REAL bool is_finite(T a) { return std::isfinite(a); }
HLO_REAL bool eq(T a, T b) { return a == b; }
HLO_REAL bool ne(T a, T b) { return a != b; }
HLO_REAL bool lt(T a, T b) { return a < b; }
HLO_REAL bool le(T a, T b) { return a <= b; }
HLO_REAL bool gt(T a, T b) { return a > b; }
HLO_REAL bool ge(T a, T b) { return a >= b; }
// What is no number comes last.
HLO_REAL bool before(T a, T b) { return a < b || (b != b && a == a); }

// Whole numbers: two's complement, a division by zero gives all ones.
template <typename T> using bits_of = std::make_unsigned_t<T>;
HLO_WHOLE T add(T a, T b) { return T(bits_of<T>(a) + bits_of<T>(b)); }
HLO_WHOLE T subtract(T a, T b) { return T(bits_of<T>(a) - bits_of<T>(b)); }
HLO_WHOLE T multiply(T a, T b) { return T(uint64_t(a) * uint64_t(b)); }
HLO_WHOLE T divide(T a, T b) {
  if (b == 0) return T(-1);
  if (std::is_signed<T>::value && b == T(-1)) return T(bits_of<T>(0) - bits_of<T>(a));
  return T(a / b);
}
HLO_WHOLE T remainder(T a, T b) {
  if (b == 0) return a;
  if (std::is_signed<T>::value && b == T(-1)) return 0;
  return T(a % b);
}
HLO_WHOLE T maximum(T a, T b) { return a < b ? b : a; }
HLO_WHOLE T minimum(T a, T b) { return b <= a ? b : a; }
HLO_WHOLE T negate(T a) { return T(bits_of<T>(0) - bits_of<T>(a)); }
HLO_WHOLE T abs(T a) { return a < 0 ? negate(a) : a; }
HLO_WHOLE T sign(T a) { return T(a > 0) - T(a < 0); }
HLO_WHOLE T not_(T a) { return T(~a); }
HLO_WHOLE T and_(T a, T b) { return T(a & b); }
HLO_WHOLE T or_(T a, T b) { return T(a | b); }
HLO_WHOLE T xor_(T a, T b) { return T(a ^ b); }
HLO_WHOLE bool shifts_out(T by) { return by < 0 || uint64_t(by) >= sizeof(T) * 8; }
HLO_WHOLE T shift_left(T a, T by) { return shifts_out(by) ? T(0) : T(bits_of<T>(a) << by); }
HLO_WHOLE T shift_right(T a, T by) { return shifts_out(by) ? T(a < 0 ? -1 : 0) : T(a >> by); }
HLO_WHOLE T shift_right_logical(T a, T by) { return shifts_out(by) ? T(0) : T(bits_of<T>(a) >> by); }
HLO_WHOLE bool eq(T a, T b) { return a == b; }
HLO_WHOLE bool ne(T a, T b) { return a != b; }
HLO_WHOLE bool lt(T a, T b) { return a < b; }
HLO_WHOLE bool le(T a, T b) { return a <= b; }
HLO_WHOLE bool gt(T a, T b) { return a > b; }
HLO_WHOLE bool ge(T a, T b) { return a >= b; }
HLO_WHOLE bool before(T a, T b) { return a < b; }

// Truth.
inline bool not_(bool a) { return !a; }
inline bool and_(bool a, bool b) { return a && b; }
inline bool or_(bool a, bool b) { return a || b; }
inline bool xor_(bool a, bool b) { return a != b; }
inline bool add(bool a, bool b) { return a || b; }
inline bool multiply(bool a, bool b) { return a && b; }
inline bool maximum(bool a, bool b) { return a || b; }
inline bool minimum(bool a, bool b) { return a && b; }
inline bool eq(bool a, bool b) { return a == b; }
inline bool ne(bool a, bool b) { return a != b; }
inline bool lt(bool a, bool b) { return a < b; }
inline bool le(bool a, bool b) { return a <= b; }
inline bool gt(bool a, bool b) { return a > b; }
inline bool ge(bool a, bool b) { return a >= b; }
inline bool before(bool a, bool b) { return a < b; }

// Fixed point.
#define HLO_F fixed<W, I>
HLO_FIXED HLO_F add(HLO_F a, HLO_F b) { return HLO_F::held(static_cast<__int128>(a.raw) + b.raw); }
HLO_FIXED HLO_F subtract(HLO_F a, HLO_F b) { return HLO_F::held(static_cast<__int128>(a.raw) - b.raw); }
HLO_FIXED HLO_F multiply(HLO_F a, HLO_F b) {
  const __int128 half = HLO_F::fraction == 0 ? 0 : static_cast<__int128>(1) << (HLO_F::fraction > 0 ? HLO_F::fraction - 1 : 0);
  return HLO_F::held((static_cast<__int128>(a.raw) * b.raw + half) >> HLO_F::fraction);
}
HLO_FIXED HLO_F divide(HLO_F a, HLO_F b) {
  __int128 over = a.raw, under = b.raw;
  if (under == 0) return HLO_F::held(static_cast<__int128>((over > 0) - (over < 0)) * (static_cast<__int128>(1) << 64));
  if (under < 0) { over = -over; under = -under; }
  // Rounded down, with half a unit more: to the nearest.
  const __int128 wide = over * (static_cast<__int128>(2) << HLO_F::fraction) + under, twice = 2 * under;
  return HLO_F::held(wide / twice - (wide % twice < 0 ? 1 : 0));
}
HLO_FIXED HLO_F maximum(HLO_F a, HLO_F b) { return a.raw < b.raw ? b : a; }
HLO_FIXED HLO_F minimum(HLO_F a, HLO_F b) { return b.raw < a.raw ? b : a; }
HLO_FIXED HLO_F negate(HLO_F a) { return HLO_F::held(-static_cast<__int128>(a.raw)); }
HLO_FIXED HLO_F abs(HLO_F a) { return a.raw < 0 ? negate(a) : a; }
#define HLO_BY_DOUBLE(name) HLO_FIXED HLO_F name(HLO_F a) { return HLO_F(name(a.value())); }
HLO_BY_DOUBLE(sign) HLO_BY_DOUBLE(floor) HLO_BY_DOUBLE(ceil) HLO_BY_DOUBLE(round_away) HLO_BY_DOUBLE(round_even)
HLO_BY_DOUBLE(sqrt) HLO_BY_DOUBLE(rsqrt) HLO_BY_DOUBLE(cbrt) HLO_BY_DOUBLE(exp) HLO_BY_DOUBLE(expm1) HLO_BY_DOUBLE(log)
HLO_BY_DOUBLE(log1p) HLO_BY_DOUBLE(logistic) HLO_BY_DOUBLE(sine) HLO_BY_DOUBLE(cosine) HLO_BY_DOUBLE(tan) HLO_BY_DOUBLE(tanh)
#define HLO_TWO_BY_DOUBLE(name) HLO_FIXED HLO_F name(HLO_F a, HLO_F b) { return HLO_F(name(a.value(), b.value())); }
HLO_TWO_BY_DOUBLE(remainder) HLO_TWO_BY_DOUBLE(power) HLO_TWO_BY_DOUBLE(atan2)
HLO_FIXED bool is_finite(HLO_F) { return true; }
HLO_FIXED bool eq(HLO_F a, HLO_F b) { return a.raw == b.raw; }
HLO_FIXED bool ne(HLO_F a, HLO_F b) { return a.raw != b.raw; }
HLO_FIXED bool lt(HLO_F a, HLO_F b) { return a.raw < b.raw; }
HLO_FIXED bool le(HLO_F a, HLO_F b) { return a.raw <= b.raw; }
HLO_FIXED bool gt(HLO_F a, HLO_F b) { return a.raw > b.raw; }
HLO_FIXED bool ge(HLO_F a, HLO_F b) { return a.raw >= b.raw; }
HLO_FIXED bool before(HLO_F a, HLO_F b) { return a.raw < b.raw; }

template <typename T> inline T select(bool choice, T yes, T no) { return choice ? yes : no; }
template <typename T> inline T clamp(T low, T value, T high) { return minimum(maximum(value, low), high); }

// From one type to another.
template <typename To, typename From> inline To convert(From value) {
  if constexpr (std::is_same<To, From>::value) {
    return value;
  } else if constexpr (is_fixed<From>::value && is_fixed<To>::value) {
    return value;
  } else if constexpr (is_fixed<From>::value) {
    return convert<To>(value.value());
  } else if constexpr (is_fixed<To>::value) {
    return To(static_cast<double>(value));
  } else if constexpr (std::is_same<To, bool>::value) {
    return value != From(0);
  } else if constexpr (is_real<From> && is_whole<To>) {
    if (value != value) return 0;
    if (value >= std::ldexp(From(1), std::numeric_limits<To>::digits)) return std::numeric_limits<To>::max();
    if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}
template <typename To, typename From> inline To bits(From value) {
  static_assert(!is_fixed<From>::value, "fixed point has no bits of its own");
  // The bits are those of the program's own type, whose number is then brought into the format.
  using Real = std::conditional_t<sizeof(From) == 8, double, float>;
  using Found = std::conditional_t<is_fixed<To>::value, Real, To>;
  static_assert(sizeof(Found) == sizeof(From), "bits of another width");
  Found found;
  std::memcpy(&found, &value, sizeof found);
  if constexpr (is_fixed<To>::value) {
    return To(static_cast<double>(found));
  } else {
    return found;
  }
}

// A start, or -1 where it is not inside.
template <typename T> inline int64_t inside(T at, int64_t most) {
  if (std::is_same<T, uint64_t>::value && uint64_t(at) > uint64_t(most)) return -1;
  return int64_t(at) < 0 || int64_t(at) > most ? -1 : int64_t(at);
}

// A start that stays inside.
template <typename T> inline int64_t start(T at, int64_t most) {
  if (std::is_same<T, uint64_t>::value && uint64_t(at) > uint64_t(most)) return most;
  return int64_t(at) < 0 ? 0 : int64_t(at) > most ? most : int64_t(at);
}

// Puts two in order.
template <typename T> inline void exchange_total(T& low, T& high) {
  if (before(high, low)) { T kept = low; low = high; high = kept; }
}
template <typename T> inline void exchange_less(T& low, T& high) {
  if (lt(high, low)) { T kept = low; low = high; high = kept; }
}
template <typename T> inline void exchange_greater(T& low, T& high) {
  if (gt(high, low)) { T kept = low; low = high; high = kept; }
}

}  // namespace hlo

#ifdef FIXED_WIDTH
typedef hlo::fixed<FIXED_WIDTH, FIXED_INTEGER> F32;
typedef hlo::fixed<FIXED_WIDTH, FIXED_INTEGER> F64;
#else
typedef float F32;
typedef double F64;
#endif
