// Plays the golden vectors on a card and compares every result: `play LIBRARY [HOW]`.
//
// LIBRARY is the simulated card (`./simulated.so`; HOW is `steady` or `stalls`), or the board (`./xrt.so`; HOW is its .xclbin).
#include "card.h"
#include "device.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <string>
#include <vector>

using Bytes = std::vector<uint8_t>;

// How often a card is asked whether it is done: a simulated one is done after far fewer, a board after microseconds.
static const long MOST_LOOKS = 100000000;

// The words of a file, one a line in hexadecimal, each in a slot; frames begin at whole beats.
static Bytes frames_of(const char* path, size_t words, size_t slot, size_t frame_bytes) {
  std::ifstream file(path);
  std::string line;
  Bytes bytes(frame_bytes * FRAMES);
  for (size_t frame = 0; frame < FRAMES; ++frame) {
    for (size_t word = 0; word < words; ++word) {
      if (!std::getline(file, line)) {
        std::fprintf(stderr, "error: %s ends before frame %zu does\n", path, frame);
        std::exit(2);
      }
      uint8_t* to = &bytes[frame * frame_bytes + word * slot];
      for (size_t digit = 0; digit < line.size() && digit / 2 < slot; ++digit) {
        const char letter = line[line.size() - 1 - digit];
        const int value = letter <= '9' ? letter - '0' : (letter | 32) - 'a' + 10;
        to[digit / 2] |= uint8_t(value << (digit % 2 * 4));
      }
    }
  }
  return bytes;
}

static void write_address(Device& card, uint32_t reg, uint64_t address) {
  card.write_register(reg, uint32_t(address));
  card.write_register(reg + 4, uint32_t(address >> 32));
}

// Runs so many frames; false where the card does not end.
static bool run(Device& card, uint64_t from, uint64_t to, uint32_t frames) {
  write_address(card, FROM, from);
  write_address(card, TO, to);
  card.write_register(FRAMES_PER_START, frames);
  card.write_register(CONTROL, 1);
  for (long look = 0; look < MOST_LOOKS; ++look) {
    // Results are in memory only when the memory side has had every answer.
    if ((card.read_register(STATUS) & 3) == 3 && (card.read_register(MEMORY) & 1)) return true;
    if (card.broken_rules()) return false;
  }
  return false;
}

int main(int count, char** words) {
  if (count < 2) {
    std::fprintf(stderr, "usage: play LIBRARY [HOW]\n");
    return 2;
  }
  void* library = dlopen(words[1], RTLD_NOW);
  auto open = library ? reinterpret_cast<Device* (*)(const char*)>(dlsym(library, "open_device")) : nullptr;
  Device* card = open ? open(count > 2 ? words[2] : "") : nullptr;
  if (!card) {
    const char* why = dlerror();
    std::fprintf(stderr, "error: %s\n", why ? why : "the card cannot be opened");
    return 2;
  }
  if (card->read_register(ITEMS_IN) != ITEMS || card->read_register(ITEMS_OUT) != RESULTS) {
    std::fprintf(stderr, "error: the card is of another bundle: its frames have other sizes\n");
    return 2;
  }
  const Bytes items = frames_of("../rtl/core_x.hex", ITEMS, ITEM_SLOT, ITEM_FRAME);
  const Bytes expected = frames_of("../rtl/core_y.hex", RESULTS, RESULT_SLOT, RESULT_FRAME);
  const uint64_t from = card->allocate(items.size()), to = card->allocate(expected.size());
  card->to_card(from, items.data(), items.size());
  int wrong = 0;
  // All frames at once, then the first again: a start after a start.
  for (uint32_t frames : {uint32_t(FRAMES), 1u}) {
    Bytes results(expected.size(), 0xa5);
    card->to_card(to, results.data(), results.size());
    if (!run(*card, from, to, frames)) {
      std::printf("wrong: the card does not end\n");
      return 1;
    }
    card->from_card(to, results.data(), results.size());
    for (size_t frame = 0; frame < frames; ++frame) {
      for (size_t word = 0; word < RESULTS; ++word) {
        const size_t at = frame * RESULT_FRAME + word * RESULT_SLOT;
        if (std::memcmp(&results[at], &expected[at], RESULT_SLOT) != 0 && ++wrong < 20) {
          std::printf("wrong: result %zu of frame %zu\n", word, frame);
        }
      }
    }
    // Behind what was asked for, nothing is written.
    for (size_t at = frames * RESULT_FRAME; at < results.size(); ++at) {
      if (results[at] != 0xa5 && ++wrong < 20) std::printf("wrong: byte %zu behind the results is written\n", at);
    }
    if (card->read_register(MEMORY) != 1) {
      ++wrong;
      std::printf("wrong: a read or a write failed\n");
    }
    const uint32_t clocks = card->read_register(CLOCKS), taken = card->read_register(TAKEN);
    std::printf("%u frames: %u items in %u clocks, %u of them waiting for memory\n", frames, taken, clocks,
                card->read_register(WAITED_IN) + card->read_register(WAITED_OUT));
  }
  const int broken = card->broken_rules();
  std::printf("%d wrong, %d rules of the bus broken\n", wrong, broken);
  delete card;
  return wrong || broken ? 1 : 0;
}
