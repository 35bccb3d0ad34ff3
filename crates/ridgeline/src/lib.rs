//! The façade: open a capture, ask for its answers.
//!
//! A [`Session`] is the only way the faces (terminal, pages, notebooks) reach captures and analyses.
//! It opens files, maps them, reads them into one trace and hands out tables ([`Table`]) and facts ([`Section`]).
//! It formats nothing: what a number means travels with it.
//!
//! ```no_run
//! use ridgeline::{OpenOptions, Session, Topic};
//! let session = Session::open(&["run/".into()], &OpenOptions::default())?;
//! let operations = session.table(Topic::Time, "op")?;
//! println!("{} operations", operations.batch.num_rows());
//! # Ok::<(), ridgeline::OpenError>(())
//! ```

mod annotate;
mod answer;
mod ceilings;
mod check;
mod compilations;
mod critical_path;
mod device_choice;
mod diff;
mod document;
mod error;
pub mod escape;
mod event;
mod event_columns;
mod experiment;
mod file_map;
mod find;
mod fused;
mod guide;
mod handoff;
mod hlo;
mod hlo_graph;
mod idle;
mod info;
mod kernels;
mod latencies;
mod manifest;
mod memory_schedule;
mod memory_series;
mod mixture;
mod near;
mod note;
mod offload;
mod opcodes;
mod over_time;
mod part;
mod parts;
mod predicted;
mod redact;
mod replayed;
mod samples;
mod savings;
mod scaling;
mod session;
mod source_text;
mod subject;
mod tested;
mod threads;
mod trial;
mod what_if;

pub use annotate::{AnnotateOptions, AnnotatedFile, AnnotatedLine, Annotation, LineWork};
pub use answer::{Answer, Question};
pub use ceilings::{CeilingsChoice, MeasuredDevice, ceilings_folder, data_sheet, read_ceilings};
pub use check::{Check, Shown as ShownFinding, explanation};
pub use diff::{CausesAsked, Diff, DiffOptions, diff, summaries_of, summary_text};
pub use error::{Details, OpenError};
pub use event::{EventDetails, EventWork};
pub use event_columns::EventColumns;
pub use experiment::{
    CHANGES, ChangeKind, Experiment, ExperimentChange, ExperimentEffect, ExperimentResults, ExperimentSample,
    MeasuredError, Planned, TimedLoop, Tried, change_named, chosen, is_known, plan, plan_of, tested_by,
    worth_measuring,
};
pub use file_map::explain_lost_files;
pub use find::sessions_below;
pub use guide::{Checklist, ChecklistItem, ChecklistVerdict, FollowUp, Guide, GuideOptions, Stage, StageState};
pub use handoff::{Handoff, HandoffOptions};
pub use hlo::HloStage;
pub use hlo_graph::{GraphAsked, GraphNode, HloGraph};
pub use idle::{ByCause, GapsOfLength, IdleCauses, IdleOverTime};
pub use memory_schedule::{MemorySchedule, ScheduledValue};
pub use memory_series::{Alive, Held, MemorySeries};
pub use near::did_you_mean;
pub use note::{Note, Severity};
pub use offload::{OffloadAnswer, OffloadOptions};
pub use over_time::{OverTime, OverTimeLine};
pub use part::PartNames;
pub use parts::{CapturePart, capture_parts, name_in_dataset};
pub use predicted::{
    LoopTrips, ModuleRuns, ModuleTrips, PredictedKernel, PredictedModule, Prediction, Recorded, Roofs, Trips, predict,
    predict_recorded,
};
pub use redact::{Redacted, host_name, private_words, redact};
pub use ridge_analysis::StepRow;
pub use ridge_analysis::models::idle::IdlePart;
pub use ridge_analysis::scaling::{Between, GrowthChart, GrowthFit, GrowthLine};
pub use ridge_analysis::{
    Activity, AnalyzedTime, Cause, DeviceTime, EventCategories, EventLines, LineSums, LinesKnown, Owners, Per,
    ScopeRow, Scopes, Spans, TimeOf,
};
pub use ridge_analysis::{
    Bound, Ceiling, Ceilings, Chart, ChartPoint, ChartRoof, ChartSlope, Compilation, ComputeUnit, Limit, NumberType,
    OtherIntensity, Shown, Topic, VIEWS, View, view, views_of,
};
pub use ridge_compile as compiling;
pub use ridge_diagnose::{
    BlindRecord, CannotTell, Diagnosis, Doubt, Evidence, Find, Finding, Group, Level, MonitorLog, Outcome, Place,
    Question as Asked, RULES, Record, Rule, Saving, SavingBasis, Selection, Standing, State, blind_record_of,
    record_of, rule, standing,
};
pub use ridge_diff as comparison;
pub use ridge_handoff as handing_over;
pub use ridge_offload as offloading;
pub use ridge_redact::What;
pub use ridge_replay::{Moved, OnPath, PathPart, Retimed};
pub use ridge_table::{
    Basis, Column, Columns, Fact, FactValue, Meaning, Quantity, Rank, Section, Subject, Table, Unit,
};
pub use ridge_trace as trace;
pub use ridge_trace::Trace;
pub use ridge_trace::{event_batch, track_batch};
pub use ridge_units as units;
pub use savings::{LocalRecord, LocalSaving, local_record, saving_line, savings_file, savings_in, savings_of};
pub use scaling::{Scaling, ScalingOptions, WorkFrom, is_benchmark, scaling};
pub use session::{OpenOptions, Session};
pub use source_text::TextOrigin;
pub use subject::SubjectText;
pub use tested::{TestedPredictions, tested};
pub use threads::start_threads;
pub use trial::{Ending, Judged, Tested, Trial, TrialMeasure, TrialOutput, TrialRun, judge};
pub use what_if::{Change, Changed, Effect, OtherDevice, WhatIf};
