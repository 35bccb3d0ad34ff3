# The clock of the card: 4 ns, 250 MHz. Nobody has placed the card at it; the worst slack in timing.rpt says what it reaches.
create_clock -name aclk -period 4.000 [get_ports aclk]
