  // Arithmetic of IEEE 754 single precision: rounded to the nearest, ties to even, denormals kept; what is no number is 7fc00000.

  function is_nan(input [31:0] a);
    is_nan = a[30:23] == 8'hff && a[22:0] != 0;
  endfunction

  function less(input [31:0] a, input [31:0] b);
    less = !is_nan(a) && !is_nan(b) && (
      a[31] != b[31] ? a[31] && (a[30:0] | b[30:0]) != 0
                     : a[31] ? b[30:0] < a[30:0] : a[30:0] < b[30:0]);
  endfunction

  function equal(input [31:0] a, input [31:0] b);
    equal = !is_nan(a) && !is_nan(b) && (a == b || (a[30:0] | b[30:0]) == 0);
  endfunction

  // Where sorted values that are no numbers come last.
  function before(input [31:0] a, input [31:0] b);
    before = less(a, b) || (!is_nan(a) && is_nan(b));
  endfunction

  function [31:0] lesser(input [31:0] a, input [31:0] b);
    lesser = is_nan(a) || is_nan(b) ? 32'h7fc00000 : less(b, a) ? b : a;
  endfunction

  function [31:0] greater(input [31:0] a, input [31:0] b);
    greater = is_nan(a) || is_nan(b) ? 32'h7fc00000 : less(a, b) ? b : a;
  endfunction

  // 1.m times 2^(e - 127), where the first bit of m is the one before the point, and the last says whether more followed.
  function [31:0] rounded(input sign, input signed [11:0] e, input [47:0] m);
    reg [47:0] s;
    reg lost, up;
    reg [30:0] packed_;
    begin
      s = m;
      lost = 0;
      if (e <= 0) begin
        if (e < -46) begin
          s = 0;
          lost = 1;
        end else begin
          lost = (m & ((48'd1 << (1 - e)) - 48'd1)) != 0;
          s = m >> (1 - e);
        end
      end
      up = s[23] && (s[22:0] != 0 || lost || s[24]);
      // The one before the point adds to the exponent, and so does what rounding carries.
      packed_ = {7'd0, s[47:24]} + {30'd0, up};
      if (e > 1) packed_ = packed_ + {e[7:0] - 8'd1, 23'd0};
      rounded = e >= 255 ? {sign, 8'hff, 23'd0} : {sign, packed_};
    end
  endfunction

  function [31:0] sum(input [31:0] a, input [31:0] b);
    reg [31:0] most, least;
    reg [50:0] m, n, lost;
    reg [7:0] by;
    reg signed [11:0] e;
    begin
      most = b[30:0] > a[30:0] ? b : a;
      least = b[30:0] > a[30:0] ? a : b;
      e = most[30:23] == 0 ? 12'sd1 : $signed({4'd0, most[30:23]});
      by = e[7:0] - (least[30:23] == 0 ? 8'd1 : least[30:23]);
      m = {1'b0, most[30:23] != 0, most[22:0], 26'd0};
      n = {1'b0, least[30:23] != 0, least[22:0], 26'd0};
      if (by > 50) n = {50'd0, n != 0};
      else begin
        lost = n & ((51'd1 << by) - 51'd1);
        n = (n >> by) | {50'd0, lost != 0};
      end
      m = most[31] == least[31] ? m + n : m - n;
      e = e + 12'sd1;
      if (m[50:19] == 0) begin m = m << 32; e = e - 12'sd32; end
      if (m[50:35] == 0) begin m = m << 16; e = e - 12'sd16; end
      if (m[50:43] == 0) begin m = m << 8; e = e - 12'sd8; end
      if (m[50:47] == 0) begin m = m << 4; e = e - 12'sd4; end
      if (m[50:49] == 0) begin m = m << 2; e = e - 12'sd2; end
      if (m[50] == 0) begin m = m << 1; e = e - 12'sd1; end
      if (is_nan(a) || is_nan(b)) sum = 32'h7fc00000;
      else if (most[30:23] == 8'hff) sum = least[30:23] == 8'hff && a[31] != b[31] ? 32'h7fc00000 : most;
      else if (m == 0) sum = {a[31] && b[31], 31'd0};
      else sum = rounded(most[31], e, {m[50:4], m[3:0] != 0});
    end
  endfunction

  // A number with its first one bit brought to the front, and what that takes from its exponent.
  function [35:0] fronted(input [30:0] a);
    reg [23:0] m;
    reg signed [11:0] e;
    begin
      m = {a[30:23] != 0, a[22:0]};
      e = a[30:23] == 0 ? 12'sd1 : $signed({4'd0, a[30:23]});
      if (m[23:8] == 0) begin m = m << 16; e = e - 12'sd16; end
      if (m[23:16] == 0) begin m = m << 8; e = e - 12'sd8; end
      if (m[23:20] == 0) begin m = m << 4; e = e - 12'sd4; end
      if (m[23:22] == 0) begin m = m << 2; e = e - 12'sd2; end
      if (m[23] == 0) begin m = m << 1; e = e - 12'sd1; end
      fronted = {e, m};
    end
  endfunction

  function [31:0] product(input [31:0] a, input [31:0] b);
    reg sign;
    reg [35:0] p, q;
    reg [47:0] m;
    reg signed [11:0] e;
    begin
      sign = a[31] ^ b[31];
      p = fronted(a[30:0]);
      q = fronted(b[30:0]);
      m = p[23:0] * q[23:0];
      e = $signed(p[35:24]) + $signed(q[35:24]) - 12'sd126;
      if (!m[47]) begin m = m << 1; e = e - 12'sd1; end
      if (is_nan(a) || is_nan(b)) product = 32'h7fc00000;
      else if (a[30:23] == 8'hff || b[30:23] == 8'hff)
        product = a[30:0] == 0 || b[30:0] == 0 ? 32'h7fc00000 : {sign, 8'hff, 23'd0};
      else if (a[30:0] == 0 || b[30:0] == 0) product = {sign, 31'd0};
      else product = rounded(sign, e, m);
    end
  endfunction

