# Packages the card as an RTL kernel of Vitis: `vivado -mode batch -source package.tcl -tclargs PART`. Nobody has run this.
set part [lindex $argv 0]
create_project -force card packaged -part $part
add_files -norecurse [list @PATHS@]
foreach table [glob -nocomplain ../rtl/table_*.hex] { add_files -norecurse $table }
set_property top card [current_fileset]
update_compile_order -fileset sources_1
ipx::package_project -root_dir packaged/ip -vendor ridgeline -library handoff -taxonomy /KernelIP -import_files
set core [ipx::current_core]
ipx::associate_bus_interfaces -busif m_axi -clock aclk $core
ipx::associate_bus_interfaces -busif s_axil -clock aclk $core
# Control and status, and the two addresses that the host gives.
set map [ipx::add_address_block reg0 [ipx::add_memory_map s_axil $core]]
set_property slave_memory_map_ref s_axil [ipx::get_bus_interfaces s_axil -of_objects $core]
foreach {name offset bits} {CONTROL 0x00 32 STATUS 0x04 32 FRAMES 0x0c 32 FROM 0x40 64 TO 0x48 64 MEMORY 0x50 32} {
  set register [ipx::add_register $name $map]
  set_property address_offset $offset $register
  set_property size $bits $register
}
foreach name {FROM TO} {
  set parameter [ipx::add_register_parameter ASSOCIATED_BUSIF [ipx::get_registers $name -of_objects $map]]
  set_property value m_axi $parameter
}
set_property sdx_kernel true $core
set_property sdx_kernel_type rtl $core
set_property ipi_drc {ignore_freq_hz true} $core
ipx::create_xgui_files $core
ipx::update_checksums $core
ipx::save_core $core
package_xo -force -xo_path card.xo -kernel_name card -ip_directory packaged/ip -ctrl_protocol user_managed
