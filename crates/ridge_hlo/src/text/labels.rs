//! `dim_labels=b01f_01io->b01f`: a convolution's dimension numbers, one letter or digit per dimension.
//!
//! Letters are `b` batch, `f` feature, `i` input feature, `o` output feature; digits number spatial dimensions.

use crate::ConvolutionDimensions;

/// The labels of these dimension numbers; places no number leads to are `?`.
pub(crate) fn render(dimensions: &ConvolutionDimensions) -> String {
    let input =
        render_one(&[(dimensions.input_batch, 'b'), (dimensions.input_feature, 'f')], &dimensions.input_spatial);
    let kernel = render_one(
        &[(dimensions.kernel_input_feature, 'i'), (dimensions.kernel_output_feature, 'o')],
        &dimensions.kernel_spatial,
    );
    let output =
        render_one(&[(dimensions.output_batch, 'b'), (dimensions.output_feature, 'f')], &dimensions.output_spatial);
    format!("{input}_{kernel}->{output}")
}

fn render_one(letters: &[(i64, char)], spatial: &[i64]) -> String {
    let mut labels = vec!["?".to_owned(); letters.len() + spatial.len()];
    let digits = spatial.iter().zip(0..).map(|(&place, number): (_, i32)| (place, number.to_string()));
    for (place, label) in letters.iter().map(|(place, letter)| (*place, letter.to_string())).chain(digits) {
        if let Some(slot) = usize::try_from(place).ok().and_then(|place| labels.get_mut(place)) {
            *slot = label;
        }
    }
    labels.concat()
}

/// The dimension numbers of these labels; `None` if they are none.
pub(crate) fn parse(text: &str) -> Option<ConvolutionDimensions> {
    let (inputs, output) = text.trim().split_once("->")?;
    let (input, kernel) = inputs.split_once('_')?;
    let (input_batch, input_feature, input_spatial) = parse_one(input, 'b', 'f')?;
    let (kernel_input_feature, kernel_output_feature, kernel_spatial) = parse_one(kernel, 'i', 'o')?;
    let (output_batch, output_feature, output_spatial) = parse_one(output, 'b', 'f')?;
    Some(ConvolutionDimensions {
        input_batch,
        input_feature,
        input_spatial,
        kernel_input_feature,
        kernel_output_feature,
        kernel_spatial,
        output_batch,
        output_feature,
        output_spatial,
    })
}

fn parse_one(labels: &str, first: char, second: char) -> Option<(i64, i64, Vec<i64>)> {
    let (mut first_at, mut second_at) = (None, None);
    let mut spatial = Vec::new();
    for (label, place) in labels.chars().zip(0i64..) {
        match label {
            label if label == first => first_at = Some(place),
            label if label == second => second_at = Some(place),
            '?' => {}
            label => spatial.push((label.to_digit(10)?, place)),
        }
    }
    spatial.sort_unstable();
    Some((first_at?, second_at?, spatial.into_iter().map(|(_, place)| place).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_and_written() {
        for labels in ["b01f_01io->b01f", "bf01_oi01->bf01", "f0b_i0o->0bf", "b012f_012io->b012f"] {
            assert_eq!(render(&parse(labels).expect("labels")), labels);
        }
        assert_eq!(parse("b01f_01io"), None);
    }
}
