//! Stores of clouds, in builds that have them. Credentials, regions and endpoints come from the environment and the machine's
//! own identity, as each cloud's tools read them.

#[cfg(any(feature = "s3", feature = "gcs", feature = "azure"))]
mod built;

use super::location::{Cloud, Opened};

/// Opens a bucket; says why not where that is impossible.
pub(super) fn open(cloud: Cloud, bucket: &str, prefix: &str) -> Result<Opened, String> {
    match cloud {
        #[cfg(feature = "s3")]
        Cloud::S3 => built::s3(bucket, prefix),
        #[cfg(feature = "gcs")]
        Cloud::Gcs => built::gcs(bucket, prefix),
        #[cfg(feature = "azure")]
        Cloud::Azure => built::azure(bucket, prefix),
        #[cfg(not(all(feature = "s3", feature = "gcs", feature = "azure")))]
        absent => {
            let _ = (bucket, prefix);
            let feature = absent.feature();
            Err(format!(
                "this program was built without it: build it with `--features {feature}`, or take a release, which has it"
            ))
        }
    }
}
