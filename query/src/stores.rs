//! Where datasets are: a folder, or a prefix in a bucket of S3.
//!
//! Keys, region and the address of the service are taken from the variables that AWS' own tools read (`AWS_ACCESS_KEY_ID`,
//! `AWS_REGION`, `AWS_ENDPOINT_URL`, …), or from the machine's role. Nothing is connected to before a dataset there is named.

use datafusion::common::{DataFusionError, Result};
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::{ClientConfigKey, ObjectStore, RetryConfig};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// How an address in a bucket begins.
const S3: &str = "s3";
/// How long a request is tried again when the service fails or is not reached.
const RETRY_FOR: Duration = Duration::from_secs(20);
const TRIES: usize = 5;

/// The stores that queries read: the files of this machine, and buckets, each connected to when it is first named.
#[derive(Debug, Default)]
pub(crate) struct Stores {
    opened: DefaultObjectStoreRegistry,
}

impl ObjectStoreRegistry for Stores {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.opened.register_store(url, store)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        match self.opened.get_store(url) {
            Err(_) if url.scheme() == S3 => {
                let store = bucket(url)?;
                self.opened.register_store(url, Arc::clone(&store));
                Ok(store)
            }
            known => known,
        }
    }
}

fn bucket(url: &Url) -> Result<Arc<dyn ObjectStore>> {
    let builder = AmazonS3Builder::from_env().with_url(url.as_str());
    let endpoint = [AmazonS3ConfigKey::Endpoint, AmazonS3ConfigKey::S3Endpoint];
    let is_plain =
        endpoint.iter().filter_map(|key| builder.get_config_value(key)).any(|url| url.starts_with("http://"));
    // Who names an address without TLS means it.
    let builder = match is_plain {
        true => builder.with_config(AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp), "true"),
        false => builder,
    };
    let retry = RetryConfig { max_retries: TRIES, retry_timeout: RETRY_FOR, ..RetryConfig::default() };
    let store = builder.with_retry(retry).build().map_err(|error| DataFusionError::ObjectStore(Box::new(error)))?;
    Ok(Arc::new(store))
}

/// Whether `word` is an address in a bucket.
pub(crate) fn is_in_bucket(word: &Path) -> bool {
    word.to_str().is_some_and(|word| word.split_once("://").is_some_and(|(scheme, _)| scheme == S3))
}

/// The address of everything below `word`: a folder that is there, or `s3://BUCKET/PREFIX`.
pub(crate) fn address(word: &Path) -> Result<ListingTableUrl> {
    let told = |reason: String| DataFusionError::Execution(format!("cannot read {}: {reason}", word.display()));
    let url = match word.to_str().filter(|_| is_in_bucket(word)) {
        Some(text) => {
            let url =
                Url::parse(&format!("{}/", text.trim_end_matches('/'))).map_err(|error| told(error.to_string()))?;
            url.has_host().then_some(url).ok_or_else(|| told("it names no bucket".to_owned()))?
        }
        None => {
            let whole = word.canonicalize().map_err(|error| told(error.to_string()))?;
            Url::from_directory_path(whole).map_err(|()| told("not a path".to_owned()))?
        }
    };
    ListingTableUrl::try_new(url, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_in_buckets_are_told_from_paths() {
        let is = |word: &str| is_in_bucket(Path::new(word));
        assert_eq!(
            ["s3://b/a", "s3://b", "s3", "s3:/b", "b/s3://c", "gs://b"].map(is),
            [true, true, false, false, false, false]
        );
        let address = |word: &str| address(Path::new(word)).map(|url| url.as_str().to_owned());
        assert_eq!(address("s3://b/fleet").expect("an address"), "s3://b/fleet/");
        assert_eq!(address("s3://b//").expect("an address"), "s3://b/");
        assert!(address("s3://").is_err() && address("/nowhere/at/all").is_err());
    }
}
