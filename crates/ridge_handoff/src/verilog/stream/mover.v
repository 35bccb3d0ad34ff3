// Between the memory of a board and the streams of a core, by AXI4. Frames lie one behind the other, each from a whole beat
// on; an item has a slot of its own, the first one lowest.

// Reads frames and hands out their items. It asks only for what its queue has room for, so rready never falls.
module reader #(
  parameter BUS = 64,
  parameter SLOT = 32,
  parameter ITEMS = 1,
  parameter BURST = 64,
  parameter BITS = 8
) (
  input wire clk,
  input wire reset,
  input wire starts,
  input wire [63:0] base,
  input wire [31:0] frames,
  output wire is_busy,
  output reg has_failed,
  output reg [63:0] araddr,
  output reg [7:0] arlen,
  output reg arvalid,
  input wire arready,
  input wire [BUS-1:0] rdata,
  input wire [1:0] rresp,
  input wire rvalid,
  output wire rready,
  output wire [SLOT-1:0] tdata,
  output wire tlast,
  output wire tvalid,
  input wire tready
);
  localparam PER = BUS / SLOT, BEATS = (ITEMS + PER - 1) / PER, BYTES = BUS / 8, PLACES = 1 << BITS;

  // What is asked for next. A burst ends with its frame, and where a page of 4096 bytes ends.
  reg [63:0] at;
  reg [31:0] frames_left, beats_left;
  wire [31:0] to_page = (32'd4096 - {20'd0, at[11:0]}) / BYTES;
  wire [31:0] in_page = beats_left < to_page ? beats_left : to_page;
  wire [31:0] burst = in_page < BURST ? in_page : BURST;
  // Places of the queue that are full or asked for.
  reg [BITS:0] taken;
  wire asks = frames_left != 0 && (!arvalid || arready) && taken + burst <= PLACES;

  reg [BUS-1:0] queue [0:PLACES-1];
  reg [BITS:0] first, next;
  reg [31:0] lane, item;
  wire is_last = item == ITEMS - 1;
  wire gives = tvalid && tready;
  wire frees = gives && (is_last || lane == PER - 1);
  wire [BUS-1:0] beat = queue[first[BITS-1:0]];
  assign rready = 1'b1;
  assign tvalid = first != next;
  assign tdata = beat[lane * SLOT +: SLOT];
  assign tlast = is_last;
  assign is_busy = frames_left != 0 || arvalid || taken != 0;
  always @(posedge clk) begin
    if (arready) arvalid <= 0;
    if (asks) begin
      arvalid <= 1;
      araddr <= at;
      arlen <= burst - 1;
      at <= at + burst * BYTES;
      beats_left <= beats_left == burst ? BEATS : beats_left - burst;
      if (beats_left == burst) frames_left <= frames_left - 1;
    end
    taken <= taken + (asks ? burst : 0) - (frees ? 1'b1 : 1'b0);
    if (rvalid) begin
      queue[next[BITS-1:0]] <= rdata;
      next <= next + 1'b1;
      if (rresp != 2'b00) has_failed <= 1;
    end
    if (gives) begin
      item <= is_last ? 0 : item + 1;
      lane <= frees ? 0 : lane + 1;
    end
    if (frees) first <= first + 1'b1;
    if (starts) begin
      at <= base;
      frames_left <= frames;
      beats_left <= BEATS;
      has_failed <= 0;
    end
    if (reset) begin
      arvalid <= 0;
      frames_left <= 0;
      taken <= 0;
      first <= 0;
      next <= 0;
      lane <= 0;
      item <= 0;
      has_failed <= 0;
    end
  end
endmodule

// Takes results and writes frames. A burst begins when all of its beats are there, so wvalid never falls within one.
module writer #(
  parameter BUS = 64,
  parameter SLOT = 32,
  parameter ITEMS = 1,
  parameter BURST = 64,
  parameter BITS = 8
) (
  input wire clk,
  input wire reset,
  input wire starts,
  input wire [63:0] base,
  input wire [31:0] frames,
  output wire is_busy,
  output reg has_failed,
  output reg [63:0] awaddr,
  output reg [7:0] awlen,
  output reg awvalid,
  input wire awready,
  output wire [BUS-1:0] wdata,
  output wire wlast,
  output wire wvalid,
  input wire wready,
  input wire [1:0] bresp,
  input wire bvalid,
  output wire bready,
  input wire [SLOT-1:0] tdata,
  input wire tvalid,
  output wire tready
);
  localparam PER = BUS / SLOT, BEATS = (ITEMS + PER - 1) / PER, BYTES = BUS / 8, PLACES = 1 << BITS;

  reg [BUS-1:0] queue [0:PLACES-1];
  reg [BITS:0] first, next;
  wire [BITS:0] used = next - first;
  // Slots behind the last item of a frame hold nothing but zeros.
  reg [BUS-1:0] word;
  reg [31:0] lane, item;
  wire [BUS-1:0] wide = tdata;
  wire [BUS-1:0] word_then = word | (wide << (lane * SLOT));
  wire takes = tvalid && tready;
  wire is_whole = item == ITEMS - 1 || lane == PER - 1;
  assign tready = used != PLACES;

  reg [63:0] at;
  reg [31:0] frames_left, beats_left, beats_of_burst, unanswered;
  wire [31:0] to_page = (32'd4096 - {20'd0, at[11:0]}) / BYTES;
  wire [31:0] in_page = beats_left < to_page ? beats_left : to_page;
  wire [31:0] burst = in_page < BURST ? in_page : BURST;
  wire writes = wvalid && wready;
  wire is_free = beats_of_burst == 0 && (!awvalid || awready);
  wire begins = frames_left != 0 && is_free && used >= burst;
  assign wvalid = beats_of_burst != 0;
  assign wdata = queue[first[BITS-1:0]];
  assign wlast = beats_of_burst == 1;
  assign bready = 1'b1;
  assign is_busy = frames_left != 0 || awvalid || wvalid || unanswered != 0;
  always @(posedge clk) begin
    if (takes) begin
      word <= is_whole ? 0 : word_then;
      lane <= is_whole ? 0 : lane + 1;
      item <= item == ITEMS - 1 ? 0 : item + 1;
      if (is_whole) begin
        queue[next[BITS-1:0]] <= word_then;
        next <= next + 1'b1;
      end
    end
    if (awready) awvalid <= 0;
    if (writes) begin
      first <= first + 1'b1;
      beats_of_burst <= beats_of_burst - 1;
    end
    if (begins) begin
      awvalid <= 1;
      awaddr <= at;
      awlen <= burst - 1;
      beats_of_burst <= burst;
      at <= at + burst * BYTES;
      beats_left <= beats_left == burst ? BEATS : beats_left - burst;
      if (beats_left == burst) frames_left <= frames_left - 1;
    end
    unanswered <= unanswered + (begins ? 1 : 0) - (bvalid ? 1 : 0);
    if (bvalid && bresp != 2'b00) has_failed <= 1;
    if (starts) begin
      at <= base;
      frames_left <= frames;
      beats_left <= BEATS;
      has_failed <= 0;
    end
    if (reset) begin
      awvalid <= 0;
      frames_left <= 0;
      beats_of_burst <= 0;
      unanswered <= 0;
      first <= 0;
      next <= 0;
      word <= 0;
      lane <= 0;
      item <= 0;
      has_failed <= 0;
    end
  end
endmodule
