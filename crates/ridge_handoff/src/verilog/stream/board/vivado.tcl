# The card through synthesis, placement and routing of Vivado, out of context: `vivado -mode batch -source vivado.tcl -tclargs PART`.
# Nobody has run this. Resources are in utilization.rpt and timing in timing.rpt; the clock is that of card.xdc.
set part [lindex $argv 0]
read_verilog [list @PATHS@]
read_xdc -mode out_of_context card.xdc
# Tables are read from ../rtl.
synth_design -top card -part $part -mode out_of_context
opt_design
place_design
phys_opt_design
route_design
report_utilization -file utilization.rpt
report_timing_summary -file timing.rpt
