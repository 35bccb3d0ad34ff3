//! The dataflow graph as a picture: operations in rows by how far they are from the inputs, each below all that it reads.
//!
//! Rows are ordered by the places of what they read and of who reads them, a few sweeps each way, so that few lines cross
//! (Sugiyama, Tagawa and Toda, *IEEE Trans. Systems, Man, and Cybernetics* 11(2), 1981).

use crate::program::{Op, Program};
use std::fmt::Write as _;

/// Operations that are drawn; more of them nobody can look at.
const MOST: usize = 600;

/// Sweeps over the rows, down and up again.
const SWEEPS: usize = 6;

/// Sizes in pixels.
const LETTER: f64 = 6.7;
const HEIGHT: f64 = 34.0;
const BETWEEN_ROWS: f64 = 44.0;
const BETWEEN: f64 = 14.0;
const MARGIN: f64 = 16.0;

/// The picture as SVG; `None` where there are too many operations for one.
pub(super) fn svg(program: &Program) -> Option<String> {
    if program.nodes.is_empty() || program.nodes.len() > MOST {
        return None;
    }
    let labels: Vec<[String; 2]> = program.nodes.iter().map(label).collect();
    let widths: Vec<f64> = labels.iter().map(|[a, b]| width(a).max(width(b))).collect();
    let rows = ordered(program, rows(program));
    let (places, size) = placed(&rows, &widths);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0} {:.0}\" width=\"{:.0}\" height=\"{:.0}\" \
         font-family=\"monospace\" font-size=\"11\">\n<title>Dataflow</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        size.0, size.1, size.0, size.1
    );
    for (to, node) in program.nodes.iter().enumerate() {
        for from in &node.of {
            let ((x1, y1), (x2, y2)) = (places[*from], places[to]);
            let (y1, middle) = (y1 + HEIGHT, (y1 + HEIGHT + y2) / 2.0);
            let _ = writeln!(
                text,
                "<path d=\"M{x1:.1} {y1:.1}C{x1:.1} {middle:.1} {x2:.1} {middle:.1} {x2:.1} {y2:.1}\" fill=\"none\" stroke=\"#8a94a6\"/>"
            );
        }
    }
    for (at, [name, what]) in labels.iter().enumerate() {
        let ((x, y), wide) = (places[at], widths[at]);
        let _ = writeln!(
            text,
            "<g><title>{}</title><rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{HEIGHT}\" rx=\"4\" fill=\"{}\" stroke=\"#44506a\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#556\">{}</text></g>",
            escaped(&format!("{name} {what} {}", program.nodes[at].source)),
            x - wide / 2.0,
            fill(program, at),
            y + 14.0,
            escaped(name),
            y + 27.0,
            escaped(what),
        );
    }
    text.push_str("</svg>\n");
    Some(text)
}

fn label(node: &crate::program::Node) -> [String; 2] {
    [node.name.chars().take(28).collect(), node.words()]
}

fn width(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER + 12.0
}

fn fill(program: &Program, at: usize) -> &'static str {
    match program.nodes[at].op {
        Op::Input(_) => "#dbeafe",
        _ if program.outputs.contains(&at) => "#dcfce7",
        Op::Constant(_) | Op::Iota(_) => "#f1f5f9",
        _ => "#ffffff",
    }
}

/// Operations by their distance from the inputs; constants stand right above the first who reads them.
fn rows(program: &Program) -> Vec<Vec<usize>> {
    let count = program.nodes.len();
    let mut level = vec![0_usize; count];
    for (at, node) in program.nodes.iter().enumerate() {
        level[at] = node.of.iter().map(|from| level[*from] + 1).max().unwrap_or(0);
    }
    let mut first = vec![usize::MAX; count];
    for (at, node) in program.nodes.iter().enumerate() {
        node.of.iter().for_each(|from| first[*from] = first[*from].min(level[at]));
    }
    for (at, node) in program.nodes.iter().enumerate() {
        if node.of.is_empty() && !matches!(node.op, Op::Input(_)) && first[at] != usize::MAX {
            level[at] = first[at].saturating_sub(1);
        }
    }
    let mut rows = vec![Vec::new(); level.iter().max().map_or(1, |most| most + 1)];
    level.iter().enumerate().for_each(|(at, row)| rows[*row].push(at));
    rows
}

/// The rows, each in the order of the mean places of its neighbors.
fn ordered(program: &Program, mut rows: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut readers = vec![Vec::new(); program.nodes.len()];
    for (at, node) in program.nodes.iter().enumerate() {
        node.of.iter().for_each(|from| readers[*from].push(at));
    }
    let mut place = vec![0.0_f64; program.nodes.len()];
    let number = |row: &[usize], place: &mut [f64]| {
        let middle = row.len() as f64 / 2.0;
        row.iter().enumerate().for_each(|(number, at)| place[*at] = number as f64 - middle);
    };
    rows.iter().for_each(|row| number(row, &mut place));
    for sweep in 0..SWEEPS {
        let is_down = sweep % 2 == 0;
        let order: Vec<usize> = if is_down { (0..rows.len()).collect() } else { (0..rows.len()).rev().collect() };
        for at in order {
            let mean = |node: &usize| {
                let near = if is_down { &program.nodes[*node].of } else { &readers[*node] };
                let sum: f64 = near.iter().map(|other| place[*other]).sum();
                if near.is_empty() { place[*node] } else { sum / near.len() as f64 }
            };
            let mut keyed: Vec<(f64, usize)> = rows[at].iter().map(|node| (mean(node), *node)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            rows[at] = keyed.into_iter().map(|(_, node)| node).collect();
            number(&rows[at], &mut place);
        }
    }
    rows
}

/// Where each operation stands, by the middle of its upper edge, and how large the picture is.
fn placed(rows: &[Vec<usize>], widths: &[f64]) -> (Vec<(f64, f64)>, (f64, f64)) {
    let wide = |row: &Vec<usize>| row.iter().map(|at| widths[*at] + BETWEEN).sum::<f64>() - BETWEEN;
    let whole = rows.iter().map(wide).fold(0.0, f64::max);
    let mut places = vec![(0.0, 0.0); widths.len()];
    for (number, row) in rows.iter().enumerate() {
        let mut x = MARGIN + (whole - wide(row)) / 2.0;
        for at in row {
            places[*at] = (x + widths[*at] / 2.0, MARGIN + number as f64 * (HEIGHT + BETWEEN_ROWS));
            x += widths[*at] + BETWEEN;
        }
    }
    let high = rows.len() as f64 * (HEIGHT + BETWEEN_ROWS) - BETWEEN_ROWS;
    (places, (whole + 2.0 * MARGIN, high + 2.0 * MARGIN))
}

/// Text inside an element.
fn escaped(text: &str) -> String {
    let text: String = text.chars().filter(|letter| !letter.is_control()).collect();
    text.trim().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
