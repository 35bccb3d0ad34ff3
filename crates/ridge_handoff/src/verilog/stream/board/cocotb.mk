# Plays vectors through the core by cocotb (1.9 or 2) on Icarus Verilog.
SIM ?= icarus
TOPLEVEL_LANG = verilog
VERILOG_SOURCES = $(addprefix ../rtl/,@CORE@)
TOPLEVEL = core
MODULE = test_core
COCOTB_TOPLEVEL = core
COCOTB_TEST_MODULES = test_core
include $(shell cocotb-config --makefiles)/Makefile.sim
