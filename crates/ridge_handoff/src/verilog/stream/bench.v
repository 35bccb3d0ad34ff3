// Plays whole frames through the core under stalls and resets, and holds what comes out, and every rule of the
// handshakes, against what is expected. The same file runs in Icarus Verilog and in Verilator.
module bench #(parameter FRAMES = @FRAMES@, parameter STALLED = @STALLED@) (input wire clk, output reg is_over);
  localparam IN = @IN@, OUT = @OUT@, ALL = @FRAMES@, PASSES = 6, RESETS = 4;
  // Clocks of the frames without stalls, from the first item to the last result.
  localparam PREDICTED = (FRAMES - 1) * @STEPS@ + @TO_LAST@;
  // Clocks without any handshake after which the core is taken for stuck, and for which it is watched when all is out.
  localparam STUCK = @STUCK@, WATCHED = @WATCHED@;
  reg [@ITEM_BITS@-1:0] items [0:IN*ALL-1];
  reg [@RESULT_BITS@-1:0] expected [0:OUT*ALL-1];
  initial begin
    $readmemh("core_x.hex", items);
    $readmemh("core_y.hex", expected);
    is_over = 0;
    pass = 0;
    now = 0;
    state = BEGIN;
    wrong = 0;
    random = 32'h2545f491;
    resets = 0;
  end

  // Of 16 clocks, how many each side stalls, and the frames of a pass.
  reg [4:0] stalls_in, stalls_out;
  integer frames;
  always @* begin
    frames = STALLED;
    case (pass)
      0: begin stalls_in = 0; stalls_out = 0; frames = FRAMES; end
      1: begin stalls_in = 8; stalls_out = 8; end
      2: begin stalls_in = 12; stalls_out = 0; end
      3: begin stalls_in = 0; stalls_out = 12; end
      4: begin stalls_in = 2; stalls_out = 1; end
      default: begin stalls_in = 5; stalls_out = 5; frames = 1; end
    endcase
  end

  reg [31:0] random;
  wire [31:0] r1 = random ^ (random << 13);
  wire [31:0] r2 = r1 ^ (r1 >> 17);
  wire [31:0] r3 = r2 ^ (r2 << 5);

  localparam BEGIN = 0, SIZE = 1, START = 2, PLAY = 3, WATCH = 4, READ = 5;
  integer state, pass, resets, wrong, sent, got, now, since, first_in, last_out, reads, waited, reset_at, held_in, held_out;
  reg aresetn, s_tvalid, m_tready, s_tlast;
  reg [@ITEM_BITS@-1:0] s_tdata;
  wire s_tready, m_tvalid, m_tlast;
  wire [@RESULT_BITS@-1:0] m_tdata;
  reg awvalid, wvalid, arvalid;
  reg [7:0] awaddr, araddr;
  reg [31:0] wdata;
  wire awready, wready, bvalid, arready, rvalid;
  wire [31:0] rdata;
  wire [1:0] bresp, rresp;
  core dut(
    .aclk(clk), .aresetn(aresetn),
    .s_axis_tdata(s_tdata), .s_axis_tlast(s_tlast), .s_axis_tvalid(s_tvalid), .s_axis_tready(s_tready),
    .m_axis_tdata(m_tdata), .m_axis_tlast(m_tlast), .m_axis_tvalid(m_tvalid), .m_axis_tready(m_tready),
    .s_axil_awaddr(awaddr), .s_axil_awvalid(awvalid), .s_axil_awready(awready),
    .s_axil_wdata(wdata), .s_axil_wstrb(4'hf), .s_axil_wvalid(wvalid), .s_axil_wready(wready),
    .s_axil_bresp(bresp), .s_axil_bvalid(bvalid), .s_axil_bready(1'b1),
    .s_axil_araddr(araddr), .s_axil_arvalid(arvalid), .s_axil_arready(arready),
    .s_axil_rdata(rdata), .s_axil_rresp(rresp), .s_axil_rvalid(rvalid), .s_axil_rready(1'b1)
  );

  wire goes_in = s_tvalid && s_tready, goes_out = m_tvalid && m_tready;
  wire has_more = sent + (goes_in ? 1 : 0) < IN * frames;
  wire [31:0] next_item = sent + (goes_in ? 1 : 0);
  integer value_at;
  always @* case (reads)
    0: value_at = 8'h04;
    1: value_at = 8'h2c;
    2: value_at = 8'h30;
    3: value_at = 8'h24;
    4: value_at = 8'h28;
    default: value_at = 8'h20;
  endcase

  task complain(input [8*40-1:0] what);
    begin
      wrong = wrong + 1;
      if (wrong < 20) $display("wrong in pass %0d, clock %0d, item %0d: %0s", pass, now, got, what);
    end
  endtask

  // What the last clock saw: a value that waits stays.
  reg waits, last_then;
  reg [@RESULT_BITS@-1:0] data_then;
  always @(posedge clk) begin
    random <= r3;
    now <= now + 1;
    if (state == BEGIN) begin
      aresetn <= 0;
      s_tvalid <= 0;
      m_tready <= 0;
      awvalid <= 0;
      wvalid <= 0;
      arvalid <= 0;
      waits <= 0;
      sent <= 0;
      got <= 0;
      first_in <= 0;
      last_out <= 0;
      held_in <= 0;
      held_out <= 0;
      reads <= 0;
      waited <= 0;
      // Between a few clocks and the middle of a frame.
      reset_at <= 3 + r3[30:0] % @RESET_WITHIN@;
      if (now > 3) begin
        state <= SIZE;
        since <= 0;
      end
    end else begin
      aresetn <= 1;
      m_tready <= state >= PLAY && r3[3:0] >= stalls_out;
      case (state)
        SIZE, START: begin
          if (!awvalid && !bvalid) begin
            awvalid <= 1;
            wvalid <= 1;
            awaddr <= state == SIZE ? 8'h0c : 8'h00;
            wdata <= state == SIZE ? frames : 1;
          end else if (awready && wready) begin
            awvalid <= 0;
            wvalid <= 0;
            state <= state == SIZE ? START : PLAY;
          end
        end
        PLAY: begin
          if (goes_in || !s_tvalid) begin
            s_tvalid <= has_more && r3[7:4] >= stalls_in;
            s_tdata <= items[has_more ? next_item : 0];
            s_tlast <= (next_item + 1) % IN == 0;
          end
          if (got == OUT * frames) begin
            state <= WATCH;
            since <= 0;
          end
          if (pass == PASSES - 1 && resets < RESETS && now >= reset_at) begin
            resets <= resets + 1;
            now <= 0;
            state <= BEGIN;
          end
          since <= goes_in || goes_out ? 0 : since + 1;
          if (since > STUCK) begin
            complain("nothing moves any more");
            state <= WATCH;
          end
        end
        WATCH: begin
          waited <= waited + 1;
          if (waited > WATCHED) state <= READ;
        end
        default: begin
          if (!arvalid && !rvalid) begin
            arvalid <= 1;
            araddr <= value_at;
          end else if (arready) arvalid <= 0;
          if (rvalid) begin
            case (reads)
              0: if (rdata !== 32'h3) complain("the status is not idle and done");
              1: if (rdata !== IN * frames) complain("the register of items in");
              2: if (rdata !== OUT * frames) complain("the register of items out");
              3: if (rdata !== held_in) complain("the register of waits for input");
              4: if (rdata !== held_out) complain("the register of waits for the receiver");
              default: if (rdata < last_out - first_in) complain("the register of clocks");
            endcase
            reads <= reads + 1;
            if (reads == 5) begin
              if (pass == 0 && last_out - first_in + 1 != PREDICTED) complain("other clocks than predicted");
              $display("pass %0d: of 16 clocks %0d stalled in and %0d out: %0d items in %0d clocks, %0d results", pass, stalls_in, stalls_out, sent, last_out - first_in + 1, got);
              pass <= pass + 1;
              now <= 0;
              state <= BEGIN;
              if (pass == PASSES - 1) begin
                $display("%0d wrong in %0d passes and %0d resets", wrong, PASSES, resets);
                is_over <= 1;
              end
            end
          end
        end
      endcase
      if (s_tready && !s_tvalid) held_in <= held_in + 1;
      if (m_tvalid && !m_tready) held_out <= held_out + 1;
      if (goes_in) begin
        if (sent == 0) first_in <= now;
        sent <= sent + 1;
      end
      // The rules of the way out.
      waits <= m_tvalid && !m_tready;
      data_then <= m_tdata;
      last_then <= m_tlast;
      if (m_tvalid !== 1'b0 && m_tvalid !== 1'b1 && now > 4) complain("tvalid is unknown");
      if (waits && !(m_tvalid === 1'b1 && m_tdata === data_then && m_tlast === last_then)) complain("a value that waits does not stay");
      if (goes_out) begin
        last_out <= now;
        got <= got + 1;
        if (got >= OUT * frames) complain("a result that nobody asked for");
        else if (m_tdata !== expected[got]) complain("another value");
        if (m_tlast !== ((got + 1) % OUT == 0)) complain("tlast");
      end
    end
  end
endmodule
