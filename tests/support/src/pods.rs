//! Annotations that tell the simulated kubelet what a pod should do.
//!
//! They go on the pod, so on the pod template of a workload. Without them a pod that is to be
//! restarted (`restartPolicy: Always`) becomes ready at once, and any other one succeeds. A changed
//! annotation on a running pod takes effect at once, so a test can break a pod and heal it.
//!
//! Claims for volumes are bound and Services of type `LoadBalancer` get an address, unless they
//! carry [`OUTCOME`] with [`NEVER_READY`].

/// What becomes of the pod: [`READY`], [`NEVER_READY`], [`CRASH`], [`FAIL`] or [`FINISH`]. A pod with
/// any other value stays pending.
pub const OUTCOME: &str = "kwok.whipstaff.dev/outcome";
/// How long the pod stays pending before it runs, as a Go duration: `3s`, `250ms`.
pub const READY_DELAY: &str = "kwok.whipstaff.dev/ready-delay";
/// How long a pod that ends runs before it does, as a Go duration.
pub const RUN_TIME: &str = "kwok.whipstaff.dev/run-time";
/// How long a deleted pod takes to go away, as a Go duration.
pub const DELETE_DELAY: &str = "kwok.whipstaff.dev/delete-delay";

/// The pod runs, and all its containers are ready.
pub const READY: &str = "ready";
/// The pod runs, and none of its containers gets ready.
pub const NEVER_READY: &str = "never-ready";
/// The containers wait in `CrashLoopBackOff`.
pub const CRASH: &str = "crash";
/// The phase is `Failed`; a pod with `restartPolicy: Always` crashes instead, as a real one does.
pub const FAIL: &str = "fail";
/// The pod runs and then its phase is `Succeeded`.
pub const FINISH: &str = "finish";
