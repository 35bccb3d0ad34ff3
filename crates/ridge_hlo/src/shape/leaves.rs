//! The arrays of a shape as one row, nested tuples flattened, and what memory each takes.

use super::Shape;

impl Shape {
    /// The arrays of the shape in order, nested tuples flattened; itself if it is no tuple.
    pub fn leaves(&self) -> Vec<&Shape> {
        let mut leaves = Vec::new();
        let mut open = vec![self];
        while let Some(shape) = open.pop() {
            if shape.is_tuple() {
                open.extend(shape.tuple.iter().rev());
            } else {
                leaves.push(shape);
            }
        }
        leaves
    }

    /// The arrays of the shape in order, each with its path, as [`Shape::leaves`] and [`Shape::path_of`] give them.
    pub fn leaves_with_paths(&self) -> Vec<(Vec<i64>, &Shape)> {
        let mut leaves = Vec::new();
        let mut open = vec![(Vec::new(), self)];
        while let Some((path, shape)) = open.pop() {
            if shape.is_tuple() {
                let inside = (0_i64..).zip(&shape.tuple).map(|(at, inner)| ([&path[..], &[at]].concat(), inner));
                open.extend(inside.collect::<Vec<_>>().into_iter().rev());
            } else {
                leaves.push((path, shape));
            }
        }
        leaves
    }

    /// How many arrays the shape has, nested tuples flattened.
    fn leaf_count(&self) -> usize {
        if self.is_tuple() { self.leaves().len() } else { 1 }
    }

    /// The place among [`Shape::leaves`] of the array at path `index`; the first one where the path ends at a tuple.
    pub fn leaf_at(&self, index: &[i64]) -> Option<usize> {
        let (mut shape, mut leaf) = (self, 0);
        for &position in index {
            let position = usize::try_from(position).ok()?;
            let (before, rest) = shape.tuple.split_at_checked(position)?;
            leaf += before.iter().map(Shape::leaf_count).sum::<usize>();
            shape = rest.first()?;
        }
        Some(leaf)
    }

    /// The path of the array at place `leaf` of [`Shape::leaves`]; empty where the shape is no tuple.
    pub fn path_of(&self, leaf: usize) -> Vec<i64> {
        let mut left = leaf;
        // The tuples around the next array, each with the position in it.
        let mut open = vec![(self, 0_usize)];
        while let Some((shape, position)) = open.last_mut() {
            let Some(inner) = shape.tuple.get(*position) else {
                open.pop();
                continue;
            };
            *position += 1;
            if inner.is_tuple() {
                open.push((inner, 0));
            } else if left == 0 {
                return open.iter().map(|(_, next)| *next as i64 - 1).collect();
            } else {
                left -= 1;
            }
        }
        Vec::new()
    }

    /// Bytes of an array with the extents of its first tile filled up, as TPU layouts have them; 0 where it has no size.
    pub fn padded_bytes(&self) -> u64 {
        let plain = self.byte_size().unwrap_or(0);
        let Some(layout) = self.layout.as_ref() else { return plain };
        let Some(tile) = layout.tiles.first() else { return plain };
        let mut dimensions = self.dimensions.clone();
        // The last extent of a tile is the fastest varying dimension's.
        for (extent, dimension) in tile.0.iter().rev().zip(&layout.minor_to_major) {
            let extent = (*extent).max(1);
            if let Some(length) = usize::try_from(*dimension).ok().and_then(|at| dimensions.get_mut(at)) {
                *length = length.checked_add(extent - 1).map_or(*length, |filled| filled / extent * extent);
            }
        }
        Shape { dimensions, ..self.clone() }.byte_size().unwrap_or(plain).max(plain)
    }
}

#[cfg(test)]
mod tests {
    use crate::{ElementType, Layout, Shape, Tile};

    #[test]
    fn tiles_are_filled_up() {
        let mut shape = Shape::array(ElementType::F32, vec![9, 100]);
        let tiles = vec![Tile(vec![8, 128])];
        shape.layout = Some(Box::new(Layout { minor_to_major: vec![1, 0], tiles, ..Layout::default() }));
        assert_eq!(shape.padded_bytes(), 16 * 128 * 4);
    }

    #[test]
    fn paths_and_leaves() {
        let leaf = |count| Shape::array(ElementType::F32, vec![count]);
        let tuple = |tuple: Vec<Shape>| Shape { element_type: ElementType::Tuple, tuple, ..Shape::default() };
        let shape = tuple(vec![leaf(1), tuple(vec![leaf(2), leaf(3)]), leaf(4)]);
        for (at, path) in [(0, vec![0]), (1, vec![1, 0]), (2, vec![1, 1]), (3, vec![2])] {
            assert_eq!((shape.leaf_at(&path), shape.path_of(at)), (Some(at), path));
        }
        let paths: Vec<Vec<i64>> = shape.leaves_with_paths().into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, (0..4).map(|leaf| shape.path_of(leaf)).collect::<Vec<_>>());
        assert_eq!(leaf(1).leaves_with_paths(), [(Vec::new(), &leaf(1))]);
        assert_eq!(shape.leaf_at(&[7]), None);
        assert_eq!((shape.path_of(4), leaf(1).path_of(0)), (Vec::new(), Vec::new()));
    }
}
