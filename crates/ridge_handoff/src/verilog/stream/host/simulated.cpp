// The card in Verilator, with a memory that answers late and, where it is asked to, stalls at random on every channel.
#include "Vcard.h"
#include "card.h"
#include "device.h"
#include "verilated.h"
#include <cstdio>
#include <cstring>
#include <deque>
#include <vector>

static double now = 0;
double sc_time_stamp() { return now; }

namespace {

constexpr uint64_t BASE = 0x4'0000'0000;
constexpr int LATENCY = 40;
// Clocks without a move on the bus after which the card is stuck: more than a core keeps items.
constexpr double STUCK = 1 << 22;

struct Burst {
  uint64_t address;
  int beats;
  double ready;
};

class Simulated : public Device {
 public:
  explicit Simulated(bool stalls) : stalls_(stalls) {
    card_.aresetn = 0;
    card_.s_axil_rready = 1;
    card_.s_axil_bready = 1;
    for (int clock = 0; clock < 5; ++clock) tick();
    card_.aresetn = 1;
  }

  void write_register(uint32_t address, uint32_t word) override {
    card_.s_axil_awaddr = address;
    card_.s_axil_wdata = word;
    card_.s_axil_wstrb = 15;
    card_.s_axil_awvalid = 1;
    card_.s_axil_wvalid = 1;
    until([&] { return card_.s_axil_awready && card_.s_axil_wready; });
    card_.s_axil_awvalid = 0;
    card_.s_axil_wvalid = 0;
    until([&] { return bool(card_.s_axil_bvalid); });
  }

  uint32_t read_register(uint32_t address) override {
    card_.s_axil_araddr = address;
    card_.s_axil_arvalid = 1;
    until([&] { return bool(card_.s_axil_arready); });
    card_.s_axil_arvalid = 0;
    uint32_t word = 0;
    until([&] { word = card_.s_axil_rdata; return bool(card_.s_axil_rvalid); });
    return word;
  }

  uint64_t allocate(size_t bytes) override {
    // Shortly before the end of a page, so that bursts have to end there, and with bytes of nobody around it.
    const size_t first = (memory_.size() / 4096 + 2) * 4096 - 3 * BUS_BYTES;
    memory_.resize(first + bytes);
    owned_.push_back({first, first + bytes});
    return BASE + first;
  }

  void to_card(uint64_t address, const void* bytes, size_t count) override {
    std::memcpy(&memory_[address - BASE], bytes, count);
  }

  void from_card(uint64_t address, void* bytes, size_t count) override {
    std::memcpy(bytes, &memory_[address - BASE], count);
  }

  int broken_rules() override { return broken_; }

 private:
  template <typename Met>
  void until(Met met) {
    for (int clock = 0; clock < 10000; ++clock) {
      card_.eval();
      const bool is_met = met();
      tick();
      if (is_met) return;
    }
    broke("a register does not answer");
  }

  bool stalls(int of_sixteen) {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 17;
    random_ ^= random_ << 5;
    return stalls_ && int(random_ % 16) < of_sixteen;
  }

  void broke(const char* rule) {
    if (++broken_ < 20) std::printf("wrong: clock %.0f: %s\n", now, rule);
  }

  // Whether all of a burst is memory of one owner, and in one page.
  bool is_owned(uint64_t address, int beats) const {
    const uint64_t size = uint64_t(beats) * BUS_BYTES, end = address - BASE + size;
    if (address / 4096 != (address + size - 1) / 4096 || address % BUS_BYTES != 0) return false;
    for (const auto& [first, last] : owned_) {
      if (address >= BASE + first && end <= last) return true;
    }
    return false;
  }

  void tick() {
    // Before the edge: what each side shows.
    card_.m_axi_arready = reads_.size() < 8 && !stalls(8);
    card_.m_axi_awready = writes_.size() < 4 && !stalls(8);
    // A value that is shown stays until it is taken.
    if (!shows_read_) {
      shows_read_ = !reads_.empty() && reads_.front().ready <= now && !stalls(14);
      if (shows_read_) std::memcpy(bus(card_.m_axi_rdata), &memory_[reads_.front().address - BASE], BUS_BYTES);
    }
    card_.m_axi_rvalid = shows_read_;
    card_.m_axi_rlast = shows_read_ && reads_.front().beats == 1;
    if (!shows_answer_) shows_answer_ = !answers_.empty() && answers_.front() <= now && !stalls(6);
    card_.m_axi_bvalid = shows_answer_;
    // Data that come before their address wait for it.
    card_.m_axi_wready = !writes_.empty() && !stalls(14);
    card_.eval();

    const bool asks = card_.m_axi_arvalid, gives = card_.m_axi_awvalid, has_data = card_.m_axi_wvalid;
    if (card_.aresetn) {
      if (asked_ && !(asks && card_.m_axi_araddr == araddr_ && card_.m_axi_arlen == arlen_)) broke("ar changes while it waits");
      if (given_ && !(gives && card_.m_axi_awaddr == awaddr_ && card_.m_axi_awlen == awlen_)) broke("aw changes while it waits");
      if (had_data_ && !(has_data && std::memcmp(bus(card_.m_axi_wdata), wdata_, BUS_BYTES) == 0)) broke("w changes while it waits");
    }
    asked_ = card_.aresetn && asks && !card_.m_axi_arready;
    given_ = card_.aresetn && gives && !card_.m_axi_awready;
    had_data_ = card_.aresetn && has_data && !card_.m_axi_wready;
    araddr_ = card_.m_axi_araddr;
    arlen_ = card_.m_axi_arlen;
    awaddr_ = card_.m_axi_awaddr;
    awlen_ = card_.m_axi_awlen;
    std::memcpy(wdata_, bus(card_.m_axi_wdata), BUS_BYTES);

    if (shows_read_ && card_.m_axi_rready) {
      shows_read_ = false;
      reads_.front().address += BUS_BYTES;
      if (--reads_.front().beats == 0) reads_.pop_front();
    }
    if (card_.aresetn && asks && card_.m_axi_arready) {
      const int beats = card_.m_axi_arlen + 1;
      if (is_owned(card_.m_axi_araddr, beats)) reads_.push_back({card_.m_axi_araddr, beats, now + LATENCY});
      else broke("a read beyond its memory or its page");
    }
    if (shows_answer_ && card_.m_axi_bready) {
      shows_answer_ = false;
      answers_.pop_front();
    }
    if (has_data && card_.m_axi_wready) {
      Burst& burst = writes_.front();
      if (bool(card_.m_axi_wlast) != (burst.beats == 1)) broke("wlast");
      std::memcpy(&memory_[burst.address - BASE], wdata_, BUS_BYTES);
      burst.address += BUS_BYTES;
      if (--burst.beats == 0) {
        writes_.pop_front();
        answers_.push_back(now + LATENCY);
      }
    }
    if (card_.aresetn && gives && card_.m_axi_awready) {
      const int beats = card_.m_axi_awlen + 1;
      if (is_owned(card_.m_axi_awaddr, beats)) writes_.push_back({card_.m_axi_awaddr, beats, now});
      else broke("a write beyond its memory or its page");
    }
    if (asks || gives || has_data || shows_read_ || shows_answer_) moved_ = now;
    if (now - moved_ == STUCK) broke("nothing moves any more");
    card_.aclk = 1;
    card_.eval();
    card_.aclk = 0;
    card_.eval();
    ++now;
  }

  static void* bus(QData& data) { return &data; }
  template <std::size_t WORDS>
  static void* bus(VlWide<WORDS>& data) { return data.data(); }

  Vcard card_;
  const bool stalls_;
  uint32_t random_ = 0x2545f491;
  std::vector<uint8_t> memory_;
  std::vector<std::pair<size_t, size_t>> owned_;
  std::deque<Burst> reads_, writes_;
  std::deque<double> answers_;
  double moved_ = 0;
  bool shows_read_ = false, shows_answer_ = false, asked_ = false, given_ = false, had_data_ = false;
  uint64_t araddr_ = 0, awaddr_ = 0;
  int arlen_ = 0, awlen_ = 0, broken_ = 0;
  uint8_t wdata_[BUS_BYTES] = {};
};

}  // namespace

extern "C" Device* open_device(const char* how) {
  const bool stalls = std::strcmp(how, "stalls") == 0;
  return stalls || !*how || std::strcmp(how, "steady") == 0 ? new Simulated(stalls) : nullptr;
}
