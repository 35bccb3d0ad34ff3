// The card on a board, by the Xilinx Runtime (XRT) 2.14 or newer: registers by xrt::ip, memory by xrt::bo.
//
// Nobody has run this: it needs a board, its platform and an .xclbin with the card in it.
#include "card.h"
#include "device.h"
#include <experimental/xrt_ip.h>
#include <stdexcept>
#include <utility>
#include <vector>
#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>

namespace {

class Board : public Device {
 public:
  explicit Board(const char* configuration)
      : device_(0), id_(device_.load_xclbin(configuration)), card_(device_, id_, "card") {}

  void write_register(uint32_t address, uint32_t word) override { card_.write_register(address, word); }
  uint32_t read_register(uint32_t address) override { return card_.read_register(address); }

  uint64_t allocate(size_t bytes) override {
    // Bank 0 is what the linker connects by default; `v++ --connectivity.sp` decides.
    buffers_.push_back(xrt::bo(device_, (bytes + 4095) / 4096 * 4096, xrt::bo::flags::normal, 0));
    return buffers_.back().address();
  }

  void to_card(uint64_t address, const void* bytes, size_t count) override {
    xrt::bo& buffer = at(address);
    buffer.write(bytes, count, 0);
    buffer.sync(XCL_BO_SYNC_BO_TO_DEVICE);
  }

  void from_card(uint64_t address, void* bytes, size_t count) override {
    xrt::bo& buffer = at(address);
    buffer.sync(XCL_BO_SYNC_BO_FROM_DEVICE);
    buffer.read(bytes, count, 0);
  }

 private:
  xrt::bo& at(uint64_t address) {
    for (xrt::bo& buffer : buffers_) {
      if (buffer.address() == address) return buffer;
    }
    throw std::out_of_range("no buffer begins there");
  }

  xrt::device device_;
  xrt::uuid id_;
  xrt::ip card_;
  std::vector<xrt::bo> buffers_;
};

}  // namespace

extern "C" Device* open_device(const char* how) {
  try {
    return new Board(how);
  } catch (...) {
    return nullptr;
  }
}
