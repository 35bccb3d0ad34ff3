//! Places of nodes: layers from operands down to users, ordered so that few edges cross.
//!
//! Layers by longest path; order by barycenters, a few sweeps down and up (Sugiyama, Tagawa, Toda 1981). Coordinates
//! are in columns and layers, not in pixels; the page gives more room to what is opened in it.

/// Sweeps in each direction; more change little.
const SWEEPS: usize = 8;

/// Left and upper edge of each of `count` nodes, one column wide and one layer high; y grows from the operands down.
pub(super) fn places(count: usize, edges: &[(usize, usize)]) -> Vec<(f64, f64)> {
    let layer = layers(count, edges);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); layer.iter().max().map_or(0, |last| last + 1)];
    (0..count).for_each(|node| rows[layer[node]].push(node));
    let (mut above, mut below) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    for &(from, to) in edges.iter().filter(|(from, to)| from != to) {
        above[to].push(from);
        below[from].push(to);
    }
    let mut x = vec![0.0; count];
    spread(&rows, &mut x);
    for sweep in 0..2 * SWEEPS {
        let is_down = sweep % 2 == 0;
        let neighbors = if is_down { &above } else { &below };
        let order: Vec<usize> = if is_down { (0..rows.len()).collect() } else { (0..rows.len()).rev().collect() };
        for at in order {
            let center = |node: usize| match neighbors[node].len() {
                0 => x[node],
                many => neighbors[node].iter().map(|other| x[*other]).sum::<f64>() / many as f64,
            };
            let mut placed: Vec<(f64, usize)> = rows[at].iter().map(|node| (center(*node), *node)).collect();
            placed.sort_by(|one, other| one.0.total_cmp(&other.0));
            rows[at] = placed.iter().map(|(_, node)| *node).collect();
            apart(&placed, &mut x);
        }
    }
    let least = x.iter().copied().fold(f64::INFINITY, f64::min);
    (0..count).map(|node| (x[node] - least, layer[node] as f64)).collect()
}

/// The length of the longest path from a node without operands. Edges that close a circle, which no HLO has, end it.
fn layers(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let (mut waiting, mut below) = (vec![0_usize; count], vec![Vec::new(); count]);
    for &(from, to) in edges.iter().filter(|(from, to)| from != to) {
        waiting[to] += 1;
        below[from].push(to);
    }
    let mut layer = vec![0; count];
    let mut ready: Vec<usize> = (0..count).filter(|node| waiting[*node] == 0).collect();
    while let Some(node) = ready.pop() {
        for &user in &below[node] {
            layer[user] = layer[user].max(layer[node] + 1);
            waiting[user] -= 1;
            if waiting[user] == 0 {
                ready.push(user);
            }
        }
    }
    layer
}

fn spread(rows: &[Vec<usize>], x: &mut [f64]) {
    for row in rows {
        row.iter().enumerate().for_each(|(at, node)| x[*node] = at as f64 - row.len() as f64 / 2.0);
    }
}

/// Places nodes near where they want to be, in their order and beside one another, around the middle of their wishes.
fn apart(placed: &[(f64, usize)], x: &mut [f64]) {
    let mut free = f64::NEG_INFINITY;
    for &(wish, node) in placed {
        x[node] = wish.max(free);
        free = x[node] + 1.0;
    }
    let wished: f64 = placed.iter().map(|(wish, _)| wish).sum();
    let got: f64 = placed.iter().map(|(_, node)| x[*node]).sum();
    let shift = (wished - got) / placed.len().max(1) as f64;
    placed.iter().for_each(|(_, node)| x[*node] += shift);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_stand_below_and_nobody_on_another() {
        // A diamond with a tail, whose second branch would cross in the order of the nodes.
        let edges = [(0, 2), (1, 3), (2, 4), (3, 4), (4, 5), (0, 5)];
        let places = places(6, &edges);
        assert!(edges.iter().all(|(from, to)| places[*from].1 < places[*to].1), "{places:?}");
        for (at, one) in places.iter().enumerate() {
            assert!(places[..at].iter().all(|other| other.1 != one.1 || (other.0 - one.0).abs() > 0.99), "{places:?}");
        }
        let is_left = |one: usize, other: usize| places[one].0 < places[other].0;
        assert_eq!(is_left(0, 1), is_left(2, 3), "no edge crosses another: {places:?}");
    }
}
