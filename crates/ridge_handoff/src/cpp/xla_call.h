// A kernel as an XLA FFI custom call: takes the region's inputs and what the original code made of them, gives the kernel's
// outputs, and keeps count of how the two differ.
//
// The including file says what goes in and out (`INPUTS`, `OUTPUTS`) and how the kernel is called (`call`).
// The count lies in a file that is mapped, so that it is whole whenever the program ends, however it ends.
#pragma once
#include <cfenv>
#include <chrono>
#include <cmath>
#include <mutex>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel.h"
#include "xla/ffi/api/ffi.h"

namespace emulated {

enum class Kind { real32, real64, truth, whole };

struct Port {
  xla::ffi::DataType type;
  Kind kind;
  bool is_signed;
  int bytes;
  int64_t count;
  std::vector<int64_t> dims;
};

// What is known of the values of one port; the reader of the file has the same order.
struct Values {
  uint64_t values, same, beyond, tiny, unlike;
  double largest, squares, energy, low, high;
};

struct Tally {
  uint64_t calls, kernel_ns;
  Values ports[1];
};

static std::mutex one_at_a_time;
static Tally* tally = nullptr;

#ifdef FIXED_WIDTH
static const double RANGE = std::ldexp(1.0, FIXED_INTEGER - 1);
#else
static const double RANGE = std::numeric_limits<double>::infinity();
#endif

// One array of the kernel: the caller's own where both have one type, else a copy in the kernel's numbers.
template <typename T, typename File> struct Array {
  File* file;
  size_t count;
  std::vector<T> copy;
  Array(const void* at, size_t size, bool is_read) : file(static_cast<File*>(const_cast<void*>(at))), count(size) {
    if constexpr (!std::is_same<T, File>::value) {
      copy.resize(count);
      if (is_read) for (size_t k = 0; k < count; ++k) copy[k] = hlo::convert<T>(file[k]);
    }
  }
  T* data() {
    if constexpr (std::is_same<T, File>::value) return file;
    else return copy.data();
  }
  void give() {
    if constexpr (!std::is_same<T, File>::value)
      for (size_t k = 0; k < count; ++k) file[k] = hlo::convert<File>(copy[k]);
  }
};

static double number(const Port& port, const void* data, int64_t at) {
  switch (port.kind) {
    case Kind::real32: return static_cast<const float*>(data)[at];
    case Kind::real64: return static_cast<const double*>(data)[at];
    case Kind::truth: return static_cast<const uint8_t*>(data)[at] != 0;
    case Kind::whole: break;
  }
  switch (port.bytes * (port.is_signed ? 1 : -1)) {
    case 1: return static_cast<const int8_t*>(data)[at];
    case 2: return static_cast<const int16_t*>(data)[at];
    case 4: return static_cast<const int32_t*>(data)[at];
    case 8: return static_cast<double>(static_cast<const int64_t*>(data)[at]);
    case -1: return static_cast<const uint8_t*>(data)[at];
    case -2: return static_cast<const uint16_t*>(data)[at];
    case -4: return static_cast<const uint32_t*>(data)[at];
    default: return static_cast<double>(static_cast<const uint64_t*>(data)[at]);
  }
}

static bool same_bits(const Port& port, const void* one, const void* other, int64_t at) {
  if (port.kind == Kind::truth) return number(port, one, at) == number(port, other, at);
  const char *a = static_cast<const char*>(one) + at * port.bytes, *b = static_cast<const char*>(other) + at * port.bytes;
  return std::memcmp(a, b, static_cast<size_t>(port.bytes)) == 0;
}

static void see(Values& kept, double value) {
  if (std::isfinite(value)) {
    kept.low = value < kept.low ? value : kept.low;
    kept.high = value > kept.high ? value : kept.high;
  }
}

static void see_input(const Port& port, const void* data, Values& kept) {
  const bool is_real = port.kind == Kind::real32 || port.kind == Kind::real64;
  for (int64_t at = 0; at < port.count; ++at) {
    const double value = number(port, data, at);
    see(kept, value);
    kept.beyond += is_real && !(std::fabs(value) < RANGE);
  }
  kept.values += static_cast<uint64_t>(port.count);
}

static void compare(const Port& port, const void* found, const void* original, Values& kept) {
  const bool is_real = port.kind == Kind::real32 || port.kind == Kind::real64;
  const double least = port.kind == Kind::real64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  for (int64_t at = 0; at < port.count; ++at) {
    const double expected = number(port, original, at), value = number(port, found, at);
    see(kept, expected);
    if (same_bits(port, found, original, at) || (expected != expected && value != value)) {
      kept.same += 1;
      kept.energy += std::isfinite(expected) ? expected * expected : 0;
    } else if (is_real && !(std::fabs(expected) < RANGE)) {
      kept.beyond += 1;
    } else if (!std::isfinite(value) || !std::isfinite(expected)) {
      kept.unlike += 1;
    } else {
      const double off = std::fabs(value - expected);
      kept.tiny += is_real && std::fabs(value) < least && std::fabs(expected) < least;
      kept.largest = off > kept.largest ? off : kept.largest;
      kept.squares += off * off;
      kept.energy += expected * expected;
    }
  }
  kept.values += static_cast<uint64_t>(port.count);
}

static void call(const void* const* in, void* const* out);

static void run(const std::vector<Port>& inputs, const std::vector<Port>& outputs, const void* const* in,
                const void* const* original, void* const* out) {
  std::lock_guard<std::mutex> only(one_at_a_time);
  // XLA's threads flush denormals; the kernel keeps them, as it does beside its vectors.
  std::fenv_t before;
  std::fegetenv(&before);
  std::fesetenv(FE_DFL_ENV);
  const auto began = std::chrono::steady_clock::now();
  call(in, out);
  const auto took = std::chrono::steady_clock::now() - began;
  if (tally) {
    tally->calls += 1;
    tally->kernel_ns += static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(took).count());
    for (size_t at = 0; at < inputs.size(); ++at) see_input(inputs[at], in[at], tally->ports[at]);
    for (size_t at = 0; at < outputs.size(); ++at)
      compare(outputs[at], out[at], original[at], tally->ports[inputs.size() + at]);
  }
  std::fesetenv(&before);
}

static bool fits(const Port& port, const xla::ffi::AnyBuffer& buffer) {
  const auto dims = buffer.dimensions();
  if (buffer.element_type() != port.type || dims.size() != port.dims.size()) return false;
  for (size_t at = 0; at < port.dims.size(); ++at)
    if (dims[at] != port.dims[at]) return false;
  return true;
}

static xla::ffi::Error handle(const std::vector<Port>& inputs, const std::vector<Port>& outputs,
                              xla::ffi::RemainingArgs args, xla::ffi::RemainingRets rets) {
  const auto wrong = [](const std::string& what) {
    return xla::ffi::Error(xla::ffi::ErrorCode::kInvalidArgument, "the emulated region got " + what);
  };
  if (args.size() != inputs.size() + outputs.size() || rets.size() != outputs.size()) return wrong("another number of arrays");
  std::vector<const void*> in, original;
  std::vector<void*> out;
  for (size_t at = 0; at < args.size(); ++at) {
    const auto buffer = args.get<xla::ffi::AnyBuffer>(at);
    const bool is_input = at < inputs.size();
    if (!buffer.has_value() || !fits(is_input ? inputs[at] : outputs[at - inputs.size()], *buffer))
      return wrong("an array of another type or shape");
    (is_input ? in : original).push_back(buffer->untyped_data());
  }
  for (size_t at = 0; at < rets.size(); ++at) {
    auto buffer = rets.get<xla::ffi::AnyBuffer>(at);
    if (!buffer.has_value() || !fits(outputs[at], **buffer)) return wrong("a result of another type or shape");
    out.push_back((*buffer)->untyped_data());
  }
  run(inputs, outputs, in.data(), original.data(), out.data());
  return xla::ffi::Error::Success();
}

// Keeps count in a new file at `path` from now on; 0 where that works.
static int count_in(const char* path, size_t inputs, size_t outputs) {
  std::lock_guard<std::mutex> only(one_at_a_time);
  const size_t ports = inputs + outputs;
  const size_t bytes = offsetof(Tally, ports) + ports * sizeof(Values);
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) return 1;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (at == MAP_FAILED) return 1;
  tally = static_cast<Tally*>(at);
  for (size_t port = 0; port < ports; ++port) {
    tally->ports[port].low = std::numeric_limits<double>::infinity();
    tally->ports[port].high = -std::numeric_limits<double>::infinity();
  }
  return 0;
}

}  // namespace emulated
