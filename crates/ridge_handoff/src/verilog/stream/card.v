// The core with its memory: frames are read from and written to the memory of a board by AXI4, and everything is started
// and watched by AXI4-Lite. Below 0x40 the registers are those of the core; a start there starts the memory side as well.
//   0x40, 0x44 address of the first item   0x48, 0x4c address of the first result, each of a whole beat
//   0x50 bit 0 nothing is under way to or from the memory, bit 1 a read failed, bit 2 a write failed
// Start it only while 0x50 is idle, and with a number of frames, not without end.
module card(
  input wire aclk,
  input wire aresetn,
  output wire [63:0] m_axi_araddr,
  output wire [7:0] m_axi_arlen,
  output wire [2:0] m_axi_arsize,
  output wire [1:0] m_axi_arburst,
  output wire [3:0] m_axi_arcache,
  output wire [2:0] m_axi_arprot,
  output wire m_axi_arvalid,
  input wire m_axi_arready,
  input wire [@BUS@-1:0] m_axi_rdata,
  input wire [1:0] m_axi_rresp,
  input wire m_axi_rlast,
  input wire m_axi_rvalid,
  output wire m_axi_rready,
  output wire [63:0] m_axi_awaddr,
  output wire [7:0] m_axi_awlen,
  output wire [2:0] m_axi_awsize,
  output wire [1:0] m_axi_awburst,
  output wire [3:0] m_axi_awcache,
  output wire [2:0] m_axi_awprot,
  output wire m_axi_awvalid,
  input wire m_axi_awready,
  output wire [@BUS@-1:0] m_axi_wdata,
  output wire [@BUS@/8-1:0] m_axi_wstrb,
  output wire m_axi_wlast,
  output wire m_axi_wvalid,
  input wire m_axi_wready,
  input wire [1:0] m_axi_bresp,
  input wire m_axi_bvalid,
  output wire m_axi_bready,
  input wire [7:0] s_axil_awaddr,
  input wire s_axil_awvalid,
  output wire s_axil_awready,
  input wire [31:0] s_axil_wdata,
  input wire [3:0] s_axil_wstrb,
  input wire s_axil_wvalid,
  output wire s_axil_wready,
  output wire [1:0] s_axil_bresp,
  output wire s_axil_bvalid,
  input wire s_axil_bready,
  input wire [7:0] s_axil_araddr,
  input wire s_axil_arvalid,
  output wire s_axil_arready,
  output wire [31:0] s_axil_rdata,
  output wire [1:0] s_axil_rresp,
  output wire s_axil_rvalid,
  input wire s_axil_rready
);
  localparam BUS = @BUS@, SLOT_IN = @SLOT_IN@, SLOT_OUT = @SLOT_OUT@;
  wire reset = !aresetn;

  // Which registers are meant: those of the core, or those in here.
  wire writes_here = s_axil_awaddr[7:6] == 2'b01, reads_here = s_axil_araddr[7:6] == 2'b01;
  wire core_awready, core_wready, core_bvalid, core_arready, core_rvalid;
  wire [31:0] core_rdata;
  wire to_core = s_axil_awvalid && s_axil_wvalid && !writes_here;
  reg is_answered, has_word;
  reg [31:0] word;
  wire takes_word = s_axil_awvalid && s_axil_wvalid && writes_here && !is_answered;
  assign s_axil_awready = writes_here ? takes_word : core_awready;
  assign s_axil_wready = writes_here ? takes_word : core_wready && s_axil_awvalid;
  assign s_axil_bvalid = core_bvalid || is_answered;
  assign s_axil_bresp = 2'b00;
  // One read at a time, so that answers keep their order.
  wire may_read = !core_rvalid && !has_word;
  assign s_axil_arready = may_read && (reads_here || core_arready);
  assign s_axil_rvalid = core_rvalid || has_word;
  assign s_axil_rdata = has_word ? word : core_rdata;
  assign s_axil_rresp = 2'b00;

  reg [63:0] from, to;
  reg [31:0] frames;
  wire core_takes = to_core && core_awready;
  wire starts = core_takes && s_axil_awaddr[7:2] == 6'h00 && s_axil_wstrb[0] && s_axil_wdata[0];
  wire is_reading, is_writing, read_failed, write_failed;
  wire [31:0] kept = s_axil_awaddr[7:2] == 6'h03 ? frames
    : s_axil_awaddr[3:2] == 2'd0 ? from[31:0] : s_axil_awaddr[3:2] == 2'd1 ? from[63:32]
    : s_axil_awaddr[3:2] == 2'd2 ? to[31:0] : to[63:32];
  wire [31:0] written = {
    s_axil_wstrb[3] ? s_axil_wdata[31:24] : kept[31:24], s_axil_wstrb[2] ? s_axil_wdata[23:16] : kept[23:16],
    s_axil_wstrb[1] ? s_axil_wdata[15:8] : kept[15:8], s_axil_wstrb[0] ? s_axil_wdata[7:0] : kept[7:0]
  };
  always @(posedge aclk) begin
    if (core_takes && s_axil_awaddr[7:2] == 6'h03) frames <= written;
    if (s_axil_bready && !core_bvalid) is_answered <= 0;
    if (takes_word) begin
      is_answered <= 1;
      if (s_axil_awaddr[5:4] == 2'b00) case (s_axil_awaddr[3:2])
        2'd0: from[31:0] <= written;
        2'd1: from[63:32] <= written;
        2'd2: to[31:0] <= written;
        default: to[63:32] <= written;
      endcase
    end
    if (s_axil_rready) has_word <= 0;
    if (s_axil_arvalid && s_axil_arready && reads_here) begin
      has_word <= 1;
      case (s_axil_araddr[5:2])
        4'd0: word <= from[31:0];
        4'd1: word <= from[63:32];
        4'd2: word <= to[31:0];
        4'd3: word <= to[63:32];
        4'd4: word <= {29'd0, write_failed, read_failed, !is_reading && !is_writing};
        default: word <= 0;
      endcase
    end
    if (reset) begin
      is_answered <= 0;
      has_word <= 0;
      frames <= 0;
    end
  end

  wire [SLOT_IN-1:0] item;
  wire [@RESULT_BITS@-1:0] result;
  wire [SLOT_OUT-1:0] slot = result;
  wire item_last, item_valid, item_ready, result_last, result_valid, result_ready;
  assign m_axi_arsize = $clog2(BUS / 8);
  assign m_axi_arburst = 2'b01;
  assign m_axi_arcache = 4'b0011;
  assign m_axi_arprot = 3'b000;
  assign m_axi_awsize = $clog2(BUS / 8);
  assign m_axi_awburst = 2'b01;
  assign m_axi_awcache = 4'b0011;
  assign m_axi_awprot = 3'b000;
  assign m_axi_wstrb = {(BUS / 8){1'b1}};
  reader #(.BUS(BUS), .SLOT(SLOT_IN), .ITEMS(@IN@)) reader(
    .clk(aclk), .reset(reset), .starts(starts), .base(from), .frames(frames), .is_busy(is_reading), .has_failed(read_failed),
    .araddr(m_axi_araddr), .arlen(m_axi_arlen), .arvalid(m_axi_arvalid), .arready(m_axi_arready),
    .rdata(m_axi_rdata), .rresp(m_axi_rresp), .rvalid(m_axi_rvalid), .rready(m_axi_rready),
    .tdata(item), .tlast(item_last), .tvalid(item_valid), .tready(item_ready)
  );
  core core(
    .aclk(aclk), .aresetn(aresetn),
    .s_axis_tdata(item[@ITEM_BITS@-1:0]), .s_axis_tlast(item_last), .s_axis_tvalid(item_valid), .s_axis_tready(item_ready),
    .m_axis_tdata(result), .m_axis_tlast(result_last), .m_axis_tvalid(result_valid), .m_axis_tready(result_ready),
    .s_axil_awaddr(s_axil_awaddr), .s_axil_awvalid(to_core), .s_axil_awready(core_awready),
    .s_axil_wdata(s_axil_wdata), .s_axil_wstrb(s_axil_wstrb), .s_axil_wvalid(to_core), .s_axil_wready(core_wready),
    .s_axil_bresp(), .s_axil_bvalid(core_bvalid), .s_axil_bready(s_axil_bready),
    .s_axil_araddr(s_axil_araddr), .s_axil_arvalid(s_axil_arvalid && may_read && !reads_here), .s_axil_arready(core_arready),
    .s_axil_rdata(core_rdata), .s_axil_rresp(), .s_axil_rvalid(core_rvalid), .s_axil_rready(s_axil_rready && !has_word)
  );
  writer #(.BUS(BUS), .SLOT(SLOT_OUT), .ITEMS(@OUT@)) writer(
    .clk(aclk), .reset(reset), .starts(starts), .base(to), .frames(frames), .is_busy(is_writing), .has_failed(write_failed),
    .awaddr(m_axi_awaddr), .awlen(m_axi_awlen), .awvalid(m_axi_awvalid), .awready(m_axi_awready),
    .wdata(m_axi_wdata), .wlast(m_axi_wlast), .wvalid(m_axi_wvalid), .wready(m_axi_wready),
    .bresp(m_axi_bresp), .bvalid(m_axi_bvalid), .bready(m_axi_bready),
    .tdata(slot), .tvalid(result_valid), .tready(result_ready)
  );
endmodule
