// The clock of bench.v in Icarus Verilog.
`timescale 1ns/1ps
module tb_core;
  reg clk = 0;
  wire is_over;
  bench #(.FRAMES(@ICARUS_FRAMES@), .STALLED(@ICARUS_STALLED@)) bench(.clk(clk), .is_over(is_over));
  always #1 clk = ~clk;
  always @(posedge is_over) #4 $finish;
endmodule
