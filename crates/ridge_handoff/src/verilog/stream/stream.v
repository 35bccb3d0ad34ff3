// What every core is built of: a delay in memory, the way out with its credits, and the registers.

// A value as it was DELAY steps ago, 2 or more: a ring in memory, read before it is written, as block RAM does it.
module delayed #(parameter WIDTH = 8, parameter DELAY = 2) (
  input wire clk,
  input wire reset,
  input wire step,
  input wire [WIDTH-1:0] d,
  output reg [WIDTH-1:0] q
);
  localparam PLACES = DELAY - 1;
  reg [WIDTH-1:0] ring [0:PLACES-1];
  reg [31:0] at;
  always @(posedge clk)
    if (reset) at <= 0;
    else if (step) at <= at == PLACES - 1 ? 0 : at + 1;
  always @(posedge clk)
    if (step) begin
      q <= ring[at];
      ring[at] <= d;
    end
endmodule

// The way out of a datapath that cannot wait. A result that sets out takes a credit, and gives it back when it is handed
// over; there are as many credits as places in the queue, so none arrives at a full one, however long the receiver waits.
module results #(parameter WIDTH = 8, parameter CLOCKS = 1, parameter BITS = 2) (
  input wire clk,
  input wire reset,
  // A result sets out now; only where `may` is high. It arrives CLOCKS clocks later in `d`.
  output reg may,
  input wire sets_out,
  input wire is_last,
  input wire [WIDTH-1:0] d,
  output wire is_empty,
  output wire m_tvalid,
  input wire m_tready,
  output wire [WIDTH-1:0] m_tdata,
  output wire m_tlast
);
  localparam PLACES = 1 << BITS;
  reg [CLOCKS-1:0] on_way, last_on_way;
  reg [WIDTH:0] queue [0:PLACES-1];
  reg [BITS:0] first, next, lent;
  wire leaves = m_tvalid && m_tready;
  wire [BITS:0] lent_then = lent + (sets_out ? 1'b1 : 1'b0) - (leaves ? 1'b1 : 1'b0);
  assign m_tvalid = first != next;
  assign m_tdata = queue[first[BITS-1:0]][WIDTH-1:0];
  assign m_tlast = queue[first[BITS-1:0]][WIDTH];
  assign is_empty = lent == 0;
  always @(posedge clk) begin
    on_way <= (on_way << 1) | sets_out;
    last_on_way <= (last_on_way << 1) | is_last;
    if (on_way[CLOCKS-1]) begin
      queue[next[BITS-1:0]] <= {last_on_way[CLOCKS-1], d};
      next <= next + 1'b1;
    end
    if (leaves) first <= first + 1'b1;
    lent <= lent_then;
    may <= lent_then < PLACES;
    if (reset) begin
      on_way <= 0;
      first <= 0;
      next <= 0;
      lent <= 0;
      may <= 0;
    end
  end
`ifdef FORMAL
  // The datapath is left out: the value of a result is its number. Numbers wrap, at more than twice the places.
  // `taken` numbers those that set out, `given` those that left; a lost, doubled or turned result has a wrong number.
  reg [WIDTH-1:0] taken, given;
  reg [WIDTH-1:0] path [0:CLOCKS-1];
  reg was_reset, waited, last_then;
  reg [WIDTH-1:0] data_then;
  integer j, k, n;
  initial was_reset = 0;
  always @(posedge clk) begin
    was_reset <= reset || was_reset;
    taken <= reset ? 0 : taken + sets_out;
    given <= reset ? 0 : given + leaves;
    path[0] <= taken;
    for (j = 1; j < CLOCKS; j = j + 1) path[j] <= path[j-1];
    waited <= m_tvalid && !m_tready && !reset;
    data_then <= m_tdata;
    last_then <= m_tlast;
  end
  wire [BITS:0] used = next - first;
  reg [BITS:0] flying;
  reg are_in_turn;
  always @* begin
    flying = 0;
    are_in_turn = 1;
    for (k = CLOCKS - 1; k >= 0; k = k - 1) begin
      if (on_way[k] && path[k] != ((given + used + flying) & {WIDTH{1'b1}})) are_in_turn = 0;
      flying = flying + on_way[k];
    end
    assume (!sets_out || may);
    assume (d == path[CLOCKS-1]);
    if (was_reset) begin
      assert (used <= PLACES);
      assert (lent == used + flying && lent <= PLACES && (!may || lent < PLACES));
      assert (!(on_way[CLOCKS-1] && used == PLACES));
      assert (are_in_turn && taken == ((given + lent) & {WIDTH{1'b1}}));
      if (m_tvalid) assert (m_tdata == given);
      if (waited) assert (m_tvalid && m_tdata == data_then && m_tlast == last_then);
      for (n = 0; n < PLACES; n = n + 1)
        if (n < used) assert (queue[(first + n) & (PLACES-1)][WIDTH-1:0] == ((given + n) & {WIDTH{1'b1}}));
    end
  end
`endif
endmodule

// The AXI4-Lite registers, in words of 32 bits:
//   0x00 control: write 1 to start, 2 to take frames without end, 4 to clear the counters and what went wrong
//   0x04 status: bit 0 idle, bit 1 done since the last start, bit 2 a tlast came where no frame ends, or lacked where one does
//   0x08 version   0x0c frames a start takes   0x10 items of a frame in   0x14 items of a frame out
//   0x20 clocks while not idle   0x24 clocks that waited for input   0x28 clocks that waited for the receiver
//   0x2c items in   0x30 items out
module registers #(parameter VERSION = 1, parameter ITEMS_IN = 1, parameter ITEMS_OUT = 1) (
  input wire clk,
  input wire reset,
  input wire [7:0] awaddr,
  input wire awvalid,
  output wire awready,
  input wire [31:0] wdata,
  input wire [3:0] wstrb,
  input wire wvalid,
  output wire wready,
  output wire [1:0] bresp,
  output reg bvalid,
  input wire bready,
  input wire [7:0] araddr,
  input wire arvalid,
  output wire arready,
  output reg [31:0] rdata,
  output wire [1:0] rresp,
  output reg rvalid,
  input wire rready,
  // A frame may begin; one begins.
  output wire may_begin,
  input wire begins,
  // Nothing is under way.
  input wire is_still,
  input wire takes_item,
  input wire wants_item,
  input wire gives_item,
  input wire waits_for_receiver,
  input wire is_tlast_wrong
);
  reg [31:0] frames, left, clocks, waited_in, waited_out, items_in, items_out;
  reg is_endless, is_done, is_running, went_wrong;
  // An address and its word are taken together, so neither waits in here.
  wire writes = awvalid && wvalid && (!bvalid || bready);
  assign awready = writes;
  assign wready = writes;
  assign arready = !rvalid || rready;
  assign bresp = 2'b00;
  assign rresp = 2'b00;
  assign may_begin = is_endless || left != 0;
  wire commands = writes && awaddr[7:2] == 6'h00 && wstrb[0];
  wire starts = commands && wdata[0];
  wire clears = commands && (wdata[0] || wdata[2]);
  wire is_idle = is_still && !may_begin;
  always @(posedge clk) begin
    if (bready) bvalid <= 0;
    if (writes) bvalid <= 1;
    if (writes && awaddr[7:2] == 6'h03) begin
      if (wstrb[0]) frames[7:0] <= wdata[7:0];
      if (wstrb[1]) frames[15:8] <= wdata[15:8];
      if (wstrb[2]) frames[23:16] <= wdata[23:16];
      if (wstrb[3]) frames[31:24] <= wdata[31:24];
    end
    if (commands) is_endless <= wdata[1];
    if (starts) left <= frames;
    else if (begins && left != 0) left <= left - 1;
    is_running <= !is_idle || starts;
    if (starts) is_done <= 0;
    else if (is_running && is_idle) is_done <= 1;
    if (rready) rvalid <= 0;
    if (arvalid && arready) begin
      rvalid <= 1;
      case (araddr[7:2])
        6'h00: rdata <= {30'd0, is_endless, 1'b0};
        6'h01: rdata <= {29'd0, went_wrong, is_done, is_idle};
        6'h02: rdata <= VERSION;
        6'h03: rdata <= frames;
        6'h04: rdata <= ITEMS_IN;
        6'h05: rdata <= ITEMS_OUT;
        6'h08: rdata <= clocks;
        6'h09: rdata <= waited_in;
        6'h0a: rdata <= waited_out;
        6'h0b: rdata <= items_in;
        6'h0c: rdata <= items_out;
        default: rdata <= 0;
      endcase
    end
    if (!is_idle) clocks <= clocks + 1;
    if (wants_item && !takes_item) waited_in <= waited_in + 1;
    if (waits_for_receiver) waited_out <= waited_out + 1;
    if (takes_item) items_in <= items_in + 1;
    if (gives_item) items_out <= items_out + 1;
    if (is_tlast_wrong) went_wrong <= 1;
    if (reset || clears) begin
      clocks <= 0;
      waited_in <= 0;
      waited_out <= 0;
      items_in <= 0;
      items_out <= 0;
      went_wrong <= 0;
    end
    if (reset) begin
      bvalid <= 0;
      rvalid <= 0;
      frames <= 1;
      left <= 0;
      is_endless <= 0;
      is_done <= 0;
      is_running <= 0;
    end
  end
endmodule
