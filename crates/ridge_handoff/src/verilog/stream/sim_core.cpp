// The clock of bench.v in Verilator.
#include "Vbench.h"
#include "verilated.h"

static double now = 0;
double sc_time_stamp() { return now; }

int main() {
  Vbench* top = new Vbench;
  while (!top->is_over && !Verilated::gotFinish()) {
    for (int level = 0; level < 2; ++level) {
      top->clk = level;
      top->eval();
    }
    ++now;
  }
  const bool is_over = top->is_over;
  delete top;
  return is_over ? 0 : 1;
}
