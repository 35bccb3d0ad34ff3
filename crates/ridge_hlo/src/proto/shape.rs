//! `ShapeProto` and `LayoutProto`.

use super::{DEPTH_LIMIT, Reader, extend};
use crate::wire::Value;
use crate::{ElementType, Layout, Shape, Tile};

impl Reader<'_> {
    /// Reads a shape; tuples nested too deep end as empty tuples with a note.
    pub(super) fn shape(&mut self, message: &[u8], depth: u32) -> Shape {
        let mut shape = Shape::default();
        self.each(message, "shape", |reader, number, value| match (number, value) {
            (2, Value::Varint(element_type)) => shape.element_type = ElementType::from_number(element_type),
            (3, value) => extend(&mut shape.dimensions, value),
            (4, Value::Bytes(part)) if depth < DEPTH_LIMIT => shape.tuple.push(reader.shape(part, depth + 1)),
            (4, Value::Bytes(part)) => {
                reader.note(part, || format!("expected tuples nested at most {DEPTH_LIMIT} deep, found more"))
            }
            (5, Value::Bytes(part)) => shape.layout = reader.layout(part),
            (6, Value::Bytes(flags)) => shape.dynamic.extend(flags.iter().map(|&flag| flag != 0)),
            (6, Value::Varint(flag)) => shape.dynamic.push(flag != 0),
            _ => {}
        });
        if !shape.dynamic.contains(&true) {
            shape.dynamic = Vec::new();
        }
        shape
    }

    fn layout(&mut self, message: &[u8]) -> Option<Box<Layout>> {
        let mut layout = Layout::default();
        self.each(message, "layout", |reader, number, value| match (number, value) {
            (1, value) => extend(&mut layout.minor_to_major, value),
            (6, Value::Bytes(part)) => {
                let mut tile = Vec::new();
                reader.each(part, "tile", |_, number, value| {
                    if number == 1 {
                        extend(&mut tile, value);
                    }
                });
                layout.tiles.push(Tile(tile));
            }
            (7, Value::Varint(bits)) => layout.element_size_in_bits = bits as i64,
            (8, Value::Varint(space)) => layout.memory_space = space as i64,
            (16, Value::Varint(elements)) if elements > 1 => layout.tail_padding_alignment = elements as i64,
            _ => {}
        });
        (!layout.is_empty()).then(|| Box::new(layout))
    }
}
