// Registers as wires, and tables by their bits, for `techmap` of Yosys: a pipeline without a way back computes what its logic
// does, whatever its delays.
(* techmap_celltype = "$dff" *)
module wire_dff(CLK, D, Q);
  parameter WIDTH = 1;
  parameter CLK_POLARITY = 1;
  input CLK;
  input [WIDTH-1:0] D;
  output [WIDTH-1:0] Q;
  assign Q = D;
endmodule

module FDRE(output Q, input C, input CE, input D, input R);
  parameter [0:0] INIT = 0, IS_C_INVERTED = 0, IS_D_INVERTED = 0, IS_R_INVERTED = 0;
  assign Q = CE && !(R ^ IS_R_INVERTED) && (D ^ IS_D_INVERTED);
endmodule

module FDSE(output Q, input C, input CE, input D, input S);
  parameter [0:0] INIT = 0, IS_C_INVERTED = 0, IS_D_INVERTED = 0, IS_S_INVERTED = 0;
  assign Q = CE && ((S ^ IS_S_INVERTED) || (D ^ IS_D_INVERTED));
endmodule

module SRL16E(output Q, input A0, A1, A2, A3, CE, CLK, D);
  parameter [15:0] INIT = 0;
  parameter [0:0] IS_CLK_INVERTED = 0;
  assign Q = CE && D;
endmodule

module SRLC32E(output Q, output Q31, input [4:0] A, input CE, CLK, D);
  parameter [31:0] INIT = 0;
  parameter [0:0] IS_CLK_INVERTED = 0;
  assign Q = CE && D;
  assign Q31 = CE && D;
endmodule

module LUT1(output O, input I0);
  parameter [1:0] INIT = 0;
  \$lut #(.WIDTH(1), .LUT(INIT)) lut(.A({I0}), .Y(O));
endmodule

module LUT2(output O, input I0, I1);
  parameter [3:0] INIT = 0;
  \$lut #(.WIDTH(2), .LUT(INIT)) lut(.A({I1, I0}), .Y(O));
endmodule

module LUT3(output O, input I0, I1, I2);
  parameter [7:0] INIT = 0;
  \$lut #(.WIDTH(3), .LUT(INIT)) lut(.A({I2, I1, I0}), .Y(O));
endmodule

module LUT4(output O, input I0, I1, I2, I3);
  parameter [15:0] INIT = 0;
  \$lut #(.WIDTH(4), .LUT(INIT)) lut(.A({I3, I2, I1, I0}), .Y(O));
endmodule

module LUT5(output O, input I0, I1, I2, I3, I4);
  parameter [31:0] INIT = 0;
  \$lut #(.WIDTH(5), .LUT(INIT)) lut(.A({I4, I3, I2, I1, I0}), .Y(O));
endmodule

module LUT6(output O, input I0, I1, I2, I3, I4, I5);
  parameter [63:0] INIT = 0;
  \$lut #(.WIDTH(6), .LUT(INIT)) lut(.A({I5, I4, I3, I2, I1, I0}), .Y(O));
endmodule
