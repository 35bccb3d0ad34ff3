// The memories of the engine.

// A memory on the chip that is read a clock late; what is written now is read from the next clock on.
module bank #(parameter WIDTH = 8, parameter WORDS = 2, parameter BITS = 1) (
  input wire clk,
  input wire we,
  input wire [BITS-1:0] wa,
  input wire [WIDTH-1:0] wd,
  input wire [BITS-1:0] ra,
  output reg [WIDTH-1:0] q
);
  reg [WIDTH-1:0] cells [0:WORDS-1];
  always @(posedge clk) begin
    if (we) cells[wa] <= wd;
    q <= cells[ra];
  end
endmodule
