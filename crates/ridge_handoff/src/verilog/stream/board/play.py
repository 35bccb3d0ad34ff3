"""Plays the golden vectors on a board by PYNQ: `python3 play.py ../card.xclbin`. Nobody has run this: it needs a board."""

import sys
import time

import numpy as np
from pynq import Overlay, allocate

FRAMES, ITEMS, RESULTS = @FRAMES@, @IN@, @OUT@
# Bytes of the slot of an item and of a result, and of a frame of each.
ITEM_SLOT, RESULT_SLOT, ITEM_FRAME, RESULT_FRAME = @ITEM_SLOT@, @RESULT_SLOT@, @ITEM_FRAME@, @RESULT_FRAME@
CONTROL, STATUS, FRAMES_PER_START, CLOCKS, FROM, TO, MEMORY = 0x00, 0x04, 0x0C, 0x20, 0x40, 0x48, 0x50


def frames_of(path, words, slot, frame):
    """The words of a file, one a line in hexadecimal, each in a slot; frames begin at whole beats."""
    memory = np.zeros(frame * FRAMES, dtype=np.uint8)
    with open(path) as file:
        for number in range(FRAMES):
            for word in range(words):
                at = number * frame + word * slot
                memory[at : at + slot] = np.frombuffer(int(next(file), 16).to_bytes(slot, "little"), dtype=np.uint8)
    return memory


def main():
    overlay = Overlay(sys.argv[1])
    card = overlay.card_1
    items = frames_of("../rtl/core_x.hex", ITEMS, ITEM_SLOT, ITEM_FRAME)
    expected = frames_of("../rtl/core_y.hex", RESULTS, RESULT_SLOT, RESULT_FRAME)
    source, target = allocate(items.shape, np.uint8), allocate(expected.shape, np.uint8)
    source[:] = items
    target[:] = 0xA5
    source.sync_to_device()
    target.sync_to_device()
    for register, buffer in ((FROM, source), (TO, target)):
        card.write(register, buffer.device_address & 0xFFFFFFFF)
        card.write(register + 4, buffer.device_address >> 32)
    card.write(FRAMES_PER_START, FRAMES)
    card.write(CONTROL, 1)
    end = time.monotonic() + 10
    while card.read(STATUS) & 3 != 3 or card.read(MEMORY) & 1 == 0:
        if time.monotonic() > end:
            sys.exit("error: the card does not end")
    target.sync_from_device()
    places = [
        frame * RESULT_FRAME + word * RESULT_SLOT + byte
        for frame in range(FRAMES)
        for word in range(RESULTS)
        for byte in range(RESULT_SLOT)
    ]
    wrong = int(np.count_nonzero(np.asarray(target)[places] != expected[places]))
    print(f"{FRAMES} frames in {card.read(CLOCKS)} clocks, {wrong} bytes wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
