// A card as a host sees it: registers, and memory that both reach. `open_device` is what a shared library exports.
#pragma once
#include <cstddef>
#include <cstdint>

struct Device {
  virtual ~Device() {}
  virtual void write_register(uint32_t address, uint32_t word) = 0;
  virtual uint32_t read_register(uint32_t address) = 0;
  // Memory of so many bytes, by its address on the card, which is one of a whole beat.
  virtual uint64_t allocate(size_t bytes) = 0;
  virtual void to_card(uint64_t address, const void* bytes, size_t count) = 0;
  virtual void from_card(uint64_t address, void* bytes, size_t count) = 0;
  // What broke a rule of the bus, where somebody looks; 0 on a real card.
  virtual int broken_rules() { return 0; }
};

// `how`: of a simulation how its memory behaves, of a board the file that configures it. Null where there is none.
extern "C" Device* open_device(const char* how);
