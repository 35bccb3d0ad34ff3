//! The command `ridgeline-fleet`: queries of `ridgeline-query` on several machines, by Ballista.
//!
//! A scheduler divides a query into stages and tasks, and executors run them. Tables are sent by name: each executor reads the
//! files itself, so a dataset is in a bucket or a directory that all of them see, and captures are in such a directory.
//! Ballista knows no passwords and no encryption: whoever reaches a port can read what the executors can read.

mod plans;
mod tables;
mod told;

use crate::arguments::Arguments;
use crate::dataset::Answered;
use crate::failure::Failure;
use crate::stores::Stores;
use crate::{engine, execute};
use ballista::prelude::{SessionConfigExt as _, SessionContextExt as _};
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::BallistaError;
use ballista_core::utils::default_session_builder;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use clap::{Args, Parser, Subcommand, ValueHint};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};
use log::LevelFilter;
use plans::PlanCodec;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tables::Codec;

/// Query many captures on several machines
///
/// One scheduler, one executor on each machine, and any number of queries. Datasets are in a bucket, or in a directory that all
/// machines see under the same path; captures are in such a directory. There are no passwords and there is no encryption: keep
/// the ports in a trusted network.
#[derive(Debug, Parser)]
#[command(name = "ridgeline-fleet", version, after_long_help = EXAMPLES, max_term_width = 100)]
struct FleetArguments {
    #[command(subcommand)]
    role: Role,

    /// Print what scheduler and executors do, to standard error; without it, warnings only
    #[arg(long, short, global = true)]
    verbose: bool,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline-fleet scheduler --listen 10.0.0.1:50050
  ridgeline-fleet executor --scheduler 10.0.0.1:50050 --listen 10.0.0.2:50051
  ridgeline-fleet query --scheduler 10.0.0.1:50050 s3://traces/fleet 'select host, count(*) from event group by host'
  ridgeline-fleet query --scheduler 10.0.0.1:50050 /shared/node*/run 'select host, count(*) from event group by host'";

#[derive(Debug, Subcommand)]
enum Role {
    /// Divide queries among executors
    Scheduler(SchedulerArguments),
    /// Run tasks of queries
    Executor(ExecutorArguments),
    /// Run a query on the executors; the options are those of `ridgeline query`
    Query(Box<QueryArguments>),
}

#[derive(Debug, Args)]
struct SchedulerArguments {
    /// Address that executors and queries reach
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50050")]
    listen: SocketAddr,

    /// After how many seconds of silence an executor counts as lost, and its tasks run elsewhere
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(2..))]
    patience: u64,
}

#[derive(Debug, Args)]
struct ExecutorArguments {
    /// The scheduler
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50050")]
    scheduler: SocketAddr,

    /// Address that the other executors and queries reach; the next port is used too
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50051")]
    listen: SocketAddr,

    /// Tasks at a time [default: as many as there are processors]
    #[arg(long, value_name = "N")]
    tasks: Option<usize>,

    /// Directory for results that other tasks read [default: a temporary one]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    work: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct QueryArguments {
    /// The scheduler
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50050")]
    scheduler: SocketAddr,

    /// Parts that joined or grouped rows are divided into between stages
    #[arg(long, value_name = "N", default_value_t = 16)]
    partitions: usize,

    #[command(flatten)]
    query: Arguments,
}

/// Runs `ridgeline-fleet`.
pub fn main() -> ExitCode {
    let arguments = FleetArguments::parse_from(std::env::args_os().map(crate::arguments::told_from_options));
    // A query has its own words for what failed.
    let least = if matches!(arguments.role, Role::Query(_)) { LevelFilter::Off } else { LevelFilter::Warn };
    told::tell(arguments.verbose, least);
    match arguments.role {
        Role::Query(asked) => {
            let (scheduler, partitions) = (asked.scheduler, asked.partitions.max(1));
            let mut query = asked.query;
            query.answered = Answered::ByExecutors;
            execute(query, move |local| on_executors(local, scheduler, partitions))
        }
        Role::Scheduler(asked) => served(schedule(asked)),
        Role::Executor(asked) => served(run_tasks(asked)),
    }
}

/// Runs a server until it ends.
fn served(work: impl Future<Output = Result<(), BallistaError>>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let ended = runtime.map_err(BallistaError::from).and_then(|runtime| runtime.block_on(work));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => crate::report(&Failure::new(error.to_string())),
    }
}

/// A context whose queries run on the executors, where `local` only plans.
async fn on_executors(
    local: SessionContext,
    scheduler: SocketAddr,
    partitions: usize,
) -> Result<SessionContext, Failure> {
    let config = configured(engine::config(partitions));
    let state = SessionStateBuilder::new_from_existing(local.state()).with_config(config).build();
    let remote = SessionContext::remote_with_state(&format!("df://{scheduler}"), state).await;
    remote.map_err(|error| Failure::of_query(&error))
}

/// A configuration in which tables are sent as [`Codec`] does, and scans as [`PlanCodec`] does.
fn configured(config: SessionConfig) -> SessionConfig {
    let config = config.upgrade_for_ballista().with_ballista_logical_extension_codec(Arc::new(Codec::default()));
    config.with_ballista_physical_extension_codec(Arc::new(PlanCodec::default()))
}

/// An environment with access to buckets.
fn environment() -> datafusion::common::Result<Arc<RuntimeEnv>> {
    let stores = Arc::new(Stores::default());
    RuntimeEnvBuilder::new().with_object_store_registry(stores).with_object_list_cache_limit(engine::LISTED).build_arc()
}

async fn schedule(asked: SchedulerArguments) -> Result<(), BallistaError> {
    let config = SchedulerConfig {
        bind_host: asked.listen.ip().to_string(),
        external_host: asked.listen.ip().to_string(),
        bind_port: asked.listen.port(),
        // Executors ask for work, so nothing has to reach them but those that read their results.
        scheduling_policy: TaskSchedulingPolicy::PullStaged,
        executor_timeout_seconds: asked.patience,
        expire_dead_executor_interval_seconds: (asked.patience / 3).max(1),
        no_executors_grace_period_seconds: asked.patience * 4,
        override_config_producer: Some(Arc::new(|| configured(engine::config(1)))),
        override_session_builder: Some(Arc::new(|config| {
            let state = default_session_builder(config)?;
            Ok(SessionStateBuilder::new_from_existing(state).with_runtime_env(environment()?).build())
        })),
        override_logical_codec: Some(Arc::new(Codec::default())),
        override_physical_codec: Some(Arc::new(PlanCodec::default())),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await?;
    start_server(cluster, asked.listen, Arc::new(config)).await
}

async fn run_tasks(asked: ExecutorArguments) -> Result<(), BallistaError> {
    let usual = ExecutorProcessConfig::default();
    let host = asked.listen.ip().to_string();
    let config = ExecutorProcessConfig {
        bind_host: host.clone(),
        external_host: Some(host),
        port: asked.listen.port(),
        grpc_port: asked.listen.port().saturating_add(1),
        scheduler_host: asked.scheduler.ip().to_string(),
        scheduler_port: asked.scheduler.port(),
        scheduler_connect_timeout_seconds: 30,
        vcores: asked.tasks.unwrap_or(usual.vcores).max(1),
        task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
        work_dir: asked.work.map(|path| path.to_string_lossy().into_owned()),
        override_config_producer: Some(Arc::new(|| configured(engine::config(1)))),
        override_runtime_producer: Some(Arc::new(|_| environment())),
        override_logical_codec: Some(Arc::new(Codec::default())),
        override_physical_codec: Some(Arc::new(PlanCodec::default())),
        ..usual
    };
    start_executor_process(Arc::new(config)).await
}
