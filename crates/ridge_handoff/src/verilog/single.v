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

  function [31:0] quotient(input [31:0] a, input [31:0] b);
    reg sign;
    reg [35:0] p, q;
    reg [49:0] n, whole;
    reg [47:0] m;
    reg signed [11:0] e;
    begin
      sign = a[31] ^ b[31];
      p = fronted(a[30:0]);
      q = fronted(b[30:0]);
      n = {p[23:0], 26'd0};
      // At least 2^25 and below 2^27.
      whole = n / {26'd0, q[23:0]};
      m = {whole[26:0], 20'd0, n != whole * {26'd0, q[23:0]}};
      e = $signed(p[35:24]) - $signed(q[35:24]) + 12'sd127;
      if (!m[47]) begin m = m << 1; e = e - 12'sd1; end
      if (is_nan(a) || is_nan(b)) quotient = 32'h7fc00000;
      else if (a[30:23] == 8'hff) quotient = b[30:23] == 8'hff ? 32'h7fc00000 : {sign, 8'hff, 23'd0};
      else if (b[30:0] == 0) quotient = a[30:0] == 0 ? 32'h7fc00000 : {sign, 8'hff, 23'd0};
      else if (a[30:0] == 0 || b[30:23] == 8'hff) quotient = {sign, 31'd0};
      else quotient = rounded(sign, e, m);
    end
  endfunction

  function [31:0] root(input [31:0] a);
    reg [35:0] p;
    reg signed [11:0] k;
    reg [51:0] r;
    reg [27:0] left, next;
    reg [25:0] found;
    integer at;
    begin
      p = fronted(a[30:0]);
      k = $signed(p[35:24]) - 12'sd127;
      // At least 2^50 and below 2^52: its root has 26 bits.
      r = k[0] ? {p[23:0], 28'd0} : {1'b0, p[23:0], 27'd0};
      left = 0;
      found = 0;
      for (at = 0; at < 26; at = at + 1) begin
        left = {left[25:0], r[51:50]};
        r = r << 2;
        next = {found, 2'b01};
        found = found << 1;
        if (left >= next) begin left = left - next; found = found | 26'd1; end
      end
      if (is_nan(a) || (a[31] && a[30:0] != 0)) root = 32'h7fc00000;
      else if (a[30:0] == 0 || a[30:23] == 8'hff) root = a;
      else root = rounded(1'b0, (k >>> 1) + 12'sd127, {found, 21'd0, left != 0});
    end
  endfunction

  // The nearest whole number: 0 below, 1 above, 2 the even one of two as near, 3 the one farther from zero.
  function [31:0] integral(input [31:0] a, input [1:0] way);
    reg [7:0] by;
    reg [30:0] rest, half, kept;
    reg is_up;
    begin
      by = a[30:23] < 8'd127 ? 8'd24 : 8'd150 - a[30:23];
      // Below one all of it is rest, of which the half is 0.5.
      rest = by == 8'd24 ? a[30:0] : {8'd0, a[22:0]} & ((31'd1 << by) - 31'd1);
      half = by == 8'd24 ? 31'h3f000000 : 31'd1 << (by - 8'd1);
      kept = a[30:0] - rest;
      case (way)
        2'd0: is_up = a[31] && rest != 0;
        2'd1: is_up = !a[31] && rest != 0;
        2'd2: is_up = rest > half || (rest == half && by != 8'd24 && ((kept >> by) & 31'd1) != 0);
        default: is_up = rest >= half;
      endcase
      if (a[30:23] >= 8'd150) integral = is_nan(a) ? 32'h7fc00000 : a;
      else if (by == 8'd24) integral = {a[31], is_up ? 31'h3f800000 : 31'd0};
      else integral = {a[31], kept + (is_up ? 31'd1 << by : 31'd0)};
    end
  endfunction

  function [31:0] signum(input [31:0] a);
    signum = is_nan(a) ? 32'h7fc00000 : a[30:0] == 0 ? a : {a[31], 31'h3f800000};
  endfunction

  function [31:0] from_whole(input is_signed, input [63:0] a);
    reg sign;
    reg [63:0] m;
    reg signed [11:0] e;
    begin
      sign = is_signed && a[63];
      m = sign ? -a : a;
      e = 12'sd190;
      if (m[63:32] == 0) begin m = m << 32; e = e - 12'sd32; end
      if (m[63:48] == 0) begin m = m << 16; e = e - 12'sd16; end
      if (m[63:56] == 0) begin m = m << 8; e = e - 12'sd8; end
      if (m[63:60] == 0) begin m = m << 4; e = e - 12'sd4; end
      if (m[63:62] == 0) begin m = m << 2; e = e - 12'sd2; end
      if (!m[63]) begin m = m << 1; e = e - 12'sd1; end
      from_whole = m == 0 ? 32'd0 : rounded(sign, e, {m[63:17], m[16:0] != 0});
    end
  endfunction

  // Cut towards zero, and held within so many bits; what is no number is 0.
  function [63:0] to_whole(input [31:0] a, input is_signed, input [6:0] bits);
    reg [63:0] m, most;
    begin
      most = is_signed ? (64'd1 << (bits - 7'd1)) - (a[31] ? 64'd0 : 64'd1)
                       : a[31] ? 64'd0 : ~64'd0 >> (7'd64 - bits);
      m = {40'd0, 1'b1, a[22:0]};
      if (a[30:23] < 8'd127) m = 0;
      else if (a[30:23] < 8'd150) m = m >> (8'd150 - a[30:23]);
      else if (a[30:23] < 8'd191) m = m << (a[30:23] - 8'd150);
      else m = ~64'd0;
      if (m > most) m = most;
      to_whole = is_nan(a) ? 64'd0 : a[31] ? -m : m;
    end
  endfunction
