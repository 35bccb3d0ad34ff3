//! Nsight Compute: reports against the pages of the same launches, made-up ones and the corpus's real one, of which the tool itself
//! printed the pages.

use ridge_analysis::{Prepared, Topic};
use ridge_import::{Imported, Source, import};
use ridge_test::{corpus, render};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn open(test: &str, names: &[&str]) -> Option<Imported> {
    Some(open_in(&corpus(test, "ncu")?, names))
}

fn open_in(folder: &Path, names: &[&str]) -> Imported {
    let files: Vec<Vec<u8>> =
        names.iter().map(|name| std::fs::read(folder.join(name)).expect("a file of the corpus")).collect();
    let sources: Vec<Source<'_>> = files.iter().map(|bytes| Source { name: "capture", bytes }).collect();
    import(&sources, None).expect("intact captures")
}

/// Each report with a page of it: the fixture's, and the corpus's where it is at hand.
fn with_page(test: &str, page: &str) -> Vec<(Imported, Imported)> {
    let sets =
        [Some((ridge_test::fixtures("ncu"), "made_up")), corpus(test, "ncu").map(|folder| (folder, "manual_nvtx"))];
    let read = |(folder, name): (PathBuf, &str)| {
        (open_in(&folder, &[&format!("{name}.ncu-rep")]), open_in(&folder, &[&format!("{name}.{page}.csv")]))
    };
    sets.into_iter().flatten().map(read).collect()
}

/// Values by launch and metric.
type ByMetric<T> = BTreeMap<(u32, String), T>;

/// Numbers and texts.
fn metrics(imported: &Imported) -> (ByMetric<f64>, ByMetric<String>) {
    let (profiles, strings) = (&imported.trace.profiles, &imported.trace.strings);
    let (mut numbers, mut texts) = (BTreeMap::new(), BTreeMap::new());
    for row in 0..profiles.value.len() {
        let key = (profiles.profile[row], strings.get(profiles.metric[row]).to_owned());
        match strings.get(profiles.text[row]) {
            "" => drop(numbers.insert(key, profiles.value[row])),
            text => drop(texts.insert(key, text.to_owned())),
        }
    }
    (numbers, texts)
}

#[test]
fn the_direct_reader_gives_the_pages_values() {
    let launch = |imported: &Imported| {
        let strings = &imported.trace.strings;
        let one = |launch: &ridge_trace::KernelProfile| {
            (strings.get(launch.name).to_owned(), launch.grid, launch.block, launch.stream, launch.device)
        };
        imported.trace.profiles.launches.iter().map(one).collect::<Vec<_>>()
    };
    // Launches and numbers of each.
    let counts = [(2, 24), (3, 1005)];
    let sets = with_page("the_direct_reader_gives_the_pages_values", "raw");
    for ((report, page), expected) in sets.into_iter().zip(counts) {
        assert_eq!(launch(&report), launch(&page));
        let ((said, words), (shown, shown_words)) = (metrics(&report), metrics(&page));
        for (key, shown) in &shown {
            let Some(said) = said.get(key) else { panic!("{key:?} is on the page and not in the report") };
            // Pages round to six digits after the point of a scaled value, to two where there is no unit.
            let off = (said - shown).abs();
            assert!(off <= shown.abs() * 1e-6 + 0.005, "{key:?}: {said} in the report, {shown} on the page");
        }
        let missing: Vec<&(u32, String)> = said.keys().filter(|key| !shown.contains_key(*key)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert_eq!((report.trace.profiles.launches.len(), shown.len()), expected);
        assert_eq!(words, shown_words);
    }
}

#[test]
fn rules_are_those_of_the_details_page() {
    let rules = |imported: &Imported| {
        let strings = &imported.trace.strings;
        let mut rules: Vec<String> = (imported.trace.profiles.rules.iter())
            .map(|rule| {
                let (id, message) = (strings.get(rule.rule), strings.get(rule.message));
                format!("{} {id} {} {message}", rule.profile, rule.kind.name())
            })
            .collect();
        rules.sort();
        rules
    };
    // Links in the report's messages are markup that the page prints as text.
    let plain = |text: String| text.replace("@url:", "").split_whitespace().collect::<Vec<_>>().join(" ");
    let ids = |rules: Vec<String>| {
        rules.into_iter().map(|rule| plain(rule).chars().take(80).collect::<String>()).collect::<Vec<_>>()
    };
    let sets = with_page("rules_are_those_of_the_details_page", "details");
    for ((report, page), expected) in sets.into_iter().zip([2, 6]) {
        assert_eq!(ids(rules(&report)), ids(rules(&page)));
        assert_eq!(report.trace.profiles.rules.len(), expected);
    }
}

#[test]
fn what_bounds_real_kernels() {
    let Some(imported) = open("what_bounds_real_kernels", &["manual_nvtx.ncu-rep"]) else { return };
    let prepared = Prepared::default();
    let analysis = prepared.analysis(&imported.trace, &imported.hlo);
    let table = analysis.table(Topic::Time, "profile").expect("a view");
    let columns =
        ["kernel", "duration_ns", "bound", "compute_share", "memory_share", "occupancy", "dram_bytes", "waves"];
    expect_test::expect![[r#"
        kernel                                         duration_ns  bound   compute_share  memory_share  occupancy  dram_bytes  waves
        daxpy_kernel(int, double, double *, double *)  249216       memory  0.12           0.907         0.772      -           59.362
        check_results_kernel(int, double, double *)    88512        memory  0.373          0.947         0.856      -           59.362
        init_data_kernel(int, double *)                84480        memory  0.369          0.882         0.792      -           59.362
        * not collected: DRAM bytes, L2 bytes, L1 bytes, FP32 operations, tensor operations, sectors per request; `ncu --set full` collects more
    "#]].assert_eq(&render(&table, &columns));
}

#[test]
fn a_real_report_without_peaks_has_shares_alone() {
    let Some(imported) = open("a_real_report_without_peaks_has_shares_alone", &["manual_nvtx.ncu-rep"]) else { return };
    let prepared = Prepared::default();
    let analysis = prepared.analysis(&imported.trace, &imported.hlo);
    let table = analysis.table(Topic::Roofline, "profile").expect("a view");
    // The tool's own page has 27.572516, 28.287733 and 28.106233 % of lts__t_sectors, which stands for L2.
    let columns =
        ["kernel", "duration_ns", "roof", "flops_per_sec", "dram_intensity", "l1_share", "l2_share", "dram_share"];
    expect_test::expect![[r#"
        kernel                                         duration_ns  roof  flops_per_sec  dram_intensity  l1_share  l2_share  dram_share
        daxpy_kernel(int, double, double *, double *)  249216       -     -              -               -         0.276     -
        check_results_kernel(int, double, double *)    88512        -     -              -               -         0.283     -
        init_data_kernel(int, double *)                84480        -     -              -               -         0.281     -
        * not collected: L1, L2 counts and roof, DRAM, fp16, fp32, fp64, tensor; `ncu --set roofline` collects more
    "#]]
    .assert_eq(&render(&table, &columns));
}
