"""Plays a frame of the golden vectors through the core by cocotb, while both sides stall at random."""

import random
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

RTL = Path(__file__).resolve().parent.parent / "rtl"
ITEMS, RESULTS = @IN@, @OUT@
# Clocks without a handshake after which the core is taken for stuck.
STUCK = @STUCK@


def words(name, count):
    with open(RTL / name) as file:
        return [int(next(file), 16) for _ in range(count)]


async def write_register(dut, address, word):
    dut.s_axil_awaddr.value = address
    dut.s_axil_wdata.value = word
    dut.s_axil_awvalid.value = 1
    dut.s_axil_wvalid.value = 1
    while True:
        await RisingEdge(dut.aclk)
        if dut.s_axil_awready.value == 1 and dut.s_axil_wready.value == 1:
            break
    dut.s_axil_awvalid.value = 0
    dut.s_axil_wvalid.value = 0
    await RisingEdge(dut.aclk)


async def read_register(dut, address):
    dut.s_axil_araddr.value = address
    dut.s_axil_arvalid.value = 1
    while True:
        await RisingEdge(dut.aclk)
        if dut.s_axil_arready.value == 1:
            break
    dut.s_axil_arvalid.value = 0
    while True:
        await RisingEdge(dut.aclk)
        if dut.s_axil_rvalid.value == 1:
            return int(dut.s_axil_rdata.value)


async def play(dut, items, expected, stalls):
    """Sends all items and takes all results; of 16 clocks each side stalls so many."""
    draw = random.Random(stalls)
    sent, got, since = 0, 0, 0
    is_offered = False
    while got < len(expected):
        if not is_offered and sent < len(items) and draw.randrange(16) >= stalls:
            is_offered = True
        dut.s_axis_tvalid.value = int(is_offered)
        dut.s_axis_tdata.value = items[min(sent, len(items) - 1)]
        dut.s_axis_tlast.value = int(sent == len(items) - 1)
        is_taken = draw.randrange(16) >= stalls
        dut.m_axis_tready.value = int(is_taken)
        await RisingEdge(dut.aclk)
        since += 1
        if is_offered and dut.s_axis_tready.value == 1:
            sent, since, is_offered = sent + 1, 0, False
        if is_taken and dut.m_axis_tvalid.value == 1:
            found = int(dut.m_axis_tdata.value)
            assert found == expected[got], f"result {got} is {found:x} instead of {expected[got]:x}"
            assert int(dut.m_axis_tlast.value) == int(got == len(expected) - 1), f"tlast of result {got}"
            got, since = got + 1, 0
        assert since < STUCK, f"nothing moves after {sent} items and {got} results"
    dut.s_axis_tvalid.value = 0
    dut.m_axis_tready.value = 0


@cocotb.test()
async def a_frame_under_stalls(dut):
    items, expected = words("core_x.hex", ITEMS), words("core_y.hex", RESULTS)
    cocotb.start_soon(Clock(dut.aclk, 2, "ns").start())
    for name in ("s_axis_tdata", "s_axis_tlast", "s_axis_tvalid", "m_axis_tready", "s_axil_awaddr", "s_axil_awvalid"):
        getattr(dut, name).value = 0
    for name in ("s_axil_wdata", "s_axil_wvalid", "s_axil_araddr", "s_axil_arvalid"):
        getattr(dut, name).value = 0
    dut.s_axil_wstrb.value = 15
    dut.s_axil_bready.value = 1
    dut.s_axil_rready.value = 1
    for stalls in (0, 8):
        dut.aresetn.value = 0
        for _ in range(5):
            await RisingEdge(dut.aclk)
        dut.aresetn.value = 1
        await RisingEdge(dut.aclk)
        await write_register(dut, 0x0C, 1)
        await write_register(dut, 0x00, 1)
        await play(dut, items, expected, stalls)
        for _ in range(64):
            await RisingEdge(dut.aclk)
        assert await read_register(dut, 0x04) == 3, "the core is idle and done"
        assert await read_register(dut, 0x2C) == ITEMS, "the register of items in"
        assert await read_register(dut, 0x30) == RESULTS, "the register of items out"
