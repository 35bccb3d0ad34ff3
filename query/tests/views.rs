//! Every view is a table under its own name, with the numbers that it has elsewhere.

mod support;

use ridge_report::json;
use ridgeline::{OpenOptions, Session, Topic};
use support::{fixture, is_same, rows};

#[test]
fn views_are_tables_with_the_numbers_of_other_commands() {
    let mut count = 0;
    for path in ["real/nsys/h100_2gpu.sqlite", "real/xplane/nvidia_like.xplane.pb"] {
        let path = fixture(path);
        let session = Session::open(std::slice::from_ref(&path), &OpenOptions::default()).expect("a capture");
        for topic in Topic::ALL {
            for view in session.answerable(topic) {
                let table = session.table(topic, view.id).expect("a view");
                let found = rows(&path, &format!("select * from {}.{}", topic.command(), view.id.replace('-', "_")));
                assert_eq!(found.len(), table.batch.num_rows(), "{} {}", topic.command(), view.id);
                for (row, values) in found.iter().enumerate() {
                    for (column, value) in values.iter().enumerate() {
                        let expected = json::value(table.batch.column(column).as_ref(), row);
                        assert!(is_same(value, &expected), "{} row {row}: {value} {expected}", view.id);
                    }
                }
                count += 1;
            }
        }
    }
    assert!(count > 40, "{count}");
}

#[test]
fn raw_events_sum_to_what_views_show() {
    let path = fixture("real/xplane/mi300_conv_08.xplane.pb");
    let by_events =
        rows(&path, "select category, sum(self_ns) from event where kind_id between 16 and 24 group by 1 order by 1");
    assert_eq!(by_events, rows(&path, "select category, sum(self_ns) from category group by 1 order by 1"));
    assert!(by_events.len() > 2);
    let operations = "select sum(self_ns), count(*) from event where kind_id between 16 and 24";
    assert_eq!(rows(&path, operations), rows(&path, "select sum(self_ns), sum(events) from op"));
}
